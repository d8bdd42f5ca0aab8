package desync

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// maxSuspects is the number of differing fields that are tried as the altered one.
const maxSuspects = 12

// altered tries each suspect with another value, between any two ticks. It tries several values: that of the wrong
// state, and those that differ from the right value as the final values do, by the same number or in the same bits.
func (s *search) altered(schema *state.Schema, suspects []state.Difference) error {
	for i := range suspects[:min(len(suspects), maxSuspects)] {
		w, ok := watch(schema, s.again.state(s.bad), suspects[i].Path)
		if !ok {
			continue
		}
		right, ok := w.value(s.again.state(s.bad))
		if !ok || !right.Node.Kind().Integer() && right.Node.Kind() != state.Bool {
			continue
		}
		wrong, ok := w.value(s.wrong)
		if !ok {
			continue
		}
		if err := s.alteredField(w, right.Bytes, wrong.Bytes); err != nil || s.found != nil {
			return err
		}
	}
	return nil
}

// alteredField tries one field, at every tick from the last one back.
func (s *search) alteredField(w *watcher, right, wrong []byte) error {
	for t := s.bad; ; t-- {
		begin := s.again.state(t)
		if v, ok := w.value(begin); ok && begin != nil {
			for _, b := range guesses(v.Bytes, right, wrong) {
				if err := s.alteredAt(t, begin, v, b); err != nil {
					return err
				}
			}
		}
		if t == s.good {
			break
		}
	}
	if s.found != nil && s.moved(w) {
		s.found.When.From = s.good + 1
	}
	return nil
}

// moved reports whether a field is in a slice, without IDs, of which elements were added or removed since tick good.
// Then the field may have had another path when it was altered.
func (s *search) moved(w *watcher) bool {
	if w.byID() {
		return false
	}
	for i, c := range w.path {
		if c != '[' {
			continue
		}
		last, err := w.schema.Lookup(s.again.state(s.bad), w.path[:i])
		if err != nil || last.Node.Kind() != state.Slice {
			continue
		}
		for t := s.bad - 1; t >= s.good; t-- {
			v, err := w.schema.Lookup(s.again.state(t), w.path[:i])
			if err != nil || !slices.Equal(v.Bytes[:countBytes], last.Bytes[:countBytes]) {
				return true
			}
		}
	}
	return false
}

func (s *search) alteredAt(t lockstep.Tick, begin []byte, v state.Value, b []byte) error {
	changed := slices.Clone(begin)
	copy(changed[v.Offset:], b)
	trial := variation{from: t, state: changed}
	ok, err := s.fits(&trial)
	if !ok {
		return err
	}
	// An altered state after tick t may have been computed so in t, or altered between t and the tick after it. At tick
	// good both sides were equal.
	span := Span{max(t, s.good+1), min(t+1, s.bad)}
	became := v
	became.Bytes = b
	if c := s.found; c != nil {
		c.When.From, c.When.To = min(c.When.From, span.From), max(c.When.To, span.To)
		c.fault = trial
		return nil
	}
	s.found = &Cause{
		Kind: AlteredField, When: span, Path: v.Path, Right: v.String(), Wrong: became.String(), fault: trial,
		Text: fmt.Sprintf("%s was %s instead of %s; all else follows from it", v.Path, became.String(), v.String()),
	}
	return nil
}

// guesses returns the values to which a field with value now may have been altered, if its final value is wrong instead
// of right. Each value occurs once.
func guesses(now, right, wrong []byte) [][]byte {
	n := len(now)
	number := func(b []byte) uint64 {
		var all [8]byte
		copy(all[:], b)
		return binary.LittleEndian.Uint64(all[:])
	}
	var list [][]byte
	for _, x := range []uint64{number(wrong), number(now) + number(wrong) - number(right), number(now) ^ number(wrong) ^ number(right)} {
		b := binary.LittleEndian.AppendUint64(nil, x)[:n]
		if !slices.Equal(b, now) && !slices.ContainsFunc(list, func(o []byte) bool { return slices.Equal(o, b) }) {
			list = append(list, b)
		}
	}
	return list
}
