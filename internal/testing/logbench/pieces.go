package logbench

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/state"
)

// Pieces are a state of the battle and where parts of the engine put what they
// make of it.
type pieces struct {
	codec        *state.Codec[skirmish.World]
	world, other skirmish.World
	bytes        []byte // canonical
	buf, plain   []byte
	sum          checksum.Sum
	hash         uint64
}

func (p *pieces) copy() { copy(p.plain, p.bytes) }

// Each side does its work so often in a part that the clock can tell.
const piecesPerPart = 8

// beside has two ways to treat a state of 10,000 units.
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
		f(p) // makes its memory
		return func(int) error {
			for range piecesPerPart {
				f(p)
			}
			return nil
		}
	}
	return &sides{parts: 1, reset: func() error { return nil }, first: often(first), second: often(second)}, nil
}
