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

	bytes  int64 // of each value, in a schema that was read as text
	varies bool  // they have different sizes
}

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

// Limits of a schema. samestep replay refuses more.
const (
	maxNodes = 4096
	maxDepth = 32
	maxFixed = 1 << 30 // bytes
)

// The characters between words, and in them.
const (
	space   = " \t\r\n"
	letters = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// numbers are the sizes of the types of a fixed size, in bytes.
var numbers = map[string]int64{
	"bool": 1, "int8": 1, "uint8": 1, "byte": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}

// parseSchema returns the type of a schema, or nil and the byte from which on the text is no struct type.
func parseSchema(schema string) (root *node, fault int) {
	p := schemaParser{rest: strings.TrimLeft(schema, space)}
	if strings.HasPrefix(p.rest, "struct") {
		root = p.typ(1)
	}
	if root != nil {
		p.skip(space)
	}
	if root == nil || p.rest != "" {
		return nil, len(schema) - len(p.rest)
	}
	return root, 0
}

// A schemaParser reads a schema (docs/spec/recordings.md, "Types of states") from the left to the right, up to its first fault. Its
// methods return nil for one.
type schemaParser struct {
	rest  string
	nodes int
	run   int64 // bytes of a fixed size since the last count
}

func (p *schemaParser) skip(of string) { p.rest = strings.TrimLeft(p.rest, of) }

func (p *schemaParser) take(sign string) (ok bool) {
	p.skip(space)
	p.rest, ok = strings.CutPrefix(p.rest, sign)
	return ok
}

// word reads a name or a number.
func (p *schemaParser) word() string {
	p.skip(space)
	all := p.rest
	p.skip(letters)
	return all[:len(all)-len(p.rest)]
}

func (p *schemaParser) typ(depth int) *node {
	if p.nodes++; depth > maxDepth || p.nodes > maxNodes {
		return nil
	}
	if p.take("[") {
		return p.elements(depth)
	}
	before := p.rest
	switch word := p.word(); {
	case word == "struct":
		return p.fields(depth)
	case word == "string":
		p.run = 0
		return &node{kind: reflect.String, varies: true, elem: &node{bytes: 1}}
	case numbers[word] > 0:
		return p.fixed(&node{bytes: numbers[word]})
	}
	p.rest = before
	return nil
}

// fixed counts the bytes of a type of a fixed size.
func (p *schemaParser) fixed(n *node) *node {
	if p.run += n.bytes; p.run > maxFixed {
		return nil
	}
	return n
}

// elements reads an array or a slice after its bracket.
func (p *schemaParser) elements(depth int) *node {
	n, word, run := &node{kind: reflect.Slice, varies: true}, p.word(), p.run
	if word != "" {
		count, err := strconv.ParseUint(word, 10, 32)
		if err != nil || count == 0 || count > maxFixed {
			return nil
		}
		n.kind, n.count = reflect.Array, int(count)
	}
	if !p.take("]") {
		return nil
	}
	p.run = 0
	if n.elem = p.typ(depth + 1); n.elem == nil {
		return nil
	}
	if n.kind == reflect.Array && !n.elem.varies {
		n.varies, n.bytes, p.run = false, int64(n.count)*n.elem.bytes, run
		return p.fixed(n)
	}
	p.run = 0
	return n
}

// fields reads a struct after its keyword.
func (p *schemaParser) fields(depth int) *node {
	n := &node{kind: reflect.Struct}
	if !p.take("{") {
		return nil
	}
	for !p.take("}") {
		names := 0
		for names == 0 || p.take(",") {
			p.skip(space)
			before := p.rest
			if word := p.word(); word == "" || word[0] <= '9' {
				p.rest = before
				return nil
			}
			names++
		}
		for from := p.rest; names > 0; names-- { // each has a type of its own
			p.rest = from
			f := p.typ(depth + 1)
			if f == nil {
				return nil
			}
			n.fields, n.bytes, n.varies = append(n.fields, field{node: f}), n.bytes+f.bytes, n.varies || f.varies
		}
		switch p.skip(" \t\r"); {
		case strings.HasPrefix(p.rest, "\n") || strings.HasPrefix(p.rest, ";"):
			p.rest = p.rest[1:]
		case !strings.HasPrefix(p.rest, "}"):
			return nil
		}
	}
	if len(n.fields) == 0 && depth > 1 {
		return nil
	}
	return n
}

// measure returns where a value ends that begins at a byte of b. It is over, with more than len(b), at the first count or element that b
// has no room for.
func (n *node) measure(b []byte, at int64) (end int64, over bool) {
	switch {
	case !n.varies:
		return at + n.bytes, false
	case n.kind == reflect.Struct:
		for i := 0; i < len(n.fields) && !over; i++ {
			at, over = n.fields[i].measure(b, at)
		}
		return at, over
	case at > int64(len(b)):
		return at, true
	}
	count := int64(n.count)
	if n.kind != reflect.Array {
		if at += 4; at > int64(len(b)) {
			return at, true
		}
		count = int64(binary.LittleEndian.Uint32(b[at-4:]))
	}
	if !n.elem.varies {
		at += count * n.elem.bytes // at most 2^32 * 2^30
		count = 0
	}
	for ; count > 0 && at <= int64(len(b)); count-- {
		at, _ = n.elem.measure(b, at)
	}
	return at, at > int64(len(b))
}
