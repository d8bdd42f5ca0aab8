package main

// A random is a sequence of numbers from a seed.
type random uint32

func newRandom(seed uint32, player int) *random {
	r := random(seed*2654435761 + uint32(player)*40503 + 1)
	return &r
}

func (r *random) next() uint32 {
	*r ^= *r << 13
	*r ^= *r >> 17
	*r ^= *r << 5
	return uint32(*r)
}

// upTo returns a number from 0 to n.
func (r *random) upTo(n uint32) uint32 { return (r.next() >> 8) % (n + 1) }

// Hands press buttons at random, each combination for a while.
type hands struct {
	random *random
	input  uint8
	ticks  uint32
}

// press returns the input of the next tick.
func (h *hands) press() uint8 {
	if h.ticks == 0 {
		h.ticks = 4 + h.random.upTo(16)
		h.input = uint8(h.random.upTo(15))
	}
	h.ticks--
	return h.input
}
