package desync

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// The limits of the search for the order of fields.
const (
	maxRanked  = 2048 // fields that differ, of which the order is found
	maxSamples = 48   // of them, fields that are changed in trials
	perNode    = 4    // of these, fields of one field of the schema
	horizon    = 2    // ticks in which one field changes another one
)

// A sample is a field that differs, an element that only one side has, or the order of a list. It is changed to what it is
// on the wrong side, to see what else follows from it.
type sample struct {
	at     int // in the list of differences
	node   string
	field  *watcher // nil for an element or an order
	list   list     // of the element or the order
	id     uint64
	extra  []byte         // the element, if only the wrong side has it
	ranks  map[uint64]int // of the wrong side's order; nil for a field or an element
	causes int            // number of the other samples that change with it
	caused int            // number of the samples with which it changes
}

// A ranking orders the fields that differ: first those that no other one accounts for, of these the ones that account for
// most others.
type ranking struct {
	*tester
	schema    *state.Schema
	good, bad lockstep.Tick
	wrong     []byte
	orders    []state.Place // lists in another order
	samples   []*sample
}

// rank returns the order of the fields in list: their indexes, the likeliest cause first, and all fields of an element
// together. It returns nil if nothing is known. The list begins with the orders.
func (r *ranking) rank(l []state.Difference) []int {
	r.choose(l)
	if len(r.samples) < 2 {
		return nil
	}
	for t := r.bad - 1; ; t-- {
		for _, s := range r.samples {
			if r.influence(s, t) != nil {
				return r.order(l) // the time is over
			}
		}
		if t == r.good {
			return r.order(l)
		}
	}
}

// choose takes some fields of each field of the schema.
func (r *ranking) choose(l []state.Difference) {
	lists := listsOf(r.schema)
	taken := make(map[string]int) // only looked up
	right := r.again.state(r.bad)
	for round := 1; round <= perNode; round++ {
		for i := range l {
			if len(r.samples) == maxSamples {
				return
			}
			s := r.orderOf(lists, i)
			if s == nil {
				s = r.sample(lists, right, l[i].Path)
			}
			if s == nil || taken[s.node] >= round || slices.ContainsFunc(r.samples, func(o *sample) bool { return o.at == i }) {
				continue
			}
			s.at = i
			taken[s.node]++
			r.samples = append(r.samples, s)
		}
	}
}

// orderOf returns a sample of the order of a list, or nil.
func (r *ranking) orderOf(lists []list, i int) *sample {
	if i >= len(r.orders) {
		return nil
	}
	for _, l := range lists {
		if v, err := r.schema.Lookup(r.wrong, l.name); err == nil && l.name == r.orders[i].Path {
			return &sample{node: l.name + " in order", list: l, ranks: l.ranks(v)}
		}
	}
	return nil
}

// sample returns a sample of a path, or nil.
func (r *ranking) sample(lists []list, right []byte, path string) *sample {
	if w, ok := watch(r.schema, right, path); ok {
		v, ok := w.value(right)
		if _, both := w.value(r.wrong); !ok || !both || v.Node.Kind() >= state.String {
			return nil
		}
		return &sample{node: groupOf(v.Node.Path()), field: w}
	}
	for _, l := range lists {
		if !strings.HasPrefix(path, l.name+"[") {
			continue
		}
		if v, err := r.schema.Lookup(right, path); err == nil {
			return &sample{node: l.name, list: l, id: l.idOf(v.Bytes)}
		}
		if v, err := r.schema.Lookup(r.wrong, path); err == nil {
			return &sample{node: l.name, list: l, id: l.idOf(v.Bytes), extra: v.Bytes}
		}
	}
	return nil
}

// influence changes a sample after a tick, and counts the samples of other fields of the schema that it changes at once.
func (r *ranking) influence(s *sample, t lockstep.Tick) error {
	changed := r.changed(s, t)
	if changed == nil {
		return nil
	}
	until := min(t+horizon, r.bad)
	b, err := r.play(&variation{from: t, state: changed}, until, nil)
	if err != nil || b == nil {
		return err
	}
	right := r.again.state(until)
	for _, o := range r.samples {
		if o.node != s.node && !o.equal(r.schema, b, right) {
			s.causes++
			o.caused++
		}
	}
	return nil
}

// changed returns the right state of a tick in which the sample has changed as in the final states, or nil.
func (r *ranking) changed(s *sample, t lockstep.Tick) []byte {
	begin := r.again.state(t)
	if s.ranks != nil {
		return s.list.permuted(r.schema, begin, s.ranks)
	}
	if s.field == nil {
		return s.swapped(r.schema, begin)
	}
	v, ok := s.field.value(begin)
	if !ok {
		return nil
	}
	right, _ := s.field.value(r.again.state(r.bad))
	wrong, _ := s.field.value(r.wrong)
	values := guesses(v.Bytes, right.Bytes, wrong.Bytes)
	if len(values) == 0 {
		return nil
	}
	b := values[0]
	if v.Node.FractionBits() > 0 { // a place or a speed changes by a difference
		b = values[min(1, len(values)-1)]
	}
	changed := slices.Clone(begin)
	copy(changed[v.Offset:], b)
	return changed
}

// swapped returns a state without the element, or with the one that only the wrong side has, or nil.
func (s *sample) swapped(schema *state.Schema, begin []byte) []byte {
	v, err := schema.Lookup(begin, s.list.name)
	if err != nil {
		return nil
	}
	changed := slices.Clone(begin)
	if s.extra != nil && !slices.Contains(s.list.ids(v), s.id) {
		binary.LittleEndian.PutUint32(changed[v.Offset:], binary.LittleEndian.Uint32(v.Bytes)+1)
		return slices.Insert(changed, v.Offset+len(v.Bytes), s.extra...)
	}
	for e := range v.Elements() {
		if s.extra == nil && s.list.idOf(e.Bytes) == s.id {
			shorter(changed[v.Offset:])
			return slices.Delete(changed, e.Offset, e.Offset+len(e.Bytes))
		}
	}
	return nil
}

// equal reports whether a sample is the same in two states.
func (s *sample) equal(schema *state.Schema, a, b []byte) bool {
	if s.field != nil {
		return s.field.same(a, b)
	}
	if s.ranks != nil {
		return s.list.sameOrder(schema, a, b)
	}
	return s.list.has(schema, a, s.id) == s.list.has(schema, b, s.id)
}

// order orders all fields by what is known of the samples: first by the field of the schema, then by the field itself.
func (r *ranking) order(l []state.Difference) []int {
	type sum struct{ share, samples int }
	nodes := make(map[string]sum) // only looked up
	for _, s := range r.samples {
		n := nodes[s.node]
		nodes[s.node] = sum{n.share + s.share(), n.samples + 1}
	}
	key := make([][2]int, len(l))
	all := make([]int, len(l))
	for i := range l {
		all[i], key[i] = i, [2]int{unknownShare + 1, 0}
	}
	for _, s := range r.samples {
		n := nodes[s.node]
		key[s.at] = [2]int{n.share / n.samples, s.share()}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(key[a][0], key[b][0]), cmp.Compare(key[a][1], key[b][1]))
	})
	return all
}

// share returns how much of what a sample has to do with others is done to it, in thousandths. Nothing known is a half.
func (s *sample) share() int { return (s.caused + 1) * 2 * unknownShare / (s.caused + s.causes + 2) }

const unknownShare = 500
