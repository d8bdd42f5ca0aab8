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
	states, err := Rerun(g, m.header, from, m.states[from], m.frames[from+1:to+1])
	if ended := from + lockstep.Tick(len(states)); err == nil && ended < to {
		err = &endedError{ended}
	}
	return append(slices.Clone(m.states[:from+1]), states...), err
}

// noticeable reports whether a faulty game gives another state of tick t and of the next
// check. A game that ends the match with an error is no fault to plant.
func (m *match) noticeable(g *lockstep.Game, t lockstep.Tick) bool {
	check := m.subject.nextCheck(t)
	states, err := m.rerun(g, t-1, check)
	if err != nil || !Noticed(m.states[t:check+1], states[t:check+1]) {
		return false
	}
	_, err = m.rerun(g, t-1, m.subject.ticks)
	return err == nil
}

// nextCheck returns the first checked tick that is not before t.
func (s *Subject) nextCheck(t lockstep.Tick) lockstep.Tick {
	return (t + s.checks() - 1) / s.checks() * s.checks()
}

// check returns the first check at which the copy differs from the referee.
func (m *match) check() (lockstep.Tick, error) {
	return firstDiffering(m.states, m.copied, m.subject.checks())
}

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
	return differing(list(m.game.StateSchema(), a), list(m.game.StateSchema(), b))
}

// leavesByID returns how many fields differ if elements with an ID are compared by it. An
// element that only one state has counts as one field, and so does another order.
func (m *match) leavesByID(a, b []byte) int {
	x, y := listByID(m.game.StateSchema(), a), listByID(m.game.StateSchema(), b)
	_, n := differing(x, y)
	return n + x.lacks(y) + y.lacks(x) + x.otherOrder(y)
}

// differing returns the path of the first field of both listings that differs, and how many differ.
func differing(x, y *listing) (first string, n int) {
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
	order    []field
	text     map[string]string   // bytes, by path; of a slice, those of its length
	elements map[string][]string // by path of a list: the names of its elements with an ID; nil lists all elements by index
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

// listByID lists a valid state as list does, but elements of outermost lists by their ID where they have one.
func listByID(s *state.Schema, b []byte) *listing {
	l := &listing{text: map[string]string{}, elements: map[string][]string{}}
	l.walk(s.Root(), "", b)
	return l
}

// lacks counts the elements of another listing that this one does not have.
func (l *listing) lacks(other *listing) (n int) {
	for path, names := range other.elements {
		for _, name := range names {
			if !slices.Contains(l.elements[path], name) {
				n++
			}
		}
	}
	return n
}

// otherOrder counts the lists whose common elements are in another order in the other listing.
func (l *listing) otherOrder(other *listing) (n int) {
	for path := range l.elements {
		a, b := slices.Clone(l.elements[path]), slices.Clone(other.elements[path])
		a = slices.DeleteFunc(a, func(name string) bool { return !slices.Contains(other.elements[path], name) })
		b = slices.DeleteFunc(b, func(name string) bool { return !slices.Contains(l.elements[path], name) })
		if !slices.Equal(a, b) {
			n++
		}
	}
	return n
}

// element lists an element of a list by its ID, and returns the bytes after it. It returns false if the element has none.
func (l *listing) element(n state.Node, path string, b []byte) ([]byte, bool) {
	one := &listing{text: map[string]string{}}
	rest := one.walk(n, "", b)
	for _, f := range one.order {
		if !strings.EqualFold(f.path, "ID") {
			continue
		}
		name := fmt.Sprintf("%s[%x]", path, one.text[f.path])
		l.elements[path] = append(l.elements[path], name)
		for _, f := range one.order {
			l.order = append(l.order, field{name + "." + f.path, f.node})
			l.text[name+"."+f.path] = one.text[f.path]
		}
		return rest, true
	}
	return nil, false
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
		start := b
		b = b[4:]
		if l.elements != nil && !strings.Contains(path, "[") && n.Elem().Kind() == state.Struct {
			byID := count > 0
			for range count {
				if b, byID = l.element(n.Elem(), path, b); !byID {
					break
				}
			}
			if byID {
				return b
			}
			b = start[4:]
		}
		l.add(n, path, start[:4])
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
