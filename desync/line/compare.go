package line

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/state"
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

func (c *comparison) both() (x, y *moment, err error) {
	if x, err = c.a.next(); err == nil {
		y, err = c.b.next()
	}
	return x, y, err
}

// leave reads to the end of the function in which the sides differ, and reports whether no field that differs in the end was set differently there.
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
			m := next[i]
			if m.own.Kind == weave.Enter && m.Depth == depth && m != x && m != y {
				break // the next call of the caller, without a probe between the two
			}
			if m.own.Kind == weave.Write && !m.own.Local {
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
// that it uses again, and one that was restored does not. So lists, values before an assignment, and what arguments point to do
// not count there.
func (c *comparison) same(x, y *moment) bool {
	if x.own.Kind == weave.Branch && x.own.Text != y.own.Text || x.own.Const != y.own.Const {
		return false
	}
	if x.Value == y.Value && x.Old == y.Old {
		return true
	}
	if c.before != nil {
		if x.own.Kind == weave.Enter && targets.ReplaceAllString(x.Value, "&") == targets.ReplaceAllString(y.Value, "&") {
			return true // the function says where it reads what the arguments point to
		}
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

// targets are the structs that a value points to, with structs in their fields.
var targets = regexp.MustCompile(`&\{(?:[^{}]|\{[^{}]*\})*\}`)

// list reports whether a value has a list in it.
func list(value string) bool {
	return strings.Contains(value, "[") || strings.Contains(value, " elements #")
}

// edited reports whether an event's line has another text on the other side.
func edited(x, y *moment) bool {
	return x != nil && y != nil && x.id == y.id && x.own.Text != y.own.Text
}

// blame names the line that made the difference between the next events of the two sides, nil for the end of a side.
func (c *comparison) blame(x, y *moment, last [2]*moment) *Finding {
	atSite := x != nil && y != nil && x.id == y.id
	if m, side := c.alone(x, y, atSite); m != nil {
		f := c.only(m, side)
		c.first(f, x, y)
		return f
	}
	switch {
	case x == nil && y == nil:
		return &Finding{Reason: Nothing}
	case atSite && x.own.Kind == weave.Enter:
		return c.called(x, y)
	case atSite:
		return c.differs(c.decided(x, y))
	case last[0] != nil && edited(last[0], last[1]):
		f := c.at(Flow, last[0], last[1])
		c.first(f, x, y)
		return f
	}
	return c.parted(x, y, last)
}

// alone returns an event that only one side has and that explains the difference: an assignment to what the differing
// expression reads, or the latest test, case or statement before the sides went different ways.
func (c *comparison) alone(x, y *moment, atSite bool) (*moment, int) {
	var reads []string
	whole, function := x == nil && y == nil, ""
	for _, m := range []*moment{x, y} {
		if m != nil {
			reads = append(append(reads, m.own.Reads...), m.own.Name)
			function = m.own.Func
			if caller := c.caller(m); caller != nil {
				reads, function = append(reads, caller.Reads...), caller.Func
			}
			whole = whole || atSite && aggregate(m.Value)
		}
	}
	// Two values of one line say more than that only one side has another event of it.
	beside := func(m *moment) bool {
		return atSite && (m.own.File == x.own.File && m.own.Line == x.own.Line || m.own.File == y.own.File && m.own.Line == y.own.Line)
	}
	for _, explains := range []func(m *moment) bool{
		c.isSeen,
		func(m *moment) bool { return slices.Contains(reads, m.own.Name) },
		func(*moment) bool { return whole },
	} {
		for i, s := range []*stream{c.a, c.b} {
			other := []*stream{c.b, c.a}[i]
			if n := slices.IndexFunc(s.extra, func(m moment) bool { return explains(&m) && !beside(&m) && !other.assigns(&m) }); n >= 0 {
				return &s.extra[n], i
			}
		}
	}
	for i, s := range []*stream{c.b, c.a} {
		for _, name := range reads {
			if m, ok := s.alone(function, name); ok && !beside(&m) {
				return &m, 1 - i
			}
		}
	}
	for i, s := range []*stream{c.b, c.a} {
		for n := range s.recent {
			if m := &s.recent[n]; !atSite && m.own.Kind != weave.Write && m.own.Kind != weave.Define {
				return m, 1 - i
			}
		}
	}
	if !atSite {
		for i, s := range []*stream{c.b, c.a} {
			if len(s.recent) > 0 {
				return &s.recent[0], 1 - i
			}
		}
	}
	for i, s := range []*stream{c.b, c.a} {
		if x == nil && y == nil && len(s.calls) > 0 { // of code without probes
			return &s.calls[0], 1 - i
		}
	}
	return nil, 0
}

// caller returns the statement that makes a call, if the event is one.
func (c *comparison) caller(m *moment) *weave.Site {
	n := len(c.b.stack) - 2
	if m.own.Kind != weave.Enter || n < 1 {
		return nil
	}
	return c.b.stack[n].own
}

// aggregate reports whether a value is a struct or a list, in which any field may have changed before.
func aggregate(value string) bool {
	return strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") || strings.Contains(value, " elements #")
}

// only describes an event that one side alone has.
func (c *comparison) only(m *moment, side int) *Finding {
	f := &Finding{Reason: Only, Text: m.own.Text, Entity: m.Entity, Path: places(m.path)}
	f.Where[side] = placeOf(m.own)
	for n, step := range m.path { // the call that leads there may be what only one side has
		if step.own != nil && step.id == weave.None {
			f.Where[side], f.Path = placeOf(step.own), places(m.path[:n+1])
			if step.own != m.own {
				f.Text = step.own.Text
			}
			break
		}
	}
	f.Values[side], f.Values[1-side] = m.Value, m.Old
	return f
}

// first notes the first probe that differs, if the line to look at is another one.
func (c *comparison) first(f *Finding, x, y *moment) {
	for _, m := range []*moment{y, x} {
		if m != nil {
			f.First = placeOf(m.own)
			return
		}
	}
}

// differs describes two events of one site.
func (c *comparison) differs(x, y *moment) *Finding {
	f := c.at(Value, x, y)
	if x.own.Const != y.own.Const {
		f.Values = [2]string{x.own.Const, y.own.Const}
	}
	c.written(f, x, y)
	c.declared(f, y)
	return f
}

// declared names the declaration of a constant or package variable that a line uses, if the versions declare it differently.
func (c *comparison) declared(f *Finding, m *moment) {
	for _, name := range m.own.Uses {
		a, b := c.decls[0][name], c.decls[1][name]
		if a.Text == b.Text || a.Text == "" || b.Text == "" {
			continue
		}
		x, y := strings.Split(a.Text, "\n"), strings.Split(b.Text, "\n")
		n := 0
		for n < min(len(x), len(y))-1 && x[n] == y[n] {
			n++
		}
		f.First = f.Where[1]
		where := "the declaration of " + shortFunc(name)
		f.Where[0] = &Place{a.File, a.Line + n, where, strings.TrimSpace(x[n])}
		f.Where[1] = &Place{b.File, b.Line + n, where, strings.TrimSpace(y[n])}
		return
	}
}

// at describes two events of one site. The path is that of side B.
func (c *comparison) at(r Reason, x, y *moment) *Finding {
	f := &Finding{Reason: r, Text: y.own.Text, Entity: y.Entity, Values: [2]string{x.Value, y.Value}}
	if y.own.Kind == weave.Reach {
		f.Text = "what " + y.own.Text + " leaves"
	}
	f.Where = [2]*Place{placeOf(x.own), placeOf(y.own)}
	f.Path = places(pathOf(c.b.stack))
	return f
}

// called describes a call with different arguments: the line is that of the caller.
func (c *comparison) called(x, y *moment) *Finding {
	f := c.at(Value, x, y)
	n := len(c.b.stack) - 2
	if n < 1 || len(c.a.stack) != len(c.b.stack) || c.a.stack[n].own == nil || c.b.stack[n].own == nil {
		return f
	}
	f.First = f.Where[1]
	f.Where = [2]*Place{placeOf(c.a.stack[n].own), placeOf(c.b.stack[n].own)}
	f.Text, f.Path = y.own.Text, places(pathOf(c.b.stack[:n+1]))
	return f
}

// parted describes sides that do different things next.
func (c *comparison) parted(x, y *moment, last [2]*moment) *Finding {
	f := &Finding{Reason: Flow}
	for i, m := range []*moment{x, y} {
		if m != nil {
			f.Where[i], f.Values[i] = placeOf(m.own), m.own.Text
			f.Text, f.Entity, f.Path = m.own.Text, m.Entity, places(pathOf([]*stream{c.a, c.b}[i].stack))
		}
	}
	if f.Values[0] == f.Values[1] {
		for i, p := range f.Where { // both are there
			f.Values[i] += fmt.Sprintf(" (line %d)", p.Line)
		}
	}
	if last[1] != nil && (x == nil || y == nil) {
		f.First = placeOf(last[1].own)
	}
	return f
}

// places returns the lines of a path.
func places(path []step) (all []Place) {
	for _, s := range path {
		if s.own != nil {
			all = append(all, *placeOf(s.own))
		}
	}
	return all
}

// written names the line that last assigned what a line reads, in another goroutine or in a tick before. Both sides begin the
// tick with the same state, so no assignment to a field of the state in a tick before makes the difference.
func (c *comparison) written(f *Finding, x, y *moment) {
	names := append(slices.Clone(y.own.Reads), y.own.Name)
	for _, s := range []*stream{c.b, c.a} {
		for _, name := range names {
			if m, ok := s.others[name]; ok {
				f.Written = placeOf(m.own)
				return
			}
		}
	}
	var latest lastWrite
	for _, name := range y.own.Reads {
		if w, ok := c.before[name]; ok && !c.equal[name] && (latest.site == nil || w.tick > latest.tick) {
			latest = w
		}
	}
	if latest.site != nil {
		f.Written, f.WrittenTick = placeOf(latest.site), latest.tick
	}
}

// goroutines names the assignment of another goroutine to a field that was seen to differ.
func (c *comparison) goroutines(f *Finding) {
	for i, s := range []*stream{c.b, c.a} {
		for _, field := range c.seen {
			for _, name := range field.names {
				if m, ok := s.others[name]; ok {
					f.Reason, f.Text, f.Entity = Value, m.own.Text, m.Entity
					f.Where[1-i], f.Values[1-i] = placeOf(m.own), m.Value
					return
				}
			}
		}
	}
}

// maxWrites is how many assignments a finding lists.
const maxWrites = 8

// consequences returns the assignments that differ, those of side B first, up to the first to a field that differs after the tick.
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
