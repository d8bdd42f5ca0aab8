//go:build !js

package line

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/module"
)

// compareMemory looks for the function in which data in the memory begin to differ, if no call differs. What c has found is the result
// if that is not possible: the addresses of the data must be the same on both sides.
func (s *moduleSearch) compareMemory(ctx context.Context, sides [2]*tracedSide, c *callComparison) error {
	m, one := c.memory, s.modules[0] == s.modules[1]
	if names := m.hidden(sides[0]); one && names != "" {
		s.result.Notes = append(s.result.Notes, "variables that differ before the tick: "+names)
	}
	watch := m.begun(m.places(sides, one))
	if len(watch[0]) == 0 {
		return nil
	}
	again, _, err := s.pass(ctx, sides, &watch)
	if err != nil {
		return err
	}
	for _, f := range again.forks {
		if f.kind == differentMemory {
			found := &Finding{Reason: Memory, Where: again.under(&f), Calls: f.begun, Path: again.path(&f), Hint: s.result.Finding.Hint}
			found.Text = describe(sides[0], watch[0][0])
			for i, b := range m.after {
				found.Values[i] = fmt.Sprint(b[watch[i][0]])
			}
			s.result.Finding = found
		}
	}
	return nil
}

// maxMemory is the largest memory of an instance that is compared, in bytes.
const maxMemory = 32 << 20

// maxWatched is how many bytes that begin to differ in the tick are watched. If more do, they say little.
const maxWatched = 4096

// memories are those of both sides, before and after Step.
type memories struct {
	before, after [2][]byte
}

// keep keeps the memory of a side at an event, if that is the first, and else as the last one.
func (m *memories) keep(side int, of *tracedSide, e module.Event) {
	if !of.rules.IsEntry(e.Function) {
		return
	}
	at := &m.after[side]
	if e.Begins {
		at = &m.before[side]
	}
	if all := of.observer.Memory(); len(all) <= maxMemory {
		*at = bytes.Clone(all)
	}
}

// A span is a part of the memory that holds the same data on both sides.
type span struct {
	at   [2]int
	size int
}

// places returns the parts of the memory to compare: all of it for one module, the variables of both for two, and nothing if their
// addresses are not known.
func (m *memories) places(sides [2]*tracedSide, one bool) (all []span) {
	if one && sides[0].rules.IsGo() {
		return nil // the heaps differ
	}
	size := len(m.before[0])
	for _, b := range [][]byte{m.before[1], m.after[0], m.after[1]} {
		size = min(size, len(b))
	}
	a, b := variablesOf(sides[0]), variablesOf(sides[1])
	if one || len(a) == 0 && m.alike(size) {
		return []span{{size: size}}
	}
	for name, v := range a {
		if w, ok := b[name]; ok && v.Size == w.Size && max(v.At, w.At)+v.Size <= size {
			all = append(all, span{[2]int{v.At, w.At}, v.Size})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.at[0], b.at[0]) })
	return all
}

// variablesOf returns the variables of a side by their names, which no other one has.
func variablesOf(t *tracedSide) map[string]module.Variable {
	all, twice := map[string]module.Variable{}, map[string]bool{}
	for _, v := range t.rules.Variables {
		_, again := all[v.Name]
		all[v.Name], twice[v.Name] = v, twice[v.Name] || again
	}
	maps.DeleteFunc(all, func(name string, _ module.Variable) bool { return twice[name] })
	return all
}

// alike reports whether two modules have their data at the same addresses: nearly all bytes are equal before Step.
func (m *memories) alike(size int) bool {
	differ, used := 0, 0
	for i, a := range m.before[0][:size] {
		if a != m.before[1][i] {
			differ++
		}
		if a != 0 {
			used++
		}
	}
	return 64*differ <= used
}

// begun returns the addresses of the bytes that differ after Step and not before it, on each side. It returns none if they are too
// many.
func (m *memories) begun(places []span) (all [2][]uint32) {
	for _, p := range places {
		for i := range p.size {
			x, y := p.at[0]+i, p.at[1]+i
			if m.before[0][x] != m.before[1][y] || m.after[0][x] == m.after[1][y] {
				continue
			}
			if len(all[0]) == maxWatched {
				return [2][]uint32{}
			}
			all[0], all[1] = append(all[0], uint32(x)), append(all[1], uint32(y))
		}
	}
	return all
}

// variableAt returns the variable that has an address, or nil.
func variableAt(all []module.Variable, at int) *module.Variable {
	for i := range all {
		if v := &all[i]; v.At <= at && at < v.At+v.Size {
			return v
		}
	}
	return nil
}

// describe names an address of a side.
func describe(t *tracedSide, at uint32) string {
	if v := variableAt(t.rules.Variables, int(at)); v != nil {
		return fmt.Sprintf("byte %d of %s", int(at)-v.At, v.Name)
	}
	return fmt.Sprintf("the memory at %#x", at)
}

// hidden names the variables that differ before Step.
func (m *memories) hidden(t *tracedSide) string {
	var names []string
	for i := range t.rules.Variables {
		v := &t.rules.Variables[i]
		end := v.At + v.Size
		if end <= min(len(m.before[0]), len(m.before[1])) && !bytes.Equal(m.before[0][v.At:end], m.before[1][v.At:end]) {
			names = append(names, v.Name)
		}
	}
	if len(names) > maxUsual {
		names = append(names[:maxUsual], "others")
	}
	return strings.Join(names, ", ")
}
