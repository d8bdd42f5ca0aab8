package probe

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Variable is a variable of a package, with its value in parts.
type Variable struct {
	Name  string // with the path of the package
	Parts []Part // in order; the last one has a hash of what is beyond the limit
}

// A Part is a number, a text, a function or a channel in a value.
type Part struct {
	Path  string // such as "[3].Cost"; "" for the whole
	Value string
}

// Limits of a variable's parts.
const (
	maxParts  = 4096
	maxLooked = 1 << 18 // values of one variable that are looked at
	maxInside = 16      // values inside each other
)

// data are the variables by name.
var data = map[string]any{}

// Data adds a variable of a package: a pointer to it. Woven packages do so before the match.
func Data(name string, pointer any) { data[name] = pointer }

// Variables returns the variables by name, with their values of now. Unlike a value of an event, a value is told with all that it
// points to.
func Variables() (all []Variable) {
	rec.Lock()
	defer rec.Unlock()
	for name, pointer := range data {
		w := walk{seen: map[target]bool{}}
		w.value("", reflect.ValueOf(pointer).Elem(), 0)
		if len(w.rest) > 0 {
			w.parts = append(w.parts, Part{"…", "#" + hash(string(w.rest))})
		}
		all = append(all, Variable{name, w.parts})
	}
	slices.SortFunc(all, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A walk goes through a value.
type walk struct {
	parts  []Part
	rest   []byte // hashes of the parts beyond the limit
	seen   map[target]bool
	looked int
}

// part adds a part, or its hash.
func (w *walk) part(path, value string) {
	if len(w.parts) < maxParts {
		w.parts = append(w.parts, Part{path, clip(value)})
		return
	}
	w.rest = append(w.rest[:0], hash(string(w.rest)+path+value)...)
}

// value adds the parts of a value. Addresses are no parts.
func (w *walk) value(path string, v reflect.Value, depth int) {
	if w.looked++; w.looked > maxLooked || depth > maxInside {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			w.part(path, "nil")
		} else if v.Kind() == reflect.Interface || w.first(v.Pointer(), v.Type()) {
			w.value(path, v.Elem(), depth+1)
		}
	case reflect.Struct:
		if slices.Contains([]string{"sync", "sync/atomic", "reflect", "runtime", "internal/abi", "internal/sync"}, v.Type().PkgPath()) {
			return
		}
		for i := range v.NumField() {
			w.value(path+"."+v.Type().Field(i).Name, v.Field(i), depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.part(path, strconv.Quote(string(v.Bytes())))
			return
		}
		w.part(path, strconv.Itoa(v.Len())+" elements")
		if v.Len() > 0 && w.first(v.Pointer(), v.Type()) {
			w.list(path, v, depth)
		}
	case reflect.Array:
		w.list(path, v, depth)
	case reflect.Map:
		w.entries(path, v, depth)
	case reflect.Func:
		w.part(path, functionName(v))
	case reflect.Chan:
		if v.IsNil() {
			w.part(path, "nil")
		} else {
			w.part(path, fmt.Sprintf("%s, %d inside", appendValue(nil, v, 0), v.Len()))
		}
	case reflect.Uintptr, reflect.UnsafePointer:
	default:
		w.part(path, string(appendValue(nil, v, 0)))
	}
}

// first reports whether something is met for the first time.
func (w *walk) first(at uintptr, t reflect.Type) bool {
	old := w.seen[target{at, t}]
	w.seen[target{at, t}] = true
	return !old
}

func (w *walk) list(path string, v reflect.Value, depth int) {
	for i := range v.Len() {
		w.value(path+"["+strconv.Itoa(i)+"]", v.Index(i), depth+1)
	}
}

// entries adds the entries of a map in the order of their keys' texts.
func (w *walk) entries(path string, v reflect.Value, depth int) {
	w.part(path, strconv.Itoa(v.Len())+" entries")
	texts, values := []string(nil), map[string]reflect.Value{}
	for i := v.MapRange(); i.Next() && len(texts) < maxLooked; {
		text := clip(string(appendValue(nil, i.Key(), 0)))
		texts, values[text] = append(texts, text), i.Value()
	}
	slices.Sort(texts)
	for _, text := range texts {
		w.value(path+"["+text+"]", values[text], depth+1)
	}
}

// functionName names a function, as the program's symbols do.
func functionName(v reflect.Value) string {
	if v.IsNil() {
		return "nil"
	}
	if f := runtime.FuncForPC(v.Pointer()); f != nil {
		return f.Name()
	}
	return "func"
}

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
