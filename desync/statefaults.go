package desync

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// maxSuspects is the number of differing fields that are tried as the altered one.
const maxSuspects = 24

// altered tries each suspect with another value, between any two ticks. It tries several values: that of the wrong
// state, and those that differ from the right value as the final values do, by the same number or in the same bits.
func (s *search) altered(schema *state.Schema, suspects []state.Difference) error {
	for i := range suspects[:min(len(suspects), maxSuspects)] {
		w, ok := diff.Watch(schema, s.again.state(s.bad), suspects[i].Path)
		if !ok {
			continue
		}
		right, ok := w.Value(s.again.state(s.bad))
		if !ok || !right.Node.Kind().Integer() && right.Node.Kind() != state.Bool {
			continue
		}
		wrong, ok := w.Value(s.wrong)
		if !ok {
			continue
		}
		if len(suspects) == 1 && s.last == s.bad && s.exact == 0 {
			return s.alone(w, right, wrong.Bytes)
		}
		if err := s.alteredField(w, right.Bytes, wrong.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// alteredField tries one field, at every tick from the last one back.
func (s *search) alteredField(w *diff.Watcher, right, wrong []byte) error {
	var found *Cause
	for t := s.bad; ; t-- {
		begin := s.again.state(t)
		if v, ok := w.Value(begin); ok && begin != nil {
			for _, b := range guesses(v.Bytes, right, wrong) {
				fault := variation{from: t, state: put(begin, v, diff.Number(b))}
				if v.Node.Kind() != state.Bool {
					fault.near = func() []variation {
						return []variation{{from: t, state: put(begin, v, diff.Number(b)-1)}, {from: t, state: put(begin, v, diff.Number(b)+1)}}
					}
				}
				if err := s.between(&found, fault, func() *Cause { return fieldAltered(w, v, b, "all else follows from it") }); err != nil {
					return err
				}
			}
		}
		if t == s.good {
			break
		}
	}
	if found != nil && s.moving(w) {
		found.When.From = s.good + 1
	}
	return nil
}

// put returns a state in which a value is another number.
func put(b []byte, v state.Value, n uint64) []byte {
	changed := slices.Clone(b)
	diff.SetNumber(changed[v.Offset:v.Offset+len(v.Bytes)], n)
	return changed
}

// alone tries a field that is all that differs. That it was altered fits always, and so does a sum of several changes: nothing
// tells when.
func (s *search) alone(w *diff.Watcher, v state.Value, wrong []byte) error {
	s.count++
	c := fieldAltered(w, v, wrong, "nothing else differs, so the tick is unknown")
	c.When = Span{s.good + 1, s.bad}
	c.fault = variation{from: s.bad, state: s.wrong}
	s.found = append(s.found, c)
	return nil
}

// fieldAltered returns the cause that the field had another value. follows says what else differs.
func fieldAltered(w *diff.Watcher, v state.Value, b []byte, follows string) *Cause {
	name, became := w.Name(), v
	became.Bytes = b
	c := &Cause{
		Kind: AlteredField, rank: rankAltered, Path: name, Right: v.String(), Wrong: became.String(),
		Flipped: diff.OneBit(v.Bytes, b) && v.Node.Kind() != state.Bool,
	}
	flipped := ""
	if c.Flipped {
		flipped = ", a single flipped bit"
	}
	c.Text = fmt.Sprintf("%s was %s instead of %s%s, in the memory or by the rules; %s", name, c.Wrong, c.Right, flipped, follows)
	return c
}

// moving reports whether a field is in a slice, without IDs, of which elements were added or removed since tick good.
// Then the field may have had another path when it was altered.
func (s *search) moving(w *diff.Watcher) bool {
	if w.ByID() {
		return false
	}
	for i, c := range w.Path {
		if c != '[' {
			continue
		}
		last, err := w.Schema.Lookup(s.again.state(s.bad), w.Path[:i])
		if err != nil || last.Node.Kind() != state.Slice {
			continue
		}
		for t := s.bad - 1; t >= s.good && t < s.bad; t-- {
			v, err := w.Schema.Lookup(s.again.state(t), w.Path[:i])
			if err != nil || !slices.Equal(v.Bytes[:diff.CountBytes], last.Bytes[:diff.CountBytes]) {
				return true
			}
		}
	}
	return false
}

// elements tries to lose, or to keep, each element that only one side has.
func (s *search) elements(lists []diff.List, missing []state.Place) error {
	schema := s.again.game.StateSchema()
	for _, m := range missing {
		i := slices.IndexFunc(lists, func(l diff.List) bool { return l.Name == m.Path })
		if err := s.element(schema, lists[i], m.Element); err != nil {
			return err
		}
	}
	return nil
}

// element tries to lose the element of a name.
func (s *search) element(schema *state.Schema, l diff.List, name string) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if v, err := schema.Lookup(s.again.state(t), l.Name); err == nil {
			for e := range v.Elements() {
				if l.Element(l.IDOf(e.Bytes)) != name {
					continue
				}
				changed := slices.Clone(s.again.state(t))
				shorter(changed[v.Offset:])
				changed = slices.Delete(changed, e.Offset, e.Offset+len(e.Bytes))
				if err := s.between(&found, variation{from: t, state: changed}, func() *Cause {
					return &Cause{Kind: LostElement, rank: rankElement, Path: name, Right: "present", Wrong: "absent", Text: name + " was lost, in the memory or by the rules; all else follows from it"}
				}); err != nil {
					return err
				}
			}
		}
		if t == s.good {
			return nil
		}
	}
}

// orders tries the order that a list has on the wrong side, after each of the ticks: an unstable sort gives another order
// of equal elements.
func (s *search) orders(lists []diff.List, orders []state.Place) error {
	for _, o := range orders {
		l := lists[slices.IndexFunc(lists, func(l diff.List) bool { return l.Name == o.Path })]
		v, err := s.again.game.StateSchema().Lookup(s.wrong, l.Name)
		if err != nil {
			return err
		}
		if err := s.order(l, l.Ranks(v), o.String()); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) order(l diff.List, rank map[uint64]int, text string) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if changed := l.Permuted(s.again.game.StateSchema(), s.again.state(t), rank); changed != nil {
			if err := s.between(&found, variation{from: t, state: changed}, func() *Cause {
				return &Cause{Kind: PermutedList, rank: rankOrder, Path: l.Name, Text: text + "; all else follows from it"}
			}); err != nil {
				return err
			}
		}
		if t == s.good {
			return nil
		}
	}
}

