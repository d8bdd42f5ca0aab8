package faultinjection

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// flippable reports whether a field has a lowest bit.
func flippable(n state.Node) bool { return n.Kind().Integer() || n.Kind() == state.Bool }

func isBool(n state.Node) bool { return n.Kind() == state.Bool }

func isSlice(n state.Node) bool { return n.Kind() == state.Slice }

// draw draws a field of the state of a tick: first one of the schema and then, in a list,
// one of its elements. So a map of many cells does not hide the other fields. It returns
// "" if the state has no such field now.
func (m *match) draw(dice *rand.Rand, t lockstep.Tick, suits func(state.Node) bool) string {
	var nodes []string
	var paths [][]string // by node
	places := map[string]int{}
	for _, f := range list(m.game.StateSchema(), m.states[t]).order {
		if !suits(f.node) {
			continue
		}
		node := f.node.Path()
		i, ok := places[node]
		if !ok {
			i = len(nodes)
			places[node] = i
			nodes, paths = append(nodes, node), append(paths, nil)
		}
		paths[i] = append(paths[i], f.path)
	}
	if len(nodes) == 0 {
		return ""
	}
	of := paths[dice.IntN(len(nodes))]
	return of[dice.IntN(len(of))]
}

// flipped returns a planter that inverts the lowest bit of a field after a tick.
func flipped(suits func(state.Node) bool) planter {
	return func(m *match, dice *rand.Rand) (*variant, error) {
		if !has(m.game.StateSchema().Root(), suits) {
			return nil, fmt.Errorf("%w: the state has no such field", errNoPlace)
		}
		t := m.subject.anyTick(dice)
		path := m.draw(dice, t, suits)
		if path == "" {
			return nil, nil
		}
		return m.damaged(t, path, path, func(b []byte) []byte {
			if v, err := m.game.StateSchema().Lookup(b, path); err != nil || !v.Flip() {
				panic(fmt.Sprintf("faultinjection: %s cannot be flipped: %v", path, err)) // it is a leaf of this state
			}
			return b
		}), nil
	}
}

// damaged returns a variant with another state after a tick.
func (m *match) damaged(t lockstep.Tick, path, what string, change func([]byte) []byte) *variant {
	return &variant{tick: t, what: fmt.Sprintf("%s after tick %d", what, t), damage: true, path: path, game: m.subject.Faulty(&Change{
		tick: t, after: func(_ lockstep.Tick, _, b []byte) []byte { return change(b) },
	})}
}

// has reports whether a field below a node suits.
func has(n state.Node, suits func(state.Node) bool) bool {
	if suits(n) {
		return true
	}
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			if has(n.Field(i), suits) {
				return true
			}
		}
	case state.Array, state.Slice:
		return has(n.Elem(), suits)
	}
	return false
}

// lostElement removes the last element of a slice after a tick.
func lostElement(m *match, dice *rand.Rand) (*variant, error) {
	schema := m.game.StateSchema()
	if !has(schema.Root(), isSlice) {
		return nil, fmt.Errorf("%w: the state has no slice", errNoPlace)
	}
	t := m.subject.anyTick(dice)
	path := m.draw(dice, t, isSlice)
	if path == "" {
		return nil, nil
	}
	whole, err := schema.Lookup(m.states[t], path)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(whole.Bytes)
	if n == 0 {
		return nil, nil
	}
	element := fmt.Sprintf("%s[%d]", path, n-1)
	last, err := schema.Lookup(m.states[t], element)
	if err != nil {
		return nil, err
	}
	return m.damaged(t, element, element, func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b[whole.Offset:], n-1)
		return slices.Delete(b, last.Offset, last.Offset+len(last.Bytes))
	}), nil
}

// extraDraws draws more often from a generator in the state before a tick.
func extraDraws(n int) planter {
	return func(m *match, dice *rand.Rand) (*variant, error) {
		t := m.subject.anyTick(dice)
		path, err := m.generator(dice, t)
		if err != nil {
			return nil, err
		}
		return &variant{tick: t, path: path, kind: desync.OtherDraws, what: fmt.Sprintf("from %s before tick %d", path, t), game: m.subject.Faulty(&Change{
			tick: t, before: func(_ lockstep.Tick, b []byte) []byte { return m.drawn(b, path, n) },
		})}, nil
	}
}

// generator draws a fixed.Rand in the state.
func (m *match) generator(dice *rand.Rand, t lockstep.Tick) (path string, err error) {
	path = m.draw(dice, t, func(n state.Node) bool { return n.Name() == "Hi" && n.Kind() == state.Uint64 })
	path, ok := strings.CutSuffix(path, ".Hi")
	if !ok {
		return "", fmt.Errorf("%w: the state has no fixed.Rand", errNoPlace)
	}
	return path, nil
}

// drawn draws from a generator in a state.
func (m *match) drawn(b []byte, path string, n int) []byte {
	v, err := m.game.StateSchema().Lookup(b, path)
	if err != nil || len(v.Bytes) != 16 {
		return b // it is in a list that was longer a tick later
	}
	r := fixed.Rand{Hi: binary.LittleEndian.Uint64(v.Bytes), Lo: binary.LittleEndian.Uint64(v.Bytes[8:])}
	for range n {
		r.Uint64()
	}
	binary.LittleEndian.PutUint64(v.Bytes, r.Hi)
	binary.LittleEndian.PutUint64(v.Bytes[8:], r.Lo)
	return b
}
