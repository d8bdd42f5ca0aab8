// Package ids has collections that are ordered by stable ids: an element keeps its id for the whole match, and no id is used
// twice. The order is that of the ids, so a loop over the elements is the same on every machine, as one over a map is not.
//
//	type World struct {
//		Units ids.Table[Unit] // plain data for the state
//	}
//
//	id := w.Units.Add(Unit{Health: 10})
//	if u := w.Units.Get(target); u != nil { // nil once it is removed
//		u.Health--
//	}
//	for i := range w.Units.Items {
//		w.Units.Items[i].act()
//	}
//	w.Units.Keep(func(_ ids.ID, u *Unit) bool { return u.Health > 0 }) // at the end of the tick
//
// [Find] serves games whose elements contain their ids.
//
//samestep:deterministic
package ids
