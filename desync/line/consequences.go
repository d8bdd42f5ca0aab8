package line

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/state"
)

// maxWrites is how many assignments a finding lists.
const maxWrites = 8

// consequences returns the assignments that differ, in the order of side B and then of side A, up to the first one to a
// field that was seen to differ.
func (c *comparison) consequences(lists [2][]moment) (all []Write) {
	type key struct {
		site   int
		entity string
		n      int
	}
	index := func(list []moment, sites func(*moment) int) (map[key]*moment, []key) {
		found, order, count := map[key]*moment{}, []key{}, map[key]int{}
		for i := range list {
			k := key{sites(&list[i]), list[i].Entity, 0}
			count[k]++
			k.n = count[k]
			found[k], order = &list[i], append(order, k)
		}
		return found, order
	}
	number := func(side int) func(*moment) int {
		return func(m *moment) int {
			if m.id == weave.None {
				return -2 - side
			}
			return m.id
		}
	}
	a, orderA := index(lists[0], number(0))
	b, orderB := index(lists[1], number(1))
	add := func(m *moment, values [2]string) bool {
		w := Write{*placeOf(m.own), m.own.Name, m.own.Text, m.Entity, values, c.isSeen(m)}
		if len(all) == maxWrites {
			if !w.Seen {
				return false
			}
			all = all[:maxWrites-1]
		}
		all = append(all, w)
		return w.Seen
	}
	for _, k := range orderB {
		x, y := a[k], b[k]
		if x == nil && add(y, [2]string{"", y.Value}) || x != nil && x.Value != y.Value && add(y, [2]string{x.Value, y.Value}) {
			return all
		}
	}
	for _, k := range orderA {
		if x := a[k]; b[k] == nil && add(x, [2]string{x.Value, ""}) {
			return all
		}
	}
	return all
}

// isSeen reports whether an assignment is to a field that was seen to differ.
func (c *comparison) isSeen(m *moment) bool {
	for _, f := range c.seen {
		if slices.Contains(f.names, m.own.Name) && (f.entity == "" || m.Entity == "" || strings.HasSuffix(m.Entity, " "+f.entity)) {
			return true
		}
	}
	return false
}

// A Field is a field of the state that differs after the tick.
type Field struct {
	Path   string    `json:"path"`
	Values [2]string `json:"values"`
}

// maxFields is how many fields a result lists.
const maxFields = 8

// fieldsOf compares two states after the tick.
func fieldsOf(s *state.Schema, a, b []byte) (all []Field, seen []seenField, err error) {
	d, _, err := desync.DiffStates(s, a, b, "")
	if err != nil {
		return nil, nil, err
	}
	for _, one := range d.List[:min(len(d.List), maxFields)] {
		all = append(all, Field{one.Path, [2]string{one.A, one.B}})
		seen = append(seen, seenField{lastParts(one.Path), elementID(s, a, one.Path)})
	}
	return all, seen, nil
}

// lastParts returns the names in a path after the last index: "Pos" and "X" of "Units[3].Pos.X".
func lastParts(path string) []string {
	path = strings.TrimSuffix(path, "]")
	if i := strings.LastIndexByte(path, ']'); i >= 0 {
		path = path[i+1:]
	}
	path, _, _ = strings.Cut(path, "[")
	return strings.Split(strings.Trim(path, "."), ".")
}

// elementID returns the ID of the element of a list that a path goes through, or "".
func elementID(s *state.Schema, b []byte, path string) string {
	i := strings.LastIndexByte(path, ']')
	if i < 0 {
		return ""
	}
	v, err := s.Lookup(b, path[:i+1]+".ID")
	if err != nil {
		return ""
	}
	text := v.String()
	if _, err := strconv.ParseUint(text, 10, 64); err != nil {
		return ""
	}
	return text
}
