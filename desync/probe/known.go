package probe

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// outside is behind the text of a pointer or a list that is not in the state: a copy, which looks like the original.
const outside = " outside the state"

// Outside cuts the mark of what is not in the state off a value's text.
func Outside(text string) (rest string, is bool) {
	if n := len(text) - len(outside); n >= 0 && text[n:] == outside {
		return text[:n], true
	}
	return text, false
}

// Limits of the places that are kept.
const (
	maxSpans = 1 << 16 // of one look at the state
	maxLooks = 1 << 24 // values in all looks of a recording
)

// A span is a part of the memory that the state has.
type span struct {
	from, to uintptr
	keep     unsafe.Pointer // so that nothing else gets this memory
}

// known is where the state is in memory.
type known struct {
	root  reflect.Value   // a pointer to the state; the zero Value if it is not known
	spans []span          // in order, none beside another
	seen  map[target]bool // pointers in this look
	stale bool            // lists may have been made anew since
	looks int             // values so far
	off   bool            // the state has too many parts, or changes too often
}

// has reports whether an address is in the state.
func (k *known) has(address uintptr) bool {
	if k.stale {
		k.look()
	}
	i, _ := slices.BinarySearchFunc(k.spans, address, func(s span, a uintptr) int {
		if s.to <= a {
			return -1
		}
		return 1
	})
	return i < len(k.spans) && k.spans[i].from <= address
}

// look finds the parts of the state.
func (k *known) look() {
	k.spans, k.stale, k.seen = k.spans[:0], false, map[target]bool{}
	k.add(k.root)
	k.seen = nil
	if k.looks > maxLooks || len(k.spans) > maxSpans {
		k.off = true
		return
	}
	slices.SortFunc(k.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	n := 0
	for _, s := range k.spans {
		if n > 0 && s.from <= k.spans[n-1].to {
			k.spans[n-1].to = max(k.spans[n-1].to, s.to)
			continue
		}
		k.spans[n] = s
		n++
	}
	clear(k.spans[n:])
	k.spans = k.spans[:n]
}

// add adds what a value refers to.
func (k *known) add(v reflect.Value) {
	if l := leads(v.Type()); l.anywhere {
		k.follow(v, l)
	}
}

// follow is add for a value whose type leads somewhere.
func (k *known) follow(v reflect.Value, l *lead) {
	if k.looks++; k.looks > maxLooks || len(k.spans) > maxSpans {
		return
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer:
		if at := (target{v.Pointer(), t}); !v.IsNil() && !k.seen[at] {
			k.seen[at] = true
			k.span(v.UnsafePointer(), t.Elem().Size())
			k.add(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			k.add(v.Elem())
		}
	case reflect.Slice:
		if v.Len() > 0 {
			k.span(v.UnsafePointer(), uintptr(v.Len())*t.Elem().Size())
		}
		fallthrough
	case reflect.Array:
		if l.elem == nil {
			l.elem = leads(t.Elem())
		}
		for i := 0; l.elem.anywhere && i < v.Len(); i++ {
			k.follow(v.Index(i), l.elem)
		}
	case reflect.Struct:
		for _, f := range l.fields {
			k.follow(v.Field(f.index), f.lead)
		}
	case reflect.Map:
		for i, l := v.MapRange(), leads(t.Elem()); l.anywhere && i.Next(); {
			k.follow(i.Value(), l)
		}
	}
}

// A lead says where a value of a type leads.
type lead struct {
	anywhere bool
	fields   []leadField // of a struct that do
	elem     *lead       // of a list; nil until it is needed
}

type leadField struct {
	index int
	*lead
}

// leading caches leads; the recording's lock guards it.
var leading = map[reflect.Type]*lead{}

// leads returns where a value of a type leads: it refers to memory that has another value, and is not opaque.
func leads(t reflect.Type) *lead {
	l := leading[t]
	if l == nil {
		l = &lead{anywhere: refers(t) && !opaque(t)}
		for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
			if f := leads(t.Field(i).Type); f.anywhere {
				l.fields = append(l.fields, leadField{i, f})
			}
		}
		leading[t] = l
	}
	return l
}

// span adds a part of the memory, unless it is in the one before.
func (k *known) span(at unsafe.Pointer, size uintptr) {
	from := uintptr(at)
	if n := len(k.spans); n > 0 && k.spans[n-1].from <= from && from+size <= k.spans[n-1].to {
		return
	}
	k.spans = append(k.spans, span{from, from + size, at})
}

// refering caches refers; the recording's lock guards it.
var refering = map[reflect.Type]bool{}

// refers reports whether a value of a type may refer to memory that has another value.
func refers(t reflect.Type) bool {
	is, ok := refering[t]
	if ok {
		return is
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		is = true
	case reflect.Array:
		is = refers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			is = is || refers(t.Field(i).Type)
		}
	}
	refering[t] = is
	return is
}

// mark returns the mark of a value that is a pointer or a list, and in the memory of something else than the state.
func (k *known) mark(v reflect.Value) string {
	if !k.root.IsValid() || k.off {
		return ""
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Size() == 0 || opaque(v.Type()) {
			return ""
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Size() == 0 {
			return ""
		}
	default:
		return ""
	}
	if k.has(v.Pointer()) || k.off {
		return ""
	}
	return outside
}
