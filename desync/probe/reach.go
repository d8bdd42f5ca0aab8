package probe

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// Limits of what is summed of what a call reaches.
const (
	maxReach    = 1 << 14 // values for one call
	maxReaches  = 1 << 27 // values in one recording; then each call has smallReach
	smallReach  = 1 << 8
	maxLeftText = 400 // bytes of the text of what a call leaves
)

// left returns what a value reaches as text: its content, and a sum unless the text has all of it. used is how many values it has
// looked at, of at most so many; more if it reaches more.
func left(v reflect.Value, most int) (text string, used int) {
	var b []byte
	target := v
	for target.IsValid() && (target.Kind() == reflect.Pointer || target.Kind() == reflect.Interface) && !target.IsNil() {
		target = target.Elem()
	}
	if target != v {
		b = append(b, '&')
	}
	if !target.IsValid() || opaque(target.Type()) {
		return string(append(b, "nil"...)), 0
	}
	if whole(target) {
		return string(appendValue(b, target, 0)), 1
	}
	b = appendShape(b, target, 0)
	s := summer{left: most}
	s.add(target)
	return string(append(append(b, " #"...), strconv.FormatUint(s.hash, 36)...)), most - s.left
}

// whole reports whether the text of a value has all that it reaches.
func whole(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Array {
		return v.Len() <= maxElems && infoOf(v.Type().Elem()).flat
	}
	return infoOf(v.Type()).flat
}

// appendShape appends what is short in a value whose sum follows.
func appendShape(b []byte, v reflect.Value, depth int) []byte {
	switch k := v.Kind(); {
	case k == reflect.Struct && depth < maxDepth && !opaque(v.Type()):
		b = append(b, '{')
		for i := range v.NumField() {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(append(b, v.Type().Field(i).Name...), ':')
			b = appendShape(b, v.Field(i), depth+1)
		}
		return append(b, '}')
	case (k == reflect.Slice || k == reflect.Array) && !whole(v):
		return append(strconv.AppendInt(b, int64(v.Len()), 10), " elements"...)
	case k == reflect.Interface && !v.IsNil():
		return append(b, v.Elem().Type().String()...)
	case k == reflect.Struct:
		return append(b, "{…}"...)
	}
	return appendValue(b, v, depth)
}

// A summer sums what a value reaches, in an order that does not depend on addresses.
type summer struct {
	hash uint64
	left int // values; below 0 if there were more
	seen map[target]uint64
	up   *summer // of the map that this is an entry of
}

// A target is what a pointer points to.
type target struct {
	address uintptr
	t       reflect.Type
}

func (s *summer) mix(x uint64) {
	s.hash = (s.hash ^ x ^ 0x2545f4914f6cdd1d) * 0x9e3779b97f4a7c15
	s.hash ^= s.hash >> 29
}

func (s *summer) text(x string) {
	s.mix(uint64(len(x)))
	for i := 0; i < len(x); i++ {
		s.mix(uint64(x[i]))
	}
	s.left -= len(x) / 8
}

func (s *summer) add(v reflect.Value) {
	if s.left--; s.left < 0 {
		return
	}
	switch k := v.Kind(); k {
	case reflect.Bool:
		s.mix(uint64(len(strconv.FormatBool(v.Bool()))))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.mix(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.mix(v.Uint())
	case reflect.Float32, reflect.Float64:
		s.mix(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		s.mix(math.Float64bits(real(v.Complex())))
		s.mix(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		s.text(v.String())
	case reflect.Slice, reflect.Array:
		s.mix(uint64(v.Len()))
		if v.Len() > 0 && infoOf(v.Type().Elem()).plain > 0 {
			s.bytes(v)
			return
		}
		for i := 0; i < v.Len() && s.left >= 0; i++ {
			s.add(v.Index(i))
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && !opaque(v.Type()); i++ {
			s.add(v.Field(i))
		}
	case reflect.Pointer, reflect.Interface, reflect.Map:
		s.refer(v)
	case reflect.Chan, reflect.Func:
		s.mix(uint64(len(strconv.FormatBool(v.IsNil()))))
	}
}

// bytes adds a list of plain values as they are in memory, low digits first.
func (s *summer) bytes(v reflect.Value) {
	size := v.Len() * int(infoOf(v.Type().Elem()).plain)
	s.left -= size / 64
	if s.left < 0 {
		return
	}
	var b []byte
	switch {
	case !littleEndian || v.Kind() == reflect.Array && !v.CanAddr():
		b = appendPlain(nil, v)
	case v.Kind() == reflect.Array:
		b = unsafe.Slice((*byte)(unsafe.Pointer(v.UnsafeAddr())), size)
	default:
		b = unsafe.Slice((*byte)(v.UnsafePointer()), size)
	}
	for ; len(b) >= 8; b = b[8:] {
		s.mix(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		s.mix(uint64(c))
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func appendPlain(b []byte, v reflect.Value) []byte {
	switch k := v.Kind(); k {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			b = appendPlain(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendPlain(b, v.Field(i))
		}
		return b
	}
	var x uint64
	switch {
	case v.CanInt():
		x = uint64(v.Int())
	case v.CanUint():
		x = v.Uint()
	case v.Kind() == reflect.Float32:
		x = uint64(math.Float32bits(float32(v.Float())))
	case v.CanFloat():
		x = math.Float64bits(v.Float())
	case v.Bool():
		x = 1
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], x)
	return append(b, all[:v.Type().Size()]...)
}

// refer adds what a pointer, an interface or a map refers to.
func (s *summer) refer(v reflect.Value) {
	if v.IsNil() {
		s.mix(0)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		s.text(v.Elem().Type().String())
		s.add(v.Elem())
	case reflect.Pointer:
		at := target{v.Pointer(), v.Type()}
		if s.seen == nil {
			s.seen = map[target]uint64{}
		}
		for x := s; x != nil; x = x.up {
			if n := x.seen[at]; n > 0 {
				s.mix(n)
				return
			}
		}
		if opaque(v.Type()) {
			return
		}
		s.seen[at] = uint64(len(s.seen)) + 1
		s.add(v.Elem())
	case reflect.Map:
		// Each entry has a sum of its own, and an equal share of what is left: the order does not matter.
		s.mix(uint64(v.Len()))
		share, total := s.left/max(v.Len(), 1), uint64(0)
		if share < 4 {
			s.left = -1
			return
		}
		for i := v.MapRange(); i.Next(); {
			one := summer{left: share, up: s}
			one.add(i.Key())
			one.add(i.Value())
			total += one.hash
			if one.left < 0 {
				s.left = -1 << 20 // whatever the others use
			}
			s.left -= share - max(one.left, 0)
		}
		s.mix(total)
	}
}
