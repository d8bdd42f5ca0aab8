package desync

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
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
				if err := s.between(&found, fault, func() *Cause { return fieldAltered(w, v, b) }); err != nil {
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
	c := fieldAltered(w, v, wrong)
	c.Text = become(w, v, wrong) + ", in the memory or by the rules; nothing else differs, so nothing tells when"
	c.When = Span{s.good + 1, s.bad}
	c.fault = variation{from: s.bad, state: s.wrong}
	s.found = append(s.found, c)
	return nil
}

// fieldAltered returns the cause that the field had another value.
func fieldAltered(w *diff.Watcher, v state.Value, b []byte) *Cause {
	name, became := w.Name(), v
	became.Bytes = b
	return &Cause{
		Kind: AlteredField, rank: rankAltered, Path: name, Right: v.String(), Wrong: became.String(),
		Text: become(w, v, b) + ", in the memory or by the rules; all else follows from it",
	}
}

// become says that the field had another value, and whether that is a single flipped bit.
func become(w *diff.Watcher, v state.Value, b []byte) string {
	became, flipped := v, ""
	became.Bytes = b
	if diff.OneBit(v.Bytes, b) && v.Node.Kind() != state.Bool {
		flipped = ", a single flipped bit"
	}
	return fmt.Sprintf("%s was %s instead of %s%s", w.Name(), became.String(), v.String(), flipped)
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

// guesses returns the values to which a field with value now may have been altered, if its final value is wrong instead
// of right. Each value occurs once.
func guesses(now, right, wrong []byte) [][]byte {
	n := len(now)
	var list [][]byte
	for _, x := range []uint64{diff.Number(wrong), diff.Number(now) + diff.Number(wrong) - diff.Number(right), diff.Number(now) ^ diff.Number(wrong) ^ diff.Number(right)} {
		b := binary.LittleEndian.AppendUint64(nil, x)[:n]
		if n == 1 && len(right) == 1 && diff.Number(right) < 2 && diff.Number(wrong) < 2 && b[0] > 1 {
			continue // maybe a bool
		}
		if !slices.Equal(b, now) && !slices.ContainsFunc(list, func(o []byte) bool { return slices.Equal(o, b) }) {
			list = append(list, b)
		}
	}
	return list
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

// shorter reduces the count at the start of a slice by one.
func shorter(slice []byte) {
	binary.LittleEndian.PutUint32(slice, binary.LittleEndian.Uint32(slice)-1)
}
