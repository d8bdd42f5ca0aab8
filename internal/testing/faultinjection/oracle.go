package faultinjection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// rerun simulates the match with another game from the state of tick from up to tick to.
// It returns the states by tick; those up to from are the match's.
func (m *match) rerun(g *lockstep.Game, from, to lockstep.Tick) ([][]byte, error) {
	sim, err := g.NewSimulation(m.header)
	if err != nil {
		return nil, err
	}
	if err := sim.Restore(from, m.states[from]); err != nil {
		return nil, err
	}
	states := slices.Clone(m.states[:from+1])
	for t := from + 1; t <= to; t++ {
		if err := sim.Step(&m.frames[t]); err != nil {
			return nil, err
		}
		if _, over := sim.Ended(); over {
			return nil, &endedError{t}
		}
		states = append(states, sim.AppendState(nil))
	}
	return states, nil
}

// noticeable reports whether a faulty game gives another state of tick t and of the next
// check. A game that ends the match with an error is no fault to plant.
func (m *match) noticeable(g *lockstep.Game, t lockstep.Tick) bool {
	check := nextCheck(t)
	states, err := m.rerun(g, t-1, check)
	if err != nil || bytes.Equal(states[t], m.states[t]) || bytes.Equal(states[check], m.states[check]) {
		return false
	}
	_, err = m.rerun(g, t-1, m.subject.ticks)
	return err == nil
}

// nextCheck returns the first checked tick that is not before t.
func nextCheck(t lockstep.Tick) lockstep.Tick { return (t + checkEvery - 1) / checkEvery * checkEvery }

// check returns the first check at which the copy differs from the referee.
func (m *match) check() (lockstep.Tick, error) { return firstDiffering(m.states, m.copied, checkEvery) }

// firstDiffering returns the first tick at which two lists of states differ, of every
// step-th tick.
func firstDiffering(a, b [][]byte, step lockstep.Tick) (lockstep.Tick, error) {
	for t := lockstep.Tick(0); int(t) < min(len(a), len(b)); t += step {
		if !bytes.Equal(a[t], b[t]) {
			return t, nil
		}
	}
	return 0, errors.New("faultinjection: the planted fault changes nothing")
}

// leaves returns the path of the first field that differs between two states, and how
// many differ. A slice of another length counts as one field, and so do the fields of the
// elements that both have.
func (m *match) leaves(a, b []byte) (first string, n int) {
	x, y := list(m.game.StateSchema(), a), list(m.game.StateSchema(), b)
	for _, f := range x.order {
		if text, ok := y.text[f.path]; !ok || text == x.text[f.path] {
			continue
		}
		if n++; n == 1 {
			first = f.path
		}
	}
	return first, n
}

// section returns the name of the first section that differs.
func (m *match) section(a, b []byte) (string, error) {
	schema := m.game.StateSchema()
	x, err := schema.Split(nil, a)
	if err != nil {
		return "", err
	}
	y, err := schema.Split(nil, b)
	if err != nil {
		return "", err
	}
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			return schema.SectionName(i), nil
		}
	}
	return "", nil
}

// A listing is the fields of a state: its leaves, and the lengths of its slices.
type listing struct {
	order []field
	text  map[string]string // bytes, by path; of a slice, those of its length
}

// A field is a leaf or a slice of a state.
type field struct {
	path string
	node state.Node
}

// list lists a valid state. It reads the bytes itself, because the tools use package state.
func list(s *state.Schema, b []byte) *listing {
	l := &listing{text: map[string]string{}}
	l.walk(s.Root(), "", b)
	return l
}

// walk lists a value at the start of b, and returns the bytes after it.
func (l *listing) walk(n state.Node, path string, b []byte) []byte {
	count := n.Len()
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			f := n.Field(i)
			b = l.walk(f, strings.TrimPrefix(path+"."+f.Name(), "."), b)
		}
	case state.Slice:
		count = int(binary.LittleEndian.Uint32(b))
		l.add(n, path, b[:4])
		b = b[4:]
		fallthrough
	case state.Array:
		for i := range count {
			b = l.walk(n.Elem(), fmt.Sprintf("%s[%d]", path, i), b)
		}
	default:
		size, _ := n.Size()
		if n.Kind() == state.String {
			size = 4 + int(binary.LittleEndian.Uint32(b))
		}
		l.add(n, path, b[:size])
		b = b[size:]
	}
	return b
}

func (l *listing) add(n state.Node, path string, b []byte) {
	l.order = append(l.order, field{path, n})
	l.text[path] = string(b)
}
