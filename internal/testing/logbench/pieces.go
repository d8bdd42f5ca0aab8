package logbench

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/state"
)

// pieces is a state of the battle, with memory for the results of parts of the engine.
type pieces struct {
	codec        *state.Codec[skirmish.World]
	world, other skirmish.World
	bytes        []byte // canonical
	buf, plain   []byte
	sum          checksum.Sum
	hash         uint64
}

func (p *pieces) copy() { copy(p.plain, p.bytes) }

// piecesPerPart is how often a side repeats its work in a part, because the clock is coarse.
const piecesPerPart = 8

// beside compares two operations on a state of 10,000 units.
func beside(first, second func(*pieces)) (*sides, error) {
	b, err := newBattle(10_000, 1)
	if err != nil {
		return nil, err
	}
	p := &pieces{codec: b.codec}
	if err := b.bare(&p.world); err != nil {
		return nil, err
	}
	p.bytes = b.codec.Append(nil, &p.world)
	p.plain = make([]byte, len(p.bytes))
	often := func(f func(*pieces)) func(int) error {
		f(p) // allocates its memory
		return func(int) error {
			for range piecesPerPart {
				f(p)
			}
			return nil
		}
	}
	return &sides{parts: 1, reset: func() error { return nil }, first: often(first), second: often(second)}, nil
}
