package locksteptest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A generator makes random commands from the schemas of their payloads.
type generator struct {
	*choices
	kinds   []record.CommandDescription
	weights []int // by index of the kind
	total   int   // of the weights
	schemas []*state.Schema
}

// newGenerator returns a generator of the kinds of commands of a game. weights has the relative frequencies of some, by name.
func newGenerator(c *choices, kinds []record.CommandDescription, weights map[string]int) (*generator, error) {
	g := &generator{choices: c, kinds: kinds}
	for _, k := range kinds {
		s, err := state.ParseSchema(k.Schema)
		if err != nil {
			return nil, err
		}
		g.schemas = append(g.schemas, s)
		weight, ok := weights[k.Name]
		if !ok {
			weight = 1
		}
		g.weights, g.total = append(g.weights, weight), g.total+weight
	}
	return g, checkWeights(kinds, weights)
}

const maxWeight = 1 << 16

// checkWeights returns an error unless each weight has the name of a kind, and is in range.
func checkWeights(kinds []record.CommandDescription, weights map[string]int) error {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("locksteptest: options: got %q in Weights, want one of %q", name, names)
		}
		if w := weights[name]; w < 0 || w > maxWeight {
			return fmt.Errorf("locksteptest: options: got weight %d of %q, want 0 to %d", w, name, maxWeight)
		}
	}
	return nil
}

// command returns a random command. It is well-formed unless it is too large.
func (g *generator) command() (lockstep.Kind, []byte) {
	i, at := 0, g.below(g.total)
	for ; at >= g.weights[i]; i++ {
		at -= g.weights[i]
	}
	return g.kinds[i].Kind, g.value(nil, g.schemas[i].Root())
}

// value appends a random value of a node in canonical bytes.
func (g *generator) value(dst []byte, n state.Node) []byte {
	switch k := n.Kind(); {
	case k == state.Struct:
		for i := range n.NumFields() {
			dst = g.value(dst, n.Field(i))
		}
		return dst
	case k == state.Array:
		return g.elements(dst, n.Elem(), n.Len())
	case k == state.Slice:
		count := g.count()
		return g.elements(binary.LittleEndian.AppendUint32(dst, uint32(count)), n.Elem(), count)
	case k == state.Bool:
		return append(dst, byte(g.below(2)))
	case k == state.String:
		text := "samestep"[:g.below(9)]
		return append(binary.LittleEndian.AppendUint32(dst, uint32(len(text))), text...)
	}
	size, _ := n.Size()
	bits := 8 * size
	if n.Kind().Signed() {
		bits--
	}
	return appendUint(dst, g.number(n, bits)>>(64-8*size), size)
}

func (g *generator) elements(dst []byte, elem state.Node, n int) []byte {
	if k := elem.Kind(); k.Integer() && !k.Signed() && k != state.Uint8 && g.below(2) == 0 {
		return g.ascending(dst, elem, n)
	}
	for range n {
		dst = g.value(dst, elem)
	}
	return dst
}

// ascending appends n numbers in ascending order, which is what games expect of lists of ids.
func (g *generator) ascending(dst []byte, elem state.Node, n int) []byte {
	size, _ := elem.Size()
	list := make([]uint64, n)
	for i := range list {
		list[i] = g.number(elem, 8*size) >> (64 - 8*size)
	}
	slices.Sort(list)
	for _, v := range list {
		dst = appendUint(dst, v, size)
	}
	return dst
}

// appendUint appends the lowest bytes of a number, little-endian.
func appendUint(dst []byte, v uint64, size int) []byte {
	return append(dst, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
}

// count returns the length of a slice: usually a short one.
func (g *generator) count() int {
	switch g.below(8) {
	case 0:
		return g.below(64)
	case 1, 2, 3:
		return 0
	}
	return g.below(4)
}

// number returns a number in the highest bits of 64. It is usually small, in units of a fixed-point number, as indexes,
// amounts and positions are; sometimes at the ends of the range, or any.
func (g *generator) number(n state.Node, bits int) uint64 {
	size, _ := n.Size()
	up := 64 - 8*size
	below := 1 << 3
	switch g.below(8) {
	case 0:
		return g.bits()
	case 1:
		ends := [...]uint64{0, 1, math.MaxUint64, 1 << (bits - 1), 1<<(bits-1) - 1, 1 << (bits / 2)}
		return ends[g.below(len(ends))] << up
	case 2:
		below = 1 << 10
	case 3:
		below = 1 << 6
	}
	return uint64(g.below(below)) << n.FractionBits() << up
}

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

func (c *choices) bits() (v uint64) {
	for range 4 {
		v = v<<16 | uint64(c.below(1<<16))
	}
	return v
}

func (c *choices) order(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := c.below(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

// everyCall is the rate of a bot that gives a command in each call.
const everyCall = 16

// RandomBot returns a maker of bots that give random commands of every kind, drawn from the schemas of their payloads. rate
// is the mean number of commands in 16 calls; 16 or more is a command in each call. Equal seeds give equal commands. The
// bots of a game without commands give none. weights are Options.Weights, or nil.
func RandomBot(g *lockstep.Game, rate int, weights map[string]int) func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
	return func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
		return randomBot(g, weights, rand.New(rand.NewPCG(seed, uint64(p))), rate)
	}
}

func randomBot(g *lockstep.Game, weights map[string]int, r *rand.Rand, rate int) func(*lockstep.Simulation) []any {
	none := func(*lockstep.Simulation) []any { return nil }
	gen, err := newGenerator(&choices{rng: r}, g.Commands(), weights)
	if err != nil || gen.total == 0 {
		return none
	}
	payloads := g.NewPayloads()
	return func(*lockstep.Simulation) []any {
		if rate < everyCall && gen.below(everyCall) >= rate {
			return nil
		}
		var c lockstep.Command
		c.Kind, c.Payload = gen.command()
		payloads.Reset()
		if payloads.Decode(&c) != nil {
			return nil // too large
		}
		return []any{c.Value}
	}
}
