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

// A shape is what a schema says about the size of a state: its parts in their order, those of an element after the part with
// the elements.
type shape []part

// A part is a run of bytes, or the elements of a slice, an array or a string.
type part struct {
	counted bool   // the bytes begin with the number of elements; else there is one, or n if they have parts
	n       uint32 // bytes of an element without parts
	end     int    // the index after the parts of an element, or 0 if it has none
}

// parseShape returns the shape of a schema, and -1, or the byte from which on the text is no struct type.
func parseShape(schema string) (shape, int) {
	p := shapeParser{text: schema}
	if p.space(" \t\r\n"); !strings.HasPrefix(p.text[p.at:], "struct") || !p.typ(1) {
		return nil, p.at
	}
	if p.space(" \t\r\n"); p.at < len(p.text) {
		return nil, p.at
	}
	return p.shape, -1
}

// A shapeParser reads a schema (docs/spec/recordings.md, "Types of states") from the left to the right, up to its first fault.
type shapeParser struct {
	text  string
	at    int
	nodes int
	run   int // the first part that further bytes may join
	shape shape
}

func (p *shapeParser) space(of string) {
	for p.at < len(p.text) && strings.IndexByte(of, p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *shapeParser) take(c byte) bool {
	p.space(" \t\r\n")
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// word reads a name or a number.
func (p *shapeParser) word() string {
	p.space(" \t\r\n")
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// typ reads a type, and appends its parts.
func (p *shapeParser) typ(depth int) bool {
	if p.nodes++; depth > maxDepth || p.nodes > maxNodes {
		return false
	}
	if p.take('[') {
		return p.elements(depth)
	}
	switch word := p.word(); word {
	case "struct":
		return p.fields(depth)
	case "bool", "int8", "uint8", "byte":
		return p.bytes(1)
	case "int16", "uint16":
		return p.bytes(2)
	case "int32", "uint32", "float32":
		return p.bytes(4)
	case "int64", "uint64", "float64":
		return p.bytes(8)
	case "string":
		p.shape = append(p.shape, part{counted: true, n: 1})
		p.run = len(p.shape)
		return true
	default:
		p.at -= len(word)
		return false
	}
}

// bytes appends bytes to the last part.
func (p *shapeParser) bytes(n uint64) bool {
	if len(p.shape) == p.run {
		p.shape = append(p.shape, part{})
	}
	last := &p.shape[len(p.shape)-1]
	if n += uint64(last.n); n > maxFixed {
		return false
	}
	last.n = uint32(n)
	return true
}

// elements reads an array or a slice after its bracket.
func (p *shapeParser) elements(depth int) bool {
	word := p.word()
	count, err := strconv.ParseUint(word, 10, 32)
	if slice := word == ""; !slice && (err != nil || count == 0 || count > maxFixed) || !p.take(']') {
		return false
	}
	run, i := p.run, len(p.shape)
	p.shape = append(p.shape, part{counted: word == "", n: uint32(count)})
	p.run = len(p.shape)
	if !p.typ(depth + 1) {
		return false
	}
	switch size := p.shape[i+1]; {
	case len(p.shape) > i+2 || size.counted || size.end > 0:
		p.shape[i].end = len(p.shape)
	case word == "":
		p.shape = append(p.shape[:i], part{counted: true, n: size.n})
	default: // an array of a fixed size is a run of bytes
		p.shape, p.run = p.shape[:i], run
		return p.bytes(count * uint64(size.n))
	}
	p.run = len(p.shape)
	return true
}

// fields reads a struct after its keyword.
func (p *shapeParser) fields(depth int) bool {
	if !p.take('{') {
		return false
	}
	for empty := true; ; empty = false {
		if p.take('}') {
			return !empty || depth == 1
		}
		names := 0
		for names == 0 || p.take(',') {
			if word := p.word(); word == "" || word[0] <= '9' {
				p.at -= len(word)
				return false
			}
			names++
		}
		for from := p.at; names > 0; names-- { // each has parts of its own
			if p.at = from; !p.typ(depth + 1) {
				return false
			}
		}
		if p.space(" \t\r"); p.at < len(p.text) && (p.text[p.at] == '\n' || p.text[p.at] == ';') {
			p.at++
		} else if p.at == len(p.text) || p.text[p.at] != '}' {
			return false
		}
	}
}

// fixed reports whether all states have the same size.
func (s shape) fixed() bool { return len(s) == 0 || len(s) == 1 && !s[0].counted && s[0].end == 0 }

// measure returns the size that the parts from i up to end have, from at on in the bytes b. It stops with more than len(b) at
// the first part that b has no room for.
func (s shape) measure(b []byte, at int64, i, end int) int64 {
	for i < end && at <= int64(len(b)) {
		p := s[i]
		i++
		count := int64(1)
		if p.end > 0 {
			count = int64(p.n)
		}
		if p.counted {
			if at += 4; at > int64(len(b)) {
				break
			}
			count = int64(binary.LittleEndian.Uint32(b[at-4:]))
		}
		if p.end == 0 {
			at += count * int64(p.n) // at most 2^32 * 2^30
			continue
		}
		for ; count > 0 && at <= int64(len(b)); count-- {
			at = s.measure(b, at, i, p.end)
		}
		i = p.end
	}
	return at
}
