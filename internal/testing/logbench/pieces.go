package logbench

import "github.com/seed-49bee653/samestep/checksum"

// pieces is a state of the battle, with memory for the results of parts of the engine.
type pieces struct {
	Loop
	bytes      []byte // canonical
	buf, plain []byte
	sum        checksum.Sum
	hash       uint64
}

func (p *pieces) copy() { copy(p.plain, p.bytes) }

// piecesPerPart is how often a side repeats its work in a part, because the clock is coarse.
const piecesPerPart = 8

// beside compares two operations on a state of the battle.
func beside(s *Subject, first, second func(*pieces)) (*sides, error) {
	b, err := newBattle(s, 1)
	if err != nil {
		return nil, err
	}
	p := &pieces{Loop: b.Loop()}
	if err := b.bare(p.Loop); err != nil {
		return nil, err
	}
	p.bytes = p.Append(nil)
	p.plain = make([]byte, len(p.bytes))
	repeat := piecesPerPart * max(1, 10_000/max(1, len(p.bytes)))
	often := func(f func(*pieces)) func(int) error {
		f(p) // allocates its memory
		return func(int) error {
			for range repeat {
				f(p)
			}
			return nil
		}
	}
	return &sides{measured: b.measured(), parts: 1, reset: func() error { return nil }, first: often(first), second: often(second)}, nil
}
