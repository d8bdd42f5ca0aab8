package faultinjection

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A written is a number that the rules have written: one field of the schema, in one element.
type written struct {
	old, now uint64 // before and after the tick
	tick     lockstep.Tick
	at, of   int    // which of the numbers it is, of how many
	before   uint64 // what the one before it was written to
	bits     int    // of its size
	fraction bool   // it is a fixed-point number
}

// changed reports whether the rules have changed it in this tick.
func (w *written) changed() bool { return w.old != w.now }

// A mistake is one that the rules of any game can have: it writes a number in another way, in every tick.
type mistake struct {
	name  string
	write func(w *written) uint64
}

// mistakes are those that people make. Each is planted in a field of the schema in which it has a consequence.
var mistakes = []mistake{
	{"rounded down", whenChanged(func(w *written) uint64 { return w.now &^ w.unit() })},
	{"rounded up", whenChanged(func(w *written) uint64 { return w.now | w.unit() })},
	{"one too many", whenChanged(func(w *written) uint64 { return w.now + 1 })},
	{"one too few", whenChanged(func(w *written) uint64 { return w.now - 1 })},
	{"a range that ends too soon", func(w *written) uint64 { return pick(w.at == w.of-1, w.old, w.now) }},
	{"a range that begins too late", func(w *written) uint64 { return pick(w.at == 0, w.old, w.now) }},
	{"a cache that is stale for a tick", func(w *written) uint64 { return pick(w.tick%8 == 0, w.old, w.now) }},
	{"a cache of every fourth element", func(w *written) uint64 { return pick(w.at%4 == 3 && w.tick%3 > 0, w.old, w.now) }},
	{"a value that is not reset", func(w *written) uint64 { return pick(w.now == 0, w.old, w.now) }},
	{"scratch memory that is not cleared", func(w *written) uint64 { return pick(w.now == 0 && w.tick%16 == 0, w.before, w.now) }},
	{"memory that two elements share", func(w *written) uint64 { return pick(w.changed() && w.at%5 == 4, w.before, w.now) }},
	{"a narrower number", func(w *written) uint64 { return w.now & (1<<(w.bits*3/4) - 1) }},
	{"a byte", func(w *written) uint64 { return pick(w.bits > 8 && !w.fraction, w.now&0xff, w.now) }},
	//samestep:allow float this is the mistake
	{"a float", func(w *written) uint64 { return uint64(int64(float32(int64(w.now)))) }},
	{"a change that counts twice", func(w *written) uint64 { return w.now + w.now - w.old }},
	{"a change that counts half", func(w *written) uint64 { return w.old + uint64(int64(w.now-w.old)/2) }},
	{"a limit of another version", func(w *written) uint64 {
		return pick(w.changed() && int64(w.now) > int64(w.old), w.old+(w.now-w.old)*3/4, w.now)
	}},
	{"a change that comes a tick too late", func(w *written) uint64 { return pick(w.tick%5 == 0, w.old, w.now) }},
	{"a wrong sign", whenChanged(func(w *written) uint64 { return pick(w.tick%7 == 0, w.old-(w.now-w.old), w.now) })},
	{"a special case", whenChanged(func(w *written) uint64 { return pick(w.now%16 == 0, w.now+w.unit()+1, w.now) })},
}

// unit returns a small part of a number, as a mask.
func (w *written) unit() uint64 {
	if w.fraction {
		return 1<<16 - 1
	}
	return 1
}

func whenChanged(f func(w *written) uint64) func(*written) uint64 {
	return func(w *written) uint64 {
		if w.changed() {
			return f(w)
		}
		return w.now
	}
}

func pick(yes bool, a, b uint64) uint64 {
	if yes {
		return a
	}
	return b
}

// plant returns the game with the mistake in a random field of the schema.
func (k mistake) plant(m *match, dice *rand.Rand) (*draft, error) {
	path := m.draw(dice, m.subject.anyTick(dice), func(n state.Node) bool { return n.Kind().Integer() })
	if path == "" {
		return nil, fmt.Errorf("%w: the state has no number", errNoPlace)
	}
	v, err := m.game.StateSchema().Lookup(m.states[len(m.states)-1], path)
	if err != nil {
		return nil, nil // it has gone since
	}
	f := newFinder(m.game.StateSchema(), v.Node)
	return &draft{fmt.Sprintf("%s in %s", k.name, v.Node.Path()), Change{after: func(t lockstep.Tick, before, b []byte) []byte {
		old, now := f.numbers(before), f.numbers(b)
		w := written{tick: t, of: len(now), bits: 8 * len(v.Bytes), fraction: v.Node.FractionBits() > 0}
		for i, n := range now {
			w.at, w.now, w.old = i, f.load(n), f.load(n)
			if len(old) == len(now) {
				w.old = f.load(old[i])
			}
			//samestep:allow unseen one of the mistakes above
			store(n, k.write(&w))
			w.before = f.load(n)
		}
		return b
	}}}, nil
}

// disorders are mistakes in the order or number of what the rules do.
var disorders = []struct {
	name  string
	plant func(m *match, dice *rand.Rand) (*draft, error)
}{
	{"an unstable sort", permuted(func(elements [][]byte) {
		for i := 0; i+1 < len(elements); i += 7 {
			elements[i], elements[i+1] = elements[i+1], elements[i]
		}
	})},
	{"the order of a map", permuted(func(elements [][]byte) { slices.Reverse(elements) })},
	{"commands in the order of a map", ofCommands(func(_ lockstep.Tick, c []lockstep.Command) []lockstep.Command { slices.Reverse(c); return c })},
	{"commands that are skipped after a break", ofCommands(func(_ lockstep.Tick, c []lockstep.Command) []lockstep.Command { return c[:min(len(c), 1)] })},
	{"a draw more in ticks with commands", drawnMore},
	{"another configuration", otherConfig},
}

