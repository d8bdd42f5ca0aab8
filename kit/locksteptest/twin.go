package locksteptest

import (
	"bytes"
	"reflect"
	"slices"
	"unsafe"

	"github.com/seed-49bee653/samestep/lockstep"
)

const maxTwins = 1000 // cold twins of a match

// coldTwin restores the state before each tick on a new machine, which then steps once. In a match of more than maxTwins
// ticks, it restores the state every few ticks, and each twin steps until the next one.
func (r *trial) coldTwin() {
	every := (r.options.Ticks + maxTwins - 1) / maxTwins
	for r.from = 0; r.from < r.options.Ticks && r.err == nil; r.from += every {
		sim, err := r.game.AwaitState(r.header)
		if r.ok(r.from, err) {
			r.restoreTo(sim, r.from)
			r.goOn(sim, r.from+every, sim.Step)
		}
		if f, ok := r.err.(*Failure); ok {
			f.Stale = r.stale(f.Tick)
		}
	}
}

// stale returns the derived field that decides, with both values: the first at which the match and a restored copy differ in it,
// and without which they would not differ at tick end. It returns nothing if none decides. Derived fields may differ and be
// innocent, such as a cache that is built when somebody asks for it.
func (r *trial) stale(end lockstep.Tick) string {
	var all []string // that differ
	found := make(map[string]string)
	for _, field := range r.game.DerivedFields() {
		if live, copied := r.liveAndCopy(); live != nil {
			d := derivedDiff{only: field, seen: map[[2]unsafe.Pointer]bool{}}
			if d.values("", reflect.ValueOf(copied.AnyWorld()).Elem(), reflect.ValueOf(live.AnyWorld()).Elem(), false); d.found != "" {
				all, found[field] = append(all, field), d.found
			}
		}
	}
	if len(all) == 0 || r.decide(nil, end) { // with nothing given, the copy computes what the match does: it is something else
		return ""
	}
	for _, field := range all[:min(len(all), maxSuspects)] {
		if r.decide([]string{field}, end) {
			return found[field]
		}
	}
	if len(all) < 2 || len(all) > maxSuspects || !r.decide(all, end) {
		return ""
	}
	for i, field := range all { // they do so together: the first that cannot be left out
		if !r.decide(slices.Delete(slices.Clone(all), i, i+1), end) {
			return found[field]
		}
	}
	return found[all[0]]
}

// maxSuspects is the number of derived fields that are tried: each takes a match.
const maxSuspects = 8

// liveAndCopy returns a simulation that has come all the way to r.from, and one that was restored there; nil if that fails.
func (r *trial) liveAndCopy() (live, copied *lockstep.Simulation) {
	live, err := r.game.NewSimulation(r.header)
	for t := lockstep.Tick(0); t < r.from && err == nil; t++ {
		err = live.Step(r.frame(t))
	}
	if err != nil {
		return nil, nil
	}
	if copied, err = r.game.AwaitState(r.header); err != nil || copied.Restore(r.from, r.states[r.from]) != nil {
		return nil, nil
	}
	return live, copied
}

// decide reports whether a restored copy that is given derived fields of the match computes what the match does, up to tick end.
func (r *trial) decide(fields []string, end lockstep.Tick) bool {
	live, copied := r.liveAndCopy()
	if live == nil {
		return false
	}
	give(fields, "", reflect.ValueOf(copied.AnyWorld()).Elem(), reflect.ValueOf(live.AnyWorld()).Elem())
	for t := r.from; t < end; t++ {
		if copied.Step(r.frame(t)) != nil {
			return false
		}
	}
	return bytes.Equal(copied.AppendState(nil), r.states[end])
}

// give sets derived fields in one state to their values in another one, of which the other fields are the same.
func give(fields []string, node string, to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Struct:
		for i := range to.NumField() {
			f := to.Type().Field(i)
			name := join(node, f.Name)
			switch {
			case slices.Contains(fields, name):
				reflect.NewAt(f.Type, to.Field(i).Addr().UnsafePointer()).Elem().Set(reflect.NewAt(f.Type, from.Field(i).Addr().UnsafePointer()).Elem())
			case f.Tag.Get("state") != "derived":
				give(fields, name, to.Field(i), from.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range min(to.Len(), from.Len()) {
			give(fields, node+"[]", to.Index(i), from.Index(i))
		}
	}
}
