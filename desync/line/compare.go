package line

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
)

// A comparison looks for the first difference between two recordings.
type comparison struct {
	a, b   *stream
	decls  [2]map[string]weave.Decl
	before map[string]lastWrite // by name: the latest assignment in a tick before; nil if not known
	seen   []seenField          // of the states after the tick
	equal  map[string]bool      // names of fields in the state, which both sides began with; looked up by name
}

// A lastWrite is an assignment in a tick before.
type lastWrite struct {
	site *weave.Site
	tick uint32
}

// A seenField is a field of the state that differs after the tick.
type seenField struct {
	names  []string // the last ones of its path
	entity string   // such as "12": the ID of the element of a list; "" for none
}

// find returns the first difference.
func (c *comparison) find() (*Finding, error) {
	var last [2]*moment
	var passed *Finding // the first difference, if it stayed in its function
	x, y, err := c.both()
	for err == nil {
		if x != nil && y != nil && x.id == y.id && c.same(x, y) {
			last = [2]*moment{x, y}
			x, y, err = c.both()
			continue
		}
		if passed != nil && x == nil && y == nil {
			return passed, nil
		}
		f := c.blame(x, y, last)
		var lists [2][]moment
		if c.before != nil && x != nil && y != nil {
			var stays bool
			if x, y, stays, err = c.leave(x, y, &lists); stays && err == nil {
				if passed == nil {
					passed = f
				}
				continue
			}
		}
		return f, cmp.Or(err, c.follow(f, x, y, lists))
	}
	return nil, err
}

// both returns the next event of each side.
func (c *comparison) both() (x, y *moment, err error) {
	if x, err = c.a.next(); err == nil {
		y, err = c.b.next()
	}
	return x, y, err
}

// leave goes on to the end of the function in which the sides differ, and reports whether the difference stays in it: no field
// that differs in the end is assigned there with different values. A buffer that is made anew on one side is such a
// difference. It returns the next events, and the assignments on the way.
func (c *comparison) leave(x, y *moment, lists *[2][]moment) (nextX, nextY *moment, stays bool, err error) {
	depth := min(x.Depth, y.Depth)
	if x.own.Kind == weave.Enter && x.id == y.id {
		depth-- // the caller gives other arguments
	}
	if depth <= stepDepth {
		return x, y, false, nil
	}
	next := [2]*moment{x, y}
	for i, s := range []*stream{c.a, c.b} {
		for next[i] != nil && next[i].Depth >= depth {
			if m := next[i]; m.own.Kind == weave.Write && !m.own.Local {
				lists[i] = append(lists[i], *m)
			}
			if next[i], err = s.read(); err != nil {
				return nil, nil, false, err
			}
		}
	}
	return next[0], next[1], slices.Equal(c.seenIn(lists[0]), c.seenIn(lists[1])), nil
}

// stepDepth is the depth of what Step itself does.
const stepDepth = 2

// seenIn returns the assignments to fields that differ in the end, as texts.
func (c *comparison) seenIn(list []moment) (all []string) {
	for i := range list {
		if m := &list[i]; c.isSeen(m) {
			all = append(all, m.own.Name+" of "+m.Entity+" = "+m.Value)
		}
	}
	return all
}

// follow adds the assignments after a difference. x and y are the next events, lists the assignments before them.
func (c *comparison) follow(f *Finding, x, y *moment, lists [2][]moment) error {
	for i, s := range []*stream{c.a, c.b} {
		if m := []*moment{x, y}[i]; m != nil && m.own.Kind == weave.Write && !m.own.Local {
			lists[i] = append(lists[i], *m)
		}
		rest, err := s.writes()
		if err != nil {
			return err
		}
		lists[i] = append(lists[i], rest...)
	}
	f.Writes = c.consequences(lists)
	if x == nil && y == nil && f.Reason == Nothing {
		c.goroutines(f)
	}
	return nil
}

// same reports whether two events of one site are the same. A simulation that came all the way has old contents in the buffers
// that it uses again, and one that was restored does not. So lists, and values before an assignment, do not count there.
func (c *comparison) same(x, y *moment) bool {
	if x.own.Kind == weave.Branch && x.own.Text != y.own.Text || x.own.Const != y.own.Const {
		return false
	}
	if x.Value == y.Value && x.Old == y.Old {
		return true
	}
	if c.before != nil {
		return x.own.Kind == weave.Reach || x.Value == y.Value || list(x.Value) || list(y.Value)
	}
	a, b := probe.WithoutRoom(x.Value), probe.WithoutRoom(y.Value)
	if edited := x.own.Text != y.own.Text; edited && a != x.Value && b != y.Value {
		return false
	} else if edited || a == b {
		return x.Old == y.Old && a == b
	}
	// How much room there is changes nothing by itself, nor that append makes a new list for want of it.
	a, copyA := probe.Outside(a)
	b, copyB := probe.Outside(b)
	return x.Old == y.Old && a == b && copyA != copyB && list(a)
}

// list reports whether a value has a list in it.
func list(value string) bool {
	return strings.Contains(value, "[") || strings.Contains(value, " elements #")
}

// edited reports whether an event's line has another text on the other side.
func edited(x, y *moment) bool {
	return x != nil && y != nil && x.id == y.id && x.own.Text != y.own.Text
}