// permuted lets the elements of a list stand in another order after a tick in which the list has changed.
func permuted(order func(elements [][]byte)) func(*match, *rand.Rand) (*draft, error) {
	return func(m *match, dice *rand.Rand) (*draft, error) {
		path := m.draw(dice, m.subject.anyTick(dice), isSlice)
		if path == "" || bytes.ContainsRune([]byte(path), '[') {
			return nil, nil
		}
		schema := m.game.StateSchema()
		from := m.subject.anyTick(dice)
		return &draft{fmt.Sprintf("%s: another order, from tick %d on", path, from), Change{after: func(t lockstep.Tick, before, b []byte) []byte {
			old, err := schema.Lookup(before, path)
			v, err2 := schema.Lookup(b, path)
			if t < from || err != nil || err2 != nil || bytes.Equal(old.Bytes, v.Bytes) {
				return b
			}
			var elements [][]byte
			for e := range v.Elements() {
				elements = append(elements, slices.Clone(e.Bytes))
			}
			order(elements)
			copy(b[v.Offset+4:], bytes.Join(elements, nil))
			return b
		}}}, nil
	}
}

// ofCommands changes the commands of every tick from one on.
func ofCommands(change func(lockstep.Tick, []lockstep.Command) []lockstep.Command) func(*match, *rand.Rand) (*draft, error) {
	return func(m *match, dice *rand.Rand) (*draft, error) {
		from := m.subject.anyTick(dice)
		return &draft{fmt.Sprintf("from tick %d on", from), Change{commands: func(t lockstep.Tick, c []lockstep.Command) []lockstep.Command {
			if t < from {
				return c
			}
			return change(t, c)
		}}}, nil
	}
}

// drawnMore draws once more from a generator in each tick with commands.
func drawnMore(m *match, dice *rand.Rand) (*draft, error) {
	from := m.subject.anyTick(dice)
	path, err := m.generator(dice, from)
	if err != nil {
		return nil, err
	}
	return &draft{fmt.Sprintf("%s, from tick %d on", path, from), Change{before: func(t lockstep.Tick, b []byte) []byte {
		if t < from || len(m.frames[t].Commands) == 0 {
			return b
		}
		return m.drawn(b, path, 1)
	}}}, nil
}

// otherConfig changes a number of the configuration.
func otherConfig(m *match, dice *rand.Rand) (*draft, error) {
	schema := m.game.ConfigSchema()
	var numbers []field
	for _, f := range list(schema, m.header.Config).order {
		if f.node.Kind().Integer() {
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%w: the configuration has no number", errNoPlace)
	}
	path := numbers[dice.IntN(len(numbers))].path
	return &draft{path + " of the configuration is one more", Change{config: func(b []byte) []byte {
		v, err := schema.Lookup(b, path)
		if err != nil {
			panic(err) // it is a field of this configuration
		}
		store(v.Bytes, load(v.Bytes)+1)
		return b
	}}}, nil
}

// A finder finds all values of one field of the schema.
type finder struct {
	schema *state.Schema
	target state.Node
	above  map[state.Node]bool // the nodes that contain it; only looked up
	all    [][]byte
}

func newFinder(s *state.Schema, target state.Node) *finder {
	f := &finder{schema: s, target: target, above: map[state.Node]bool{}}
	f.contains(s.Root())
	return f
}

// contains notes the nodes that contain the target.
func (f *finder) contains(n state.Node) (yes bool) {
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			yes = f.contains(n.Field(i)) || yes
		}
	case state.Array, state.Slice:
		yes = f.contains(n.Elem())
	}
	f.above[n] = yes
	return yes || n == f.target
}

// numbers returns the values in a state, as parts of it.
func (f *finder) numbers(b []byte) [][]byte {
	f.all = nil
	f.walk(f.schema.Root(), b)
	return f.all
}

// walk visits a value at the start of b, and returns the bytes after it.
func (f *finder) walk(n state.Node, b []byte) []byte {
	size, fixed := n.Size()
	if n == f.target {
		f.all = append(f.all, b[:size])
	}
	if fixed && !f.above[n] {
		return b[size:]
	}
	count := n.Len()
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			b = f.walk(n.Field(i), b)
		}
	case state.String:
		b = b[4+binary.LittleEndian.Uint32(b):]
	case state.Slice:
		count = int(binary.LittleEndian.Uint32(b))
		b = b[4:]
		fallthrough
	case state.Array:
		for range count {
			b = f.walk(n.Elem(), b)
		}
	}
	return b
}

// load reads a number, with its sign.
func (f *finder) load(b []byte) uint64 {
	n := load(b)
	if shift := 64 - 8*len(b); f.target.Kind().Signed() {
		n = uint64(int64(n<<shift) >> shift)
	}
	return n
}

func load(b []byte) uint64 {
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:])
}

func store(b []byte, n uint64) {
	var whole [8]byte
	binary.LittleEndian.PutUint64(whole[:], n)
	copy(b, whole[:])
}
