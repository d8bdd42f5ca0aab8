// Package prober makes commands that may find out what a view hides: their fields are those of commands of a match, small numbers, and
// numbers of the part in which two worlds differ.
//
//	p, err := prober.New(seed, game)
//	p.Add(player, kind, payload)        // commands of the match
//	p.Hint(schema, a, b, "Units[7]")    // worlds that look the same
//	if p.Command(&c, player, kind) { … } // ask about c in both
package prober

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Prober makes commands. It belongs to one goroutine.
type Prober struct {
	rng      *rand.Rand
	kinds    []record.CommandDescription
	schemas  []*state.Schema
	played   [][]sample // by index of the kind
	answered [][]sample // by index of the kind: one for each answer, apart from its numbers
	answers  map[answer]bool
	hints    []state.Value // leaves of the part in which the states differ
	payloads *record.Payloads
}

// A sample is a command of the match: its player and its canonical fields.
type sample struct {
	player lockstep.Player
	fields [][]byte
}

// An answer is a text of the rules without its digits.
type answer struct {
	kind int
	text string
}

const (
	maxKept    = 256 // samples of a kind
	maxAnswers = 16  // of a kind
)

// New returns a prober of the commands of a game.
func New(seed uint64, g *lockstep.Game) (*Prober, error) {
	p := &Prober{rng: rand.New(rand.NewPCG(seed, 0x0bac1e)), kinds: g.Commands(), payloads: g.NewPayloads(), answers: map[answer]bool{}}
	for _, k := range p.kinds {
		s, err := state.ParseSchema(k.Schema)
		if err != nil {
			return nil, err
		}
		p.schemas = append(p.schemas, s)
	}
	p.played, p.answered = make([][]sample, len(p.kinds)), make([][]sample, len(p.kinds))
	return p, nil
}

// Add adds a command of the match. It ignores malformed ones.
func (p *Prober) Add(player lockstep.Player, kind lockstep.Kind, payload []byte) {
	at := slices.IndexFunc(p.kinds, func(k record.CommandDescription) bool { return k.Kind == kind })
	if at >= 0 && len(p.played[at]) < maxKept {
		p.played[at] = p.keep(p.played[at], player, at, payload)
	}
}

// keep appends a command to samples of its kind.
func (p *Prober) keep(list []sample, player lockstep.Player, kind int, payload []byte) []sample {
	fields, err := p.schemas[kind].Split(nil, bytes.Clone(payload))
	if err != nil {
		return list
	}
	return append(list, sample{player, fields})
}

// IntN returns a random number from 0 to n-1.
func (p *Prober) IntN(n int) int { return p.rng.IntN(n) }

// Command sets c to a command of a player and a kind, by index. It reports false if there is none with the fields that it has chosen.
func (p *Prober) Command(c *lockstep.Command, player lockstep.Player, kind int) bool {
	root := p.schemas[kind].Root()
	var canonical []byte
	for i := range root.NumFields() {
		list := p.played[kind]
		if p.rng.IntN(2) == 0 {
			list = p.answered[kind]
		}
		if len(list) > 0 && p.rng.IntN(2) == 0 {
			s := list[p.rng.IntN(len(list))]
			for range 4 { // half of them are the player's own, as far as there are any
				if s.player == player || p.rng.IntN(2) == 0 {
					break
				}
				s = list[p.rng.IntN(len(list))]
			}
			canonical = append(canonical, s.fields[i]...)
			continue
		}
		canonical = p.value(canonical, root.Field(i))
	}
	c.Player, c.Kind, c.Payload = player, p.kinds[kind].Kind, canonical
	p.payloads.Reset()
	return len(c.Payload) <= lockstep.MaxPayload && p.payloads.Decode(c) == nil
}

// Note keeps a command if its answer is a new one.
func (p *Prober) Note(c *lockstep.Command, kind int, text string) {
	digits := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	a := answer{kind, strings.Map(digits, text)}
	if p.answers[a] || len(p.answered[kind]) == maxAnswers {
		return
	}
	p.answers[a] = true
	p.answered[kind] = p.keep(p.answered[kind], c.Player, kind, c.Payload)
}

// Words returns a command of a kind, by index, as JSON with the name of its kind.
func (p *Prober) Words(kind int, c *lockstep.Command) string {
	var text strings.Builder
	if err := p.schemas[kind].DumpJSON(&text, c.Payload); err != nil {
		return p.kinds[kind].Name
	}
	return p.kinds[kind].Name + " " + strings.TrimSpace(text.String())
}

// value appends a value of a node in canonical bytes. Slices are short, usually of one element.
func (p *Prober) value(dst []byte, n state.Node) []byte {
	switch k := n.Kind(); {
	case k == state.Struct:
		if place := p.place(n); place != nil {
			return append(dst, place...)
		}
		for i := range n.NumFields() {
			dst = p.value(dst, n.Field(i))
		}
		return dst
	case k == state.Array:
		for range n.Len() {
			dst = p.value(dst, n.Elem())
		}
		return dst
	case k == state.Slice:
		lengths := [...]uint32{0, 1, 1, 1, 1, 2, 2, 3}
		length := lengths[p.rng.IntN(len(lengths))]
		dst = binary.LittleEndian.AppendUint32(dst, length)
		if k := n.Elem().Kind(); k.Integer() && !k.Signed() {
			return p.ascending(dst, n.Elem(), int(length))
		}
		for range length {
			dst = p.value(dst, n.Elem())
		}
		return dst
	case k == state.Bool:
		return append(dst, byte(p.rng.IntN(2)))
	case k == state.String:
		return binary.LittleEndian.AppendUint32(dst, 0)
	case k.Integer():
		return appendNumber(dst, n, p.number(n))
	}
	size, _ := n.Size()
	return append(dst, make([]byte, size)...)
}

