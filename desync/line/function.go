//go:build !js

package line

import (
	"fmt"
	"slices"
	"strings"
)

// maxUsual is how many functions with usual forks a note names.
const maxUsual = 3

// finding returns the first place where the sides call different functions that is not usual, or else a usual one. A hint is the
// first other difference before it.
func (s *moduleSearch) finding(c *callComparison, usual map[fork]bool) *Finding {
	var first, hint *forked
	var leftOut []forked
	for _, f := range c.forks {
		switch {
		case first != nil:
		case usual[f.fork] && f.kind == differentCalls:
			leftOut = append(leftOut, f)
		case usual[f.fork]:
		case f.kind == differentCalls:
			first = &f
		case hint == nil:
			hint = &f
		}
	}
	if first == nil && hint == nil && len(leftOut) > 0 {
		first, leftOut = &leftOut[0], nil
		s.result.Notes = append(s.result.Notes, "the calls differ in the same way in ticks before, whose results are the same")
	}
	s.noteUsual(c, leftOut)
	found := &Finding{Reason: Nothing, Calls: c.begun}
	if first != nil {
		found = c.flow(first)
	}
	if hint != nil {
		found.Hint = c.numbers(hint)
	}
	return found
}

// noteUsual adds a note about forks that are left out.
func (s *moduleSearch) noteUsual(c *callComparison, forks []forked) {
	var names []string
	for _, f := range forks {
		if name := c.under(&f)[0].Func; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxUsual {
		names = append(names[:maxUsual], "others")
	}
	if len(names) > 0 {
		s.result.Notes = append(s.result.Notes, "different calls of "+strings.Join(names, ", ")+" are left out: they differ in ticks before, too, whose results are the same")
	}
}

// under returns the function that is under way at a fork.
func (c *callComparison) under(f *forked) (at [2]*Place) {
	for i, one := range c.sides {
		at[i] = &Place{Func: "samestep_call"}
		if n := len(f.stack); n > 0 {
			at[i] = one.place(f.stack[n-1][i])
		}
	}
	return at
}

// flow describes a fork where the sides call different functions.
func (c *callComparison) flow(f *forked) *Finding {
	found := &Finding{Reason: Flow, Where: c.under(f), Calls: f.begun, Path: c.path(f)}
	for i, next := range f.calls {
		switch {
		case next == nil:
			found.Values[i] = "ends"
		case next.begins:
			found.Values[i] = "calls " + c.sides[i].name(next.function)
		default:
			found.Values[i] = "comes back"
		}
	}
	return found
}

// numbers describes a fork where the sides call one function with different numbers.
func (c *callComparison) numbers(f *forked) *Finding {
	found := &Finding{Reason: Value, Calls: f.begun, Path: c.path(f)}
	for i, next := range f.calls {
		found.Where[i] = c.sides[i].place(next.function)
		found.Values[i] = strings.Trim(fmt.Sprint(next.values[:next.known]), "[]")
	}
	found.Text = "the result of " + found.Where[0].Func
	if f.kind == differentArguments {
		found.Text = "what " + found.Where[0].Func + " gets"
	}
	return found
}

// path returns the functions under way at a fork, from samestep_call on.
func (c *callComparison) path(f *forked) (all []Place) {
	for _, n := range f.stack {
		all = append(all, *c.sides[1].place(n[1]))
	}
	return all
}
