package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Limits of a value's text. A hash of the rest keeps the texts of different values different.
const (
	maxText  = 160     // bytes
	maxDepth = 4       // structs and lists inside each other
	maxElems = 8       // elements of a list in words
	maxHash  = 32      // elements at each end of a list that its hash covers
	maxList  = 1 << 16 // bytes of the elements that its hash covers
)

// format returns a value as text that does not depend on addresses.
func format(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case string:
		return clip(strconv.Quote(v))
	}
	return clip(string(appendValue(nil, reflect.ValueOf(v), 0)))
}

// clip shortens a text, and keeps texts different.
func clip(s string) string { return clipAt(s, maxText) }

func clipAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "… #" + hash(s)
}

func hash(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return strconv.FormatUint(h.Sum64()>>16, 16)
}

func appendValue(b []byte, v reflect.Value, depth int) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "nil"...)
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendFloat(b, v)
	case reflect.Complex64, reflect.Complex128:
		return fmt.Appendf(b, "%x", v.Complex())
	case reflect.String:
		return strconv.AppendQuote(b, v.String())
	case reflect.Pointer:
		return appendPointer(b, v, depth)
	case reflect.Interface:
		if v.IsNil() {
			return append(b, "nil"...)
		}
		return appendValue(b, v.Elem(), depth)
	case reflect.Struct:
		return appendStruct(b, v, depth)
	case reflect.Slice, reflect.Array:
		return appendList(b, v, depth)
	case reflect.Map:
		return append(strconv.AppendInt(append(b, "map of "...), int64(v.Len()), 10), " entries"...)
	}
	switch {
	case v.IsNil():
		return append(b, "nil"...)
	case v.Kind() == reflect.Chan: // how many are inside may depend on other goroutines
		return strconv.AppendInt(append(b, "chan with room for "...), int64(v.Cap()), 10)
	}
	return append(b, v.Kind().String()...)
}

// appendFloat appends a float exactly: the shortest decimal that gives the same bits, and the bits of a NaN.
func appendFloat(b []byte, v reflect.Value) []byte {
	if f := v.Float(); f != f {
		return append(b, "NaN"...)
	}
	return strconv.AppendFloat(b, v.Float(), 'g', -1, v.Type().Bits())
}

// appendPointer names what a pointer points to, without its address.
func appendPointer(b []byte, v reflect.Value, depth int) []byte {
	if v.IsNil() {
		return append(b, "nil"...)
	}
	if e := entityOfValue(v); e != "" {
		return append(append(b, '&'), e...)
	}
	if infoOf(v.Type().Elem()).flat {
		return appendValue(append(b, '&'), v.Elem(), depth+1)
	}
	return append(append(b, '&'), v.Type().Elem().Name()...)
}

// A typeInfo is what probes ask about a type.
type typeInfo struct {
	flat   bool        // a number, a text or a small struct of those, such as a row of a table
	id     int         // the index of the integer field ID of a struct, or -1
	plain  uintptr     // the size of values that are summed as bytes, see layout; or 0
	refers bool        // its values may refer to memory that has another value
	leads  bool        // and it is not opaque
	fields []leadField // of a struct that do so
}

type leadField struct {
	index int
	*typeInfo
}

// maxFlat is how many fields a struct has whose content is told for a pointer to it.
const maxFlat = 24

// types are the types that were met; the recording's lock guards it.
var types = map[reflect.Type]*typeInfo{}

func infoOf(t reflect.Type) *typeInfo {
	x := types[t]
	if x != nil {
		return x
	}
	x = &typeInfo{id: -1}
	switch k := t.Kind(); k {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		x.refers = true
	case reflect.Array:
		x.refers = infoOf(t.Elem()).refers
	case reflect.Struct:
		x.flat = t.NumField() <= maxFlat
		for i := range t.NumField() {
			f := infoOf(t.Field(i).Type)
			x.flat, x.refers = x.flat && f.flat, x.refers || f.refers
			if f.leads {
				x.fields = append(x.fields, leadField{i, f})
			}
			if k := t.Field(i).Type.Kind(); strings.EqualFold(t.Field(i).Name, "ID") && k >= reflect.Int && k <= reflect.Uint64 {
				x.id = i
			}
		}
	default:
		x.flat = k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Float64
	}
	x.leads = x.refers && !opaque(t)
	x.plain, _ = layout(t)
	types[t] = x
	return x
}