// ascending appends numbers in ascending order, which is what games expect of lists of ids.
func (p *Prober) ascending(dst []byte, n state.Node, length int) []byte {
	list := make([]uint64, length)
	for i := range list {
		list[i] = p.number(n)
	}
	slices.Sort(list)
	for _, v := range list {
		dst = appendNumber(dst, n, v)
	}
	return dst
}

func appendNumber(dst []byte, n state.Node, v uint64) []byte {
	size, _ := n.Size()
	return append(dst, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
}

// number returns 0, a small number in units of the node, or a hint. Numbers of a byte are mostly small, as kinds of things are.
func (p *Prober) number(n state.Node) uint64 {
	size, _ := n.Size()
	switch choice := p.rng.IntN(4); {
	case choice == 0:
		return 0
	case choice == 1 && size == 1:
		return uint64(p.rng.IntN(8))
	case choice == 1 || len(p.hints) == 0 || size == 1 && p.rng.IntN(2) == 0:
		return uint64(p.rng.IntN(8<<(3*p.rng.IntN(2)))) << n.FractionBits()
	}
	h := p.hints[p.rng.IntN(len(p.hints))]
	for range 6 { // usually a number of the same kind
		if h.Node.Kind() == n.Kind() && h.Node.FractionBits() == n.FractionBits() || p.rng.IntN(4) == 0 {
			break
		}
		h = p.hints[p.rng.IntN(len(p.hints))]
	}
	return scaled(h, n, p.rng.IntN(4))
}

// place returns a value of a struct of two numbers that is a place in one of the states, or nil.
func (p *Prober) place(n state.Node) (b []byte) {
	if n.NumFields() != 2 || !n.Field(0).Kind().Integer() || !n.Field(1).Kind().Integer() || len(p.hints) < 2 || p.rng.IntN(2) == 0 {
		return nil
	}
	at := p.rng.IntN(len(p.hints) - 1)
	for range 16 { // usually two fixed-point numbers of one struct, as places are
		one, two := p.hints[at], p.hints[at+1]
		if parent := one.Path[:strings.LastIndexByte(one.Path, '.')+1]; one.Node.FractionBits() > 0 && strings.HasPrefix(two.Path, parent) && strings.Count(two.Path, ".") == strings.Count(one.Path, ".") {
			break
		}
		at = p.rng.IntN(len(p.hints) - 1)
	}
	finer := p.rng.IntN(4)
	for i := range 2 {
		b = appendNumber(b, n.Field(i), scaled(p.hints[at+i], n.Field(i), finer))
	}
	return b
}

// scaled returns the number of a leaf in units of another node, divided by 2, 4 and so on: commands have places in eighths and the like.
func scaled(h state.Value, n state.Node, finer int) uint64 {
	var b [8]byte
	copy(b[:], h.Bytes)
	v := binary.LittleEndian.Uint64(b[:])
	if from, to := int(h.Node.FractionBits()), int(n.FractionBits()); from > to {
		return v >> max(from-to-finer, 0)
	} else {
		return v << (to - from)
	}
}

// Hint sets the hints to the numbers in the parts at some paths of two states.
func (p *Prober) Hint(schema *state.Schema, a, b []byte, paths ...string) {
	p.hints = p.hints[:0]
	for _, path := range paths {
		for _, world := range [][]byte{a, b} {
			leaves, err := schema.LeavesAt(world, path)
			if err != nil {
				continue // the other world has it
			}
			for leaf := range leaves {
				if leaf.Node.Kind().Integer() && len(p.hints) < maxHints {
					p.hints = append(p.hints, leaf)
				}
			}
		}
	}
}

const maxHints = 4096

// Element returns the path of the element that has a field, or the name of the section.
func Element(path string) string {
	if end := strings.LastIndexByte(path, ']'); end >= 0 {
		return path[:end+1]
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// Without returns a state without the first of the elements of slices that a path leads through, or nil if there is none.
func Without(schema *state.Schema, whole []byte, path string) []byte {
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return nil
	}
	list, err := schema.Lookup(whole, path[:strings.LastIndexByte(path[:end], '[')])
	if err != nil || list.Node.Kind() != state.Slice {
		return nil
	}
	one, err := schema.Lookup(whole, path[:end+1])
	if err != nil {
		return nil
	}
	b := slices.Delete(slices.Clone(whole), one.Offset, one.Offset+len(one.Bytes))
	binary.LittleEndian.PutUint32(b[list.Offset:], binary.LittleEndian.Uint32(list.Bytes)-1)
	return b
}
