package desync

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// The limits of the search for the order of fields.
const (
	maxRanked  = 2048 // fields that differ, of which the order is found
	maxTried   = 48   // suspects, and fields of each that are changed together
	perSuspect = 4    // of these, fields that are changed alone
	horizon    = 2    // ticks in which one field changes another one
	maxMoments = 8    // ticks after which this is tried
)

// A sample is a field that differs, an element that only one side has, or the order of a list. It is changed to what it is
// on the wrong side, to see what else follows from it.
type sample struct {
	at     int           // in the list of differences
	field  *diff.Watcher // nil for an element or an order
	list   diff.List     // of the element or the order
	id     uint64
	extra  []byte         // the element, if only the wrong side has it
	ranks  map[uint64]int // of the wrong side's order; nil for a field or an element
	causes int            // number of the samples of other suspects that change with it
	caused int            // number of such samples with which it changes
}

// A suspect is a field of the schema that differs, a list with other elements, or one in another order.
type suspect struct {
	node    string
	samples []*sample
	alike   likeness // of the best trials
}

// A likeness says which part of what differs in a state or on the wrong side differs in both: of the fields of the schema, of the
// fields, and of the fields with the same value.
type likeness [3]float64

// A ranking orders the fields that differ: first those from which most of the others follow. It changes the fields of a suspect
// in the right state of an earlier tick, simulates up to the bad one, and compares what differs then with what differs on
// the wrong side.
type ranking struct {
	*tester
	schema    *state.Schema
	good, bad lockstep.Tick
	wrong     []byte
	orders    []state.Place     // lists in another order
	differ    map[string]int    // fields that differ, by the field of the schema
	values    map[string]string // of these fields on the wrong side; only looked up
	suspects  []*suspect
}

// rank returns the order of the fields in list: their indexes, the likeliest cause first, and all fields of an element
// together. It returns nil if nothing is known. The list begins with the orders.
func (r *ranking) rank(l []state.Difference) []int {
	r.differ, r.values = diff.Kinds(l), make(map[string]string, len(l))
	for _, d := range l {
		r.values[d.Path] = d.B
	}
	r.choose(l)
	if len(r.suspects) < 2 {
		return nil
	}
	if r.influences() == nil {
		r.trials()
	}
	return r.order(l)
}

// trials changes all suspects in each way, from 1, 4, 16 ... ticks before the bad one on.
func (r *ranking) trials() {
	for _, change := range ways {
		for back := lockstep.Tick(1); ; back *= 4 {
			back = min(back, r.bad-r.good)
			if !r.round(change, r.bad-back) {
				return
			}
			if back == r.bad-r.good {
				break
			}
		}
	}
}

// A way to change a suspect in the trials.
type way func(*ranking, *suspect, lockstep.Tick) ([]byte, error)

// The ways end in the state of the bad tick, or in nil. A mistake in a rule may act once, on many elements, or again and again.
var ways = []way{
	func(r *ranking, s *suspect, t lockstep.Tick) ([]byte, error) { return r.once(s.samples, t) },
	func(r *ranking, s *suspect, t lockstep.Tick) ([]byte, error) { return r.once(s.one(0), t) },
	func(r *ranking, s *suspect, t lockstep.Tick) ([]byte, error) { return r.often(s.samples, t) },
	func(r *ranking, s *suspect, t lockstep.Tick) ([]byte, error) { return r.once(s.one(1), t) },
}

func (s *suspect) one(i int) []*sample {
	if len(s.samples) < 2 {
		return nil
	}
	return s.samples[i : i+1]
}

// round plays a trial of each suspect. It returns false if the time is over; then it does not count.
func (r *ranking) round(change way, from lockstep.Tick) bool {
	scores := make([]likeness, len(r.suspects))
	for i, s := range r.suspects {
		b, err := change(r, s, from)
		if err != nil {
			return false
		}
		if b != nil {
			scores[i] = r.likeness(b)
		}
	}
	for i, s := range r.suspects {
		for k, part := range scores[i] {
			s.alike[k] = max(s.alike[k], part)
		}
	}
	return true
}

// likeness compares what differs in a state with what differs on the wrong side.
func (r *ranking) likeness(b []byte) likeness {
	l, err := newListing(r.schema, r.again.state(r.bad), b, maxRanked)
	if err != nil {
		return likeness{}
	}
	kinds, fields, values := 0, 0, 0
	differ := diff.Kinds(l.fields.List)
	for k := range r.differ { // the order does not matter
		if differ[k] > 0 {
			kinds++
		}
	}
	for _, d := range l.fields.List {
		if wrong, ok := r.values[d.Path]; ok {
			fields++
			if wrong == d.B {
				values++
			}
		}
	}
	all := float64(len(r.values) + len(l.fields.List) - fields)
	return likeness{float64(kinds) / float64(len(r.differ)+len(differ)-kinds), float64(fields) / all, float64(values) / all}
}

