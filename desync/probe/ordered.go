package probe

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"
)

// InOrder makes [Ordered] range over maps in the order of their keys. The program sets it before it compares a tick of two sides:
// rules that sort what they find in a map are then the same on both, at each probe. Where the order itself is in question, it
// stays as it is.
var InOrder bool

// Ordered ranges over a map. As in a loop over the map itself, an entry that was deleted meanwhile is left out.
func Ordered[M ~map[K]V, K comparable, V any](m M) iter.Seq2[K, V] {
	if !InOrder || !sortable(reflect.TypeFor[K]()) {
		return maps.All(m)
	}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int { return compare(reflect.ValueOf(a), reflect.ValueOf(b)) })
	return func(yield func(K, V) bool) {
		for _, k := range keys {
			if v, ok := m[k]; ok && !yield(k, v) {
				return
			}
		}
	}
}

// sortable reports whether the values of a type have an order. NaN, as a key, would never be found again.
func sortable(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return sortable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !sortable(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Uint64
	}
}

func compare(a, b reflect.Value) int {
	switch k := a.Kind(); {
	case k == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case k >= reflect.Int && k <= reflect.Int64:
		return cmp.Compare(a.Int(), b.Int())
	case k >= reflect.Uint && k <= reflect.Uint64:
		return cmp.Compare(a.Uint(), b.Uint())
	case k == reflect.Array:
		for i := range a.Len() {
			if n := compare(a.Index(i), b.Index(i)); n != 0 {
				return n
			}
		}
	case k == reflect.Struct:
		for i := range a.NumField() {
			if n := compare(a.Field(i), b.Field(i)); n != 0 {
				return n
			}
		}
	case a.Bool() != b.Bool():
		if a.Bool() {
			return 1
		}
		return -1
	}
	return 0
}
