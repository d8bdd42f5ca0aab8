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

// An ID names an element of a table for the whole match. 0 names none.
type ID uint32

// A Table has elements in the order of their ids. It is plain data for the state, and an empty one is ready to use. IDs and
// Items have the same length: element Items[i] has the id IDs[i]. Change the lengths only with the methods.
type Table[T any] struct {
	Last  ID // the last id that was given
	IDs   []ID
	Items []T
}

// Add appends an element and returns its id, one after the last; 0 after 2^32-1 elements. It invalidates the pointers of [Table.Get].
func (t *Table[T]) Add(item T) ID {
	if t.Last == 1<<32-1 {
		return 0
	}
	t.Last++
	t.IDs, t.Items = append(t.IDs, t.Last), append(t.Items, item)
	return t.Last
}

// Index returns the index of an element, or -1.
func (t *Table[T]) Index(id ID) int {
	if i := Find(t.IDs, id); i < len(t.Items) {
		return i
	}
	return -1 // the lengths differ: not the work of the methods
}

// Get returns an element, or nil. The pointer is valid until an element is added or removed.
func (t *Table[T]) Get(id ID) *T {
	if i := t.Index(id); i >= 0 {
		return &t.Items[i]
	}
	return nil
}

// Remove removes an element and reports whether there was one. Use [Table.Keep] to remove many: each call moves all later elements.
func (t *Table[T]) Remove(id ID) bool {
	i := t.Index(id)
	if i < 0 {
		return false
	}
	t.IDs = append(t.IDs[:i], t.IDs[i+1:]...)
	t.Items = append(t.Items[:i], t.Items[i+1:]...)
	return true
}

// Keep removes the elements for which keep is false. It calls keep once for each element, in order.
func (t *Table[T]) Keep(keep func(id ID, item *T) bool) {
	kept := 0
	for i := range min(len(t.IDs), len(t.Items)) {
		if !keep(t.IDs[i], &t.Items[i]) {
			continue
		}
		if kept != i {
			t.IDs[kept], t.Items[kept] = t.IDs[i], t.Items[i]
		}
		kept++
	}
	t.IDs, t.Items = t.IDs[:kept], t.Items[:kept]
}

// Find returns the index of an id in a list that ascends, or -1, in constant time while few ids are missing, and by binary search at worst.
func Find[I ~uint32](list []I, id I) int {
	last := len(list) - 1
	if last < 0 || id < list[0] || id > list[last] {
		return -1
	}
	high := min(int64(id-list[0]), int64(last))               // the index if no id before it is missing
	low := max(high-int64(list[last]-list[0])+int64(last), 0) // the index if all missing ids are before it
	for low < high {
		if half := (low + high) / 2; list[half] < id {
			low = half + 1
		} else {
			high = half
		}
	}
	if list[low] == id {
		return int(low)
	}
	return -1
}
