package probe

import "reflect"

// A records the value of an argument of code without probes, such as the standard library, and keeps it for the C or P after the
// call: the call may change what the argument reaches.
func A[T any](site int, v T) T {
	if On {
		D(site, v)
		keep(v)
	}
	return v
}

// K is [A] of a part of a list. It keeps the whole list.
func K[T any](site int, v T, whole any) T {
	if On {
		D(site, v)
		keep(whole)
	}
	return v
}

func keep(v any) {
	f := begin()
	defer rec.Unlock()
	k := kept{v: reflect.ValueOf(v)}
	k.before = rec.left(k.v)
	f.kept = append(f.kept, k)
}

// C records what the latest n kept arguments reach after a call that has the result v, and returns v.
func C[T any](site, n int, v T) T {
	if On {
		P(site, n)
	}
	return v
}

// P records what the latest n kept arguments reach after a call, and what they reached before if it is something else.
func P(site, n int) {
	f := begin()
	defer rec.Unlock()
	from := max(len(f.kept)-n, 0)
	text, before := "", ""
	for i, k := range f.kept[from:] {
		if i > 0 {
			text, before = text+", ", before+", "
		}
		text, before = text+rec.left(k.v), before+k.before
	}
	clear(f.kept[from:])
	f.kept = f.kept[:from]
	if text == before {
		f.put(site, f.entity(), clipAt(text, maxLeftText), "", false)
		return
	}
	rec.known.stale = true
	f.put(site, f.entity(), clipAt(text, maxLeftText), clipAt(before, maxLeftText), true)
}

// left returns what a value reaches as text.
func (r *recording) left(v reflect.Value) string {
	if r.spawned { // others may be changing it
		r.partial++
		return "?"
	}
	most := maxReach
	if r.summed > maxReaches {
		most = smallReach
	}
	text, used := left(v, most)
	r.summed += used
	if used > most {
		r.partial++
	}
	return text
}
