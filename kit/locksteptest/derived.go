package locksteptest

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// A derivedDiff finds the first derived field that differs between two states of one type. Derived fields may have any type.
type derivedDiff struct {
	only  string                     // the derived field that is compared, as the game names it
	seen  map[[2]unsafe.Pointer]bool // pairs of pointers, which may form cycles
	found string                     // such as "Sums[2]: got 1, want 2"
}

// elements are the indexes in a path.
var elements = regexp.MustCompile(`\[\d+\]`)

const maxShown = 100 // bytes of a value in a message

// values compares two values of one type. Outside of derived fields it only looks for these.
func (d *derivedDiff) values(path string, got, want reflect.Value, derived bool) {
	if d.found != "" || len(path) > 1000 {
		return
	}
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			f := got.Type().Field(i)
			in, own := join(path, f.Name), f.Tag.Get("state") == "derived"
			if own && !derived && elements.ReplaceAllString(in, "[]") != d.only {
				continue
			}
			d.values(in, got.Field(i), want.Field(i), derived || own)
		}
	case reflect.Slice, reflect.Array:
		d.elements(path, got, want, derived)
	case reflect.Pointer, reflect.Interface:
		d.pointed(path, got, want, derived)
	case reflect.Map:
		d.maps(path, got, want)
	default:
		if derived && !equalScalars(got, want) {
			d.differ(path, got, want)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *derivedDiff) differ(path string, got, want any) {
	if d.found == "" {
		d.found = fmt.Sprintf("%s: got %s, want %s", path, shown(got), shown(want))
	}
}

func shown(v any) string {
	text := oneLine(fmt.Sprint(v))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// elements compares two lists. A nil slice equals an empty one.
func (d *derivedDiff) elements(path string, got, want reflect.Value, derived bool) {
	if got.Len() != want.Len() {
		d.differ(path, fmt.Sprintf("%d elements", got.Len()), fmt.Sprintf("%d", want.Len()))
		return
	}
	for i := range got.Len() {
		d.values(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i), derived)
	}
}

// pointed compares what two pointers or interfaces of a derived field refer to.
func (d *derivedDiff) pointed(path string, got, want reflect.Value, derived bool) {
	switch {
	case got.IsNil() && want.IsNil():
		return
	case got.IsNil() || want.IsNil() || got.Elem().Type() != want.Elem().Type():
		d.differ(path, got, want)
		return
	}
	if got.Kind() == reflect.Pointer {
		pair := [2]unsafe.Pointer{got.UnsafePointer(), want.UnsafePointer()}
		if d.seen[pair] {
			return
		}
		d.seen[pair] = true
	}
	d.values(path, got.Elem(), want.Elem(), derived)
}

// maps compares two maps, which only derived fields may have, in the order of their printed keys.
func (d *derivedDiff) maps(path string, got, want reflect.Value) {
	if got.Len() != want.Len() {
		d.differ(path, fmt.Sprintf("%d entries", got.Len()), fmt.Sprintf("%d", want.Len()))
		return
	}
	keys := got.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		in := fmt.Sprintf("%s[%v]", path, k)
		if w := want.MapIndex(k); w.IsValid() {
			d.values(in, got.MapIndex(k), w, true)
		} else if k.Kind() != reflect.Pointer { // each machine has its own pointers
			d.differ(in, got.MapIndex(k), "no such entry")
		}
	}
}

// equalScalars compares numbers, booleans and strings. Functions and channels are equal: they have no value to compare.
func equalScalars(a, b reflect.Value) bool {
	switch {
	case a.Kind() == reflect.Bool:
		return a.Bool() == b.Bool()
	case a.CanInt():
		return a.Int() == b.Int()
	case a.CanUint():
		return a.Uint() == b.Uint()
	case a.CanFloat():
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case a.CanComplex():
		return a.Complex() == b.Complex()
	case a.Kind() == reflect.String:
		return a.String() == b.String()
	}
	return true
}