// layout returns the size of a type whose values have the same bytes on every platform with this order of bytes, and how they are aligned:
// numbers of a fixed size, and structs and arrays of them that have no gaps even where a number is aligned to its size. It is 0 for other types.
func layout(t reflect.Type) (size, align uintptr) {
	switch k := t.Kind(); k {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return t.Size(), t.Size()
	case reflect.Array:
		size, align = layout(t.Elem())
		return size * uintptr(t.Len()), align
	case reflect.Struct:
		for i := range t.NumField() {
			s, a := layout(t.Field(i).Type)
			if s == 0 || size%a != 0 {
				return 0, 0
			}
			size, align = size+s, max(align, a)
		}
		if align > 0 && size%align == 0 && size == t.Size() {
			return size, align
		}
	}
	return 0, 0
}

// opaque reports whether the content of a type is none of the game's: it has clocks, locks or the engine in it.
func opaque(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() != "" && Opaque(t.PkgPath(), t.Name())
}

// Opaque reports whether a type of a package is not looked into.
func Opaque(pkg, name string) bool {
	switch pkg {
	case "github.com/seed-49bee653/samestep/lockstep":
		return slices.Contains([]string{"Turn", "Simulation", "Game", "Viewer"}, name)
	case "time":
		return slices.Contains([]string{"Location", "Timer", "Ticker"}, name)
	}
	return slices.Contains([]string{"context", "log", "log/slog", "os", "reflect", "runtime", "sync", "testing"}, pkg)
}

func appendStruct(b []byte, v reflect.Value, depth int) []byte {
	if depth >= maxDepth {
		return append(b, "{…}"...)
	}
	t := v.Type()
	b = append(b, '{')
	for i := range t.NumField() {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, t.Field(i).Name...), ':')
		b = appendValue(b, v.Field(i), depth+1)
	}
	return append(b, '}')
}

// appendList appends the elements of a short list, and the length and a hash of a long one.
func appendList(b []byte, v reflect.Value, depth int) []byte {
	n := v.Len()
	if depth >= maxDepth {
		return append(strconv.AppendInt(append(b, '['), int64(n), 10), ']')
	}
	var list []byte
	for i := range n {
		if i == maxHash && n > 2*maxHash {
			list = append(list, " …"...)
		}
		if i >= maxHash && i < n-maxHash {
			continue
		}
		if i > 0 {
			list = append(list, ' ')
		}
		if list = appendValue(list, v.Index(i), depth+1); len(list) > maxList {
			break
		}
	}
	if n <= maxElems && len(list) < maxText {
		return append(append(append(b, '['), list...), ']')
	}
	return append(strconv.AppendInt(b, int64(n), 10), " elements #"+hash(string(list))...)
}

// entityOf names the element that v is or points to, such as "Unit 12". It returns "" for a value without an ID.
func entityOf(v any) string {
	switch v.(type) {
	case nil, bool, int, string:
		return ""
	}
	return entityOfValue(reflect.ValueOf(v))
}

func entityOfValue(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return ""
	}
	i := infoOf(v.Type()).id
	if i < 0 {
		return ""
	}
	b := append([]byte(v.Type().Name()), ' ')
	return string(appendValue(b, v.Field(i), 0))
}

// An Event is one entry of a recording.
type Event struct {
	Flow   uint64 // 0: the goroutine that called Step
	Site   int
	Depth  int    // 1 for what Step itself does
	Entity string // such as "Unit 12"; "" for none
	Value  string
	Old    string // before the assignment, if Replaces
	// Replaces says that the event is an assignment whose variable had a value before.
	Replaces bool
}

// A Reader reads the events of a recording.
type Reader struct{ in *bufio.Reader }

// NewReader returns a Reader of a recording.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 1<<16)} }

// ErrRecording is wrapped by the errors of a recording that is cut short or no recording.
var ErrRecording = errors.New("probe: incomplete recording")

// Next returns the next event, or [io.EOF] at the end.
func (r *Reader) Next() (e Event, err error) {
	e.Flow, err = binary.ReadUvarint(r.in)
	if err == io.EOF {
		return e, io.EOF
	}
	var n [3]uint64
	for i := range n {
		if err == nil {
			n[i], err = binary.ReadUvarint(r.in)
		}
	}
	e.Site, e.Depth, e.Replaces = int(n[0]), int(n[1]), n[2]&1 != 0
	texts := []*string{&e.Entity, &e.Value, &e.Old}
	if !e.Replaces {
		texts = texts[:2]
	}
	for _, t := range texts {
		if err == nil {
			*t, err = r.text()
		}
	}
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrRecording, err)
	}
	return e, nil
}

const maxEventText = 1 << 16

func (r *Reader) text() (string, error) {
	n, err := binary.ReadUvarint(r.in)
	if err != nil || n == 0 {
		return "", err
	}
	if n > maxEventText {
		return "", fmt.Errorf("got a text of %d bytes, want at most %d", n, maxEventText)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r.in, b)
	return string(b), err
}