// influences changes samples after some of the ticks, and counts the samples of other suspects that each changes soon.
func (r *ranking) influences() error {
	n := min(r.bad-r.good, maxMoments)
	for i := range n {
		t := r.bad - 1 - i*(r.bad-r.good)/n
		for _, s := range r.suspects {
			for _, x := range s.few() {
				if err := r.influence(s, x, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// few returns the samples of a suspect that are changed alone.
func (s *suspect) few() []*sample { return s.samples[:min(len(s.samples), perSuspect)] }

// influence changes a sample of a suspect after a tick.
func (r *ranking) influence(s *suspect, x *sample, t lockstep.Tick) error {
	changed := r.changed(x, r.again.state(t))
	if changed == nil {
		return nil
	}
	until := min(t+horizon, r.bad)
	b, err := r.play(&variation{from: t, state: changed}, until, nil)
	if err != nil || b == nil {
		return err
	}
	right := r.again.state(until)
	for _, other := range r.suspects {
		if other == s {
			continue
		}
		for _, o := range other.few() {
			if !o.equal(r.schema, b, right) {
				x.causes++
				o.caused++
			}
		}
	}
	return nil
}

// equal reports whether a sample is the same in two states.
func (s *sample) equal(schema *state.Schema, a, b []byte) bool {
	if s.field != nil {
		return s.field.Same(a, b)
	}
	if s.ranks != nil {
		return s.list.SameOrder(schema, a, b)
	}
	return s.list.Has(schema, a, s.id) == s.list.Has(schema, b, s.id)
}

// share returns how much of what a suspect has to do with others is done to it. Nothing known is a half.
func (s *suspect) share() (sum float64) {
	few := s.few()
	for _, x := range few {
		sum += float64(x.caused+1) / float64(x.caused+x.causes+2) / float64(len(few))
	}
	return sum
}

func (r *ranking) choose(l []state.Difference) {
	lists := diff.ListsOf(r.schema)
	known := make(map[string]*suspect) // only looked up
	right := r.again.state(r.bad)
	for i := range l {
		node, s := r.orderOf(lists, i)
		if s == nil {
			node, s = r.sample(lists, right, l[i].Path)
		}
		switch {
		case s == nil:
			continue
		case known[node] == nil && len(r.suspects) < maxTried:
			known[node] = &suspect{node: node}
			r.suspects = append(r.suspects, known[node])
		}
		if x := known[node]; x != nil && len(x.samples) < maxTried {
			s.at = i
			x.samples = append(x.samples, s)
		}
	}
}

func (r *ranking) orderOf(lists []diff.List, i int) (string, *sample) {
	if i >= len(r.orders) {
		return "", nil
	}
	for _, l := range lists {
		if v, err := r.schema.Lookup(r.wrong, l.Name); err == nil && l.Name == r.orders[i].Path {
			return l.Name + " in order", &sample{list: l, ranks: l.Ranks(v)}
		}
	}
	return "", nil
}

func (r *ranking) sample(lists []diff.List, right []byte, path string) (string, *sample) {
	if w, ok := diff.Watch(r.schema, right, path); ok {
		v, ok := w.Value(right)
		if _, both := w.Value(r.wrong); !ok || !both || v.Node.Kind() >= state.String {
			return "", nil
		}
		return diff.Kind(path), &sample{field: w}
	}
	for _, l := range lists {
		if !strings.HasPrefix(path, l.Name+"[") {
			continue
		}
		if v, err := r.schema.Lookup(right, path); err == nil {
			return l.Name, &sample{list: l, id: l.IDOf(v.Bytes)}
		}
		if v, err := r.schema.Lookup(r.wrong, path); err == nil {
			return l.Name, &sample{list: l, id: l.IDOf(v.Bytes), extra: v.Bytes}
		}
	}
	return "", nil
}

// once changes samples after a tick.
func (r *ranking) once(samples []*sample, t lockstep.Tick) ([]byte, error) {
	b := slices.Clone(r.again.state(t))
	any := false
	for _, s := range samples {
		if c := r.changed(s, b); c != nil {
			b, any = c, true
		}
	}
	if !any {
		return nil, nil
	}
	return r.play(&variation{from: t, state: b}, r.bad, nil)
}

// often moves the fields of samples a little after a tick and after each that follows, so that they come to differ by what they
// do on the wrong side.
func (r *ranking) often(samples []*sample, from lockstep.Tick) ([]byte, error) {
	b := slices.Clone(r.again.state(from))
	for t := from; t < r.bad; t++ {
		for _, s := range samples {
			r.nudge(s, b, int64(r.bad-from))
		}
		next, err := r.play(&variation{from: t, state: b}, t+1, nil)
		if err != nil || next == nil {
			return nil, err
		}
		b = append(b[:0], next...)
	}
	return b, nil
}

// nudge changes a field of a state by a part of its difference.
func (r *ranking) nudge(s *sample, b []byte, parts int64) {
	if s.field == nil {
		return
	}
	v, ok := s.field.Value(b)
	if !ok {
		return
	}
	right, _ := s.field.Value(r.again.state(r.bad))
	wrong, _ := s.field.Value(r.wrong)
	if v.Node.Kind() == state.Bool {
		copy(b[v.Offset:], wrong.Bytes)
		return
	}
	shift := 64 - 8*len(v.Bytes)
	by := int64((diff.Number(wrong.Bytes)-diff.Number(right.Bytes))<<shift) >> shift
	step := by / parts
	if step == 0 {
		step = int64(cmp.Compare(by, 0))
	}
	diff.SetNumber(b[v.Offset:v.Offset+len(v.Bytes)], diff.Number(v.Bytes)+uint64(step))
}

// changed returns a state in which the sample has changed as in the final states, or nil.
func (r *ranking) changed(s *sample, begin []byte) []byte {
	if s.ranks != nil {
		return s.list.Permuted(r.schema, begin, s.ranks)
	}
	if s.field == nil {
		return s.swapped(r.schema, begin)
	}
	v, ok := s.field.Value(begin)
	if !ok {
		return nil
	}
	right, _ := s.field.Value(r.again.state(r.bad))
	wrong, _ := s.field.Value(r.wrong)
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
	v, err := schema.Lookup(begin, s.list.Name)
	if err != nil {
		return nil
	}
	changed := slices.Clone(begin)
	if s.extra != nil && !slices.Contains(s.list.IDs(v), s.id) {
		binary.LittleEndian.PutUint32(changed[v.Offset:], binary.LittleEndian.Uint32(v.Bytes)+1)
		return slices.Insert(changed, v.Offset+len(v.Bytes), s.extra...)
	}
	for e := range v.Elements() {
		if s.extra == nil && s.list.IDOf(e.Bytes) == s.id {
			shorter(changed[v.Offset:])
			return slices.Delete(changed, e.Offset, e.Offset+len(e.Bytes))
		}
	}
	return nil
}

// score returns how well a suspect accounts for all that differs. Where several do as well, the one with more fields that differ is
// likelier, as a wrong rule writes many, and the one on which the others have less influence.
func (r *ranking) score(s *suspect) float64 {
	all := 0
	for _, n := range r.differ { // the order does not matter
		all += n
	}
	return s.alike[0]/2 + s.alike[1]/4 + s.alike[2]/4 + 0.3*(float64(r.differ[s.node])/float64(all)-s.share())
}

// lead is by how much the score of the first suspect must be above another one's to tell which was first.
const lead = 0.2

// rivals returns the suspects of which nothing tells that they were not first, but for the first one.
func (r *ranking) rivals() (all []string) {
	slices.SortStableFunc(r.suspects, func(a, b *suspect) int { return cmp.Compare(r.score(b), r.score(a)) })
	for _, s := range r.suspects[1:] {
		if r.score(s) > r.score(r.suspects[0])-lead {
			all = append(all, s.node)
		}
	}
	return all
}

// order orders all fields by the scores of their suspects.
func (r *ranking) order(l []state.Difference) []int {
	scores := make([]float64, len(l))
	all := make([]int, len(l))
	for i := range l {
		all[i], scores[i] = i, -1 // last, if it is of no suspect
	}
	for _, s := range r.suspects {
		score := r.score(s)
		for _, x := range s.samples {
			scores[x.at] = score
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return all
}

// A listing has the fields in which a right and a wrong state of one tick differ.
type listing struct {
	*diff.Alignment
	fields state.Differences // up to a limit
	places state.Places
	ranked bool     // they are in the order of cause
	rivals []string // fields of the schema that may have been first, too
}

// newListing compares two states, and lists at most limit fields. The error says which of the states is invalid.
// The paths have indexes until [alignment.named] names the elements.
func newListing(s *state.Schema, right, wrong []byte, limit int) (*listing, error) {
	a, err := diff.Align(s, right, wrong)
	if err != nil {
		if _, other := s.DiffPlacesAt("", right, wrong); other != nil {
			err = other // it says which
		}
		return nil, err
	}
	l := &listing{Alignment: a}
	l.fields, l.places, err = a.Differences("", limit)
	return l, err
}

// byCause orders the fields by cause: those that no other one accounts for come first. The tester has the states from tick
// good, at which both sides are equal, to that of the listing. It takes a quarter of the tester's time.
func (l *listing) byCause(p *tester, good, t lockstep.Tick) {
	if good = max(good, p.again.first); good >= t || !bytes.Equal(p.again.state(t), l.Whole[0]) {
		return
	}
	own := *p
	own.clock.end /= 4
	r := &ranking{tester: &own, schema: l.Schema, good: good, bad: t, wrong: l.Whole[1], orders: l.Orders}
	first := l.fields.List[:min(len(l.fields.List), maxRanked)]
	if order := r.rank(first); order != nil {
		l.ranked, l.rivals = true, r.rivals()
		var list []state.Difference
		for _, i := range order {
			list = append(list, first[i])
		}
		l.fields.List = append(together(list), l.fields.List[len(first):]...)
		l.places = arrangedPlaces(l.places, l.fields.List)
	}
	p.clock.ticks, p.spent = own.clock.ticks, own.spent
}

// at returns the fields at or below a path, and their places. The limit is that of the listing, or lower.
func (l *listing) at(path string, limit int) (state.Differences, state.Places, error) {
	if path == "" {
		return l.fields, l.places, nil
	}
	fields, places, err := l.Differences(path, limit)
	if err == nil && l.ranked {
		fields.List = arrangedAs(fields.List, l.fields.List)
		places = arrangedPlaces(places, fields.List)
	}
	return fields, places, err
}

// DiffStates compares two states as [state.Schema.DiffPlacesAt] does, but elements of lists by their ID: an element that
// one side lacks, or has at another index, does not make those after it differ. A list in another order is a place of its
// own. The paths are those of a. It returns the fields that differ, up to 100,000, and the places.
func DiffStates(s *state.Schema, a, b []byte, path string) (state.Differences, state.Places, error) {
	l, err := newListing(s, a, b, maxListed)
	if err != nil {
		return state.Differences{}, state.Places{}, err
	}
	return l.Named(l.at(path, maxListed))
}

// together brings the fields of each element together, where the first of them stands.
func together(list []state.Difference) []state.Difference {
	var order []string
	groups := make(map[string][]state.Difference) // only looked up
	for _, d := range list {
		e := elementOf(d.Path)
		if groups[e] == nil {
			order = append(order, e)
		}
		groups[e] = append(groups[e], d)
	}
	all := make([]state.Difference, 0, len(list))
	for _, e := range order {
		all = append(all, groups[e]...)
	}
	return all
}

// elementOf returns the element of an outermost list that a path names a part of, or the section.
func elementOf(path string) string {
	section, element, _ := diff.FoldedPath(path)
	return cmp.Or(element, section)
}

// arrangedAs returns a list in the order in which its paths are in another one.
func arrangedAs(list, all []state.Difference) []state.Difference {
	at := make(map[string]int, len(all)) // only looked up
	for i, d := range all {
		at[d.Path] = i + 1
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b state.Difference) int {
		return cmp.Compare(cmp.Or(at[a.Path], len(all)+1), cmp.Or(at[b.Path], len(all)+1))
	})
	return order
}

// arrangedPlaces orders places by the first field of each in a list. That field, and its element, are then the first of the
// place.
func arrangedPlaces(p state.Places, all []state.Difference) state.Places {
	left := slices.Clone(p.List)
	ordered := []state.Place{}
	for i, d := range all {
		k := slices.IndexFunc(left, func(g state.Place) bool { return holds(&g, d.Path) })
		if k < 0 {
			continue
		}
		g := left[k]
		left = slices.Delete(left, k, k+1)
		if g.First = d; g.Element != "" && !g.Order && !byID(g.Element) {
			g.Element, g.Fields = elementOf(d.Path), 0
			for _, o := range all[i:] {
				if elementOf(o.Path) == g.Element {
					g.Fields++
				}
			}
		}
		ordered = append(ordered, g)
	}
	return state.Places{List: append(ordered, left...), Total: p.Total}
}

// holds reports whether a path is one of those that a place groups.
func holds(g *state.Place, path string) bool {
	switch {
	case g.First.Path == path:
		return true
	case g.Order || byID(g.Element) || byID(path):
		return false
	case g.Element != "":
		return strings.HasPrefix(path, g.Path+"[")
	}
	return !strings.Contains(path, "[") && strings.HasPrefix(path, g.Path+".") // of a section
}

// byID reports whether a path names an element that one side lacks.
func byID(path string) bool { return strings.Contains(path, "=") }
