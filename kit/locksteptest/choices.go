package locksteptest

import "math/rand/v2"

// choices makes the random decisions of a match: from bytes while there are any, then from a seed.
type choices struct {
	bytes []byte
	rng   *rand.Rand
}

func newChoices(o *Options) *choices {
	return &choices{o.Choices, rand.New(rand.NewPCG(o.Seed, 0x5a3e57e9))}
}

// below returns a number from 0 to n-1.
func (c *choices) below(n int) int {
	if len(c.bytes) == 0 {
		return c.rng.IntN(n)
	}
	v := 0
	for m := n - 1; m > 0 && len(c.bytes) > 0; m >>= 8 { // no more bytes than it takes
		v, c.bytes = v<<8|int(c.bytes[0]), c.bytes[1:]
	}
	return v % n
}

// bits returns 64 random bits.
func (c *choices) bits() (v uint64) {
	for range 4 {
		v = v<<16 | uint64(c.below(1<<16))
	}
	return v
}

// order returns a random order of n things.
func (c *choices) order(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := c.below(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}
