package recorder

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// A Schema describes the type of a game's state, and writes states in the bytes that [Recorder.State] takes. It is safe for
// concurrent use.
type Schema struct {
	of   reflect.Type
	root *node
}

// A node is a type at one place of a schema.
type node struct {
	kind   reflect.Kind
	size   int // bits of a number
	count  int // elements of an array
	elem   *node
	fields []field
}

// A field is a field of a struct.
type field struct {
	name string
	at   int // its index in the Go type
	*node
}

// SchemaOf returns the schema of a struct, or of a pointer to one. Its fields may be bool, numbers of a fixed size, strings,
// arrays, slices and structs of these, exported or not. A field that is no part of the state has the tag `recorder:"-"`.
func SchemaOf(v any) (*Schema, error) {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("recorder: schema: got %v, want a struct", t)
	}
	root, err := compile(t, t.String(), 1)
	if err != nil {
		return nil, err
	}
	return &Schema{t, root}, nil
}

func compile(t reflect.Type, path string, depth int) (*node, error) {
	n := &node{kind: t.Kind()}
	var err error
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("recorder: schema: %s: nested deeper than %d", path, maxDepth)
	case n.kind == reflect.Bool || n.kind == reflect.String:
	case n.kind >= reflect.Int8 && n.kind <= reflect.Int64, n.kind >= reflect.Uint8 && n.kind <= reflect.Uint64, n.kind == reflect.Float32 || n.kind == reflect.Float64:
		n.size = t.Bits()
	case n.kind == reflect.Array || n.kind == reflect.Slice:
		if n.kind == reflect.Array {
			n.count = t.Len()
		}
		n.elem, err = compile(t.Elem(), path+"[]", depth+1)
		return n, err
	case n.kind == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" || f.Tag.Get("recorder") == "-" {
				continue
			}
			elem, err := compile(f.Type, path+"."+f.Name, depth+1)
			if err != nil {
				return nil, err
			}
			n.fields = append(n.fields, field{f.Name, i, elem})
		}
		if len(n.fields) == 0 && depth > 1 {
			return nil, fmt.Errorf("recorder: schema: %s: got a struct without fields", path)
		}
	default:
		return nil, fmt.Errorf("recorder: schema: %s: got %v, want a bool, a number of a fixed size, a string, an array, a slice or a struct", path, t)
	}
	return n, nil
}

// String returns the schema as the header has it, such as "struct { Tick uint32; Balls []struct { X float32; Y float32 } }".
func (s *Schema) String() string {
	var b strings.Builder
	s.root.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	switch n.kind {
	case reflect.Array, reflect.Slice:
		b.WriteByte('[')
		if n.kind == reflect.Array {
			b.WriteString(strconv.Itoa(n.count))
		}
		b.WriteByte(']')
		n.elem.write(b)
	case reflect.Struct:
		b.WriteString("struct {")
		for i, f := range n.fields {
			if i > 0 {
				b.WriteByte(';')
			}
			b.WriteString(" " + f.name + " ")
			f.write(b)
		}
		b.WriteString(" }")
	default:
		b.WriteString(n.kind.String())
	}
}

// Fields returns the names of the state's own fields, which may be the header's sections.
func (s *Schema) Fields() []string {
	names := make([]string, len(s.root.fields))
	for i, f := range s.root.fields {
		names[i] = f.name
	}
	return names
}

// Append appends a state: a pointer to the struct of [SchemaOf]. It panics if it is of another type, or nil.
func (s *Schema) Append(b []byte, v any) []byte { return s.root.append(b, s.value(v)) }

// AppendField appends only the i-th of [Schema.Fields], for its sum.
func (s *Schema) AppendField(b []byte, v any, i int) []byte {
	f := &s.root.fields[i]
	return f.append(b, s.value(v).Field(f.at))
}

func (s *Schema) value(v any) reflect.Value {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.Type().Elem() != s.of {
		panic(fmt.Sprintf("recorder: schema: got %T, want *%v", v, s.of))
	}
	return p.Elem()
}

func (n *node) append(b []byte, v reflect.Value) []byte {
	switch n.kind {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.String:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Len()))
		return append(b, v.String()...)
	case reflect.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendNumber(b, uint64(v.Int()), n.size)
	case reflect.Struct:
		for i := range n.fields {
			b = n.fields[i].append(b, v.Field(n.fields[i].at))
		}
		return b
	case reflect.Array, reflect.Slice:
		if n.kind == reflect.Slice {
			b = binary.LittleEndian.AppendUint32(b, uint32(v.Len()))
		}
		for i := range v.Len() {
			b = n.elem.append(b, v.Index(i))
		}
		return b
	default:
		return appendNumber(b, v.Uint(), n.size)
	}
}

// appendNumber appends the lower bits of a number, the lowest byte first.
func appendNumber(b []byte, n uint64, bits int) []byte {
	for ; bits > 0; bits -= 8 {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}