// maxOtherDraws is the largest number of draws too many, or too few, that is tried.
const maxOtherDraws = 50

// draws tries more and fewer draws from each generator, after each tick: as many as the final states show, or, if the
// generator was drawn from since, any number.
func (s *search) draws(streams []Stream) error {
	for _, x := range streams {
		w, ok := diff.Watch(s.again.game.StateSchema(), s.again.state(s.bad), x.Path)
		if !ok || x.Altered || !x.Known || x.Wrong == x.Right {
			continue
		}
		if n := int64(x.Wrong - x.Right); n >= -maxOtherDraws && n <= maxOtherDraws {
			if err := s.drawn(w, int(n)); err != nil {
				return err
			}
		}
		for n := 1; n <= maxOtherDraws; n++ {
			for _, n := range []int{n, -n} {
				if int64(n) == int64(x.Wrong-x.Right) {
					continue
				}
				if err := s.drawn(w, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// drawn tries n draws more than on the right side, after each of the ticks.
func (s *search) drawn(w *diff.Watcher, n int) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if r, at, ok := s.shifted(w, t, n); ok {
			changed := slices.Clone(s.again.state(t))
			binary.LittleEndian.PutUint64(changed[at:], r.Hi)
			binary.LittleEndian.PutUint64(changed[at+8:], r.Lo)
			if err := s.between(&found, variation{from: t, state: changed}, func() *Cause { return s.drawCause(w, n) }); err != nil {
				return err
			}
		}
		if t == s.good {
			return nil
		}
	}
}

func (s *search) drawCause(w *diff.Watcher, n int) *Cause {
	often, many := "too often", n
	if n < 0 {
		often, many = "too rarely", -n
	}
	return &Cause{Kind: OtherDraws, rank: rankDraws, Path: w.Name(), Text: fmt.Sprintf("%s was drawn from %s (%s); all else follows from it", w.Name(), often, diff.Draws(uint64(many)))}
}

// shifted returns the generator after n more draws at a tick, and its offset in the state. Fewer draws are known only back
// to tick good.
func (s *search) shifted(w *diff.Watcher, t lockstep.Tick, n int) (r fixed.Rand, offset int, ok bool) {
	r, offset, ok = w.Generator(s.again.state(t))
	if ok && n < 0 {
		before, _, known := w.Generator(s.again.state(s.good))
		since, near := before.DrawsTo(r)
		if n += int(since); !known || !near || n < 0 {
			return r, 0, false
		}
		r = before
	}
	for range n {
		r.Uint64()
	}
	return r, offset, ok
}

// between tries a state that was altered after a tick, or computed so in it. All such causes of one kind and place are one:
// found is the first of them, whose span grows.
func (s *search) between(found **Cause, v variation, cause func() *Cause) error {
	n := len(s.found)
	span := Span{max(v.from, s.good+1), min(v.from+1, s.bad)} // at tick good both sides were equal
	err := s.try(v, func() *Cause {
		c := cause()
		c.When = span
		return c
	})
	if err != nil || len(s.found) == n {
		return err
	}
	latest := s.found[n]
	if c := *found; c != nil {
		c.When.From, c.When.To = min(c.When.From, span.From), max(c.When.To, span.To)
		c.fault = latest.fault
		s.found = s.found[:n]
		return nil
	}
	*found = latest
	return nil
}

// configurations tries other values of each field of the match's configuration.
func (s *search) configurations() error {
	h := s.again.header
	schema, err := state.ParseSchema(h.ConfigSchema)
	if err != nil {
		return nil // another engine's
	}
	leaves, err := schema.Leaves(h.Config)
	if err != nil {
		return nil
	}
	for leaf := range leaves {
		for _, b := range others(leaf) {
			config := slices.Clone(h.Config)
			copy(config[leaf.Offset:], b)
			became := leaf
			became.Bytes = b
			n := len(s.found)
			err := s.try(variation{from: s.good, config: config}, func() *Cause {
				return &Cause{
					Kind: OtherConfig, rank: rankConfig, Path: leaf.Path, Right: leaf.String(), Wrong: became.String(),
					Text: fmt.Sprintf("%s of the configuration was %s instead of %s", leaf.Path, became.String(), leaf.String()),
				}
			})
			if err != nil {
				return err
			}
			if len(s.found) == n {
				continue
			}
			if ok, err := s.lasting(config); err != nil {
				return err
			} else if !ok {
				s.found = s.found[:n]
			}
		}
	}
	return nil
}

// lasting reports whether a configuration that leads from the last good state to the wrong one is a cause. It must have been there
// from the beginning of the wrong side on, where that is kept, and lead to the states at which both sides agreed. And more than one
// rule must read it: in one tick it changes some fields, and in another one only others. Where a single rule reads it, that is no
// evidence, since a mistake in that rule does the same.
func (s *search) lasting(config []byte) (bool, error) {
	v := variation{from: s.begin, config: config}
	if s.begin == 0 {
		sim, err := s.simulation(&v)
		if err != nil {
			return false, nil
		}
		v.state = sim.AppendState(nil)
	}
	if ok, err := s.fits(&v); err != nil || !ok {
		return false, err
	}
	var read []map[string]int // the fields that it changes in single ticks
	for t := s.good + 1; t <= s.bad; t++ {
		b, err := s.play(&variation{from: t - 1, config: config}, t, nil)
		if err != nil || b == nil {
			return false, err
		}
		l, err := newListing(s.again.game.StateSchema(), s.again.state(t), b, maxListed)
		if err != nil {
			return false, err
		}
		changed := diff.Kinds(l.fields.List)
		if len(changed) > 0 && slices.ContainsFunc(read, func(o map[string]int) bool { return disjoint(o, changed) }) {
			return true, nil
		}
		read = append(read, changed)
	}
	return false, nil
}

// disjoint reports whether two sets, which are not empty, have no element in common.
func disjoint(a, b map[string]int) bool {
	for k := range a { // the order does not matter
		if b[k] > 0 {
			return false
		}
	}
	return len(a) > 0
}

// others returns other values of a leaf, of the same size: near ones, 0, those that differ in one bit, double and half.
func others(v state.Value) (all [][]byte) {
	kind := v.Node.Kind()
	if kind == state.Bool {
		return [][]byte{{v.Bytes[0] ^ 1}}
	}
	if !kind.Integer() {
		return nil
	}
	now := diff.Number(v.Bytes)
	values := []uint64{now + 1, now - 1, 0, 2 * now, now / 2, now >> 8 << 8, now & 0xff, now & 0xffff}
	for i := range 8 * len(v.Bytes) {
		values = append(values, now^1<<i)
	}
	for _, n := range values {
		b := slices.Clone(v.Bytes)
		diff.SetNumber(b, n)
		if !slices.Equal(b, v.Bytes) && !slices.ContainsFunc(all, func(o []byte) bool { return slices.Equal(o, b) }) {
			all = append(all, b)
		}
	}
	return all
}
