package state

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// Codec converts values of the Go type T to canonical bytes and back. It is immutable and safe for concurrent use.
type Codec[T any] struct {
	schema *Schema
	places []place
	engine engine
}

// Compile returns the codec of T, a struct of plain data. The error is a [*TypeError] that names a field that cannot be in a state.
func Compile[T any]() (*Codec[T], error) {
	s, places, err := compile(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return &Codec[T]{s, places, newEngine(s, places)}, nil
}

// MustCompile is [Compile] for types known to be good: it panics on an error.
func MustCompile[T any]() *Codec[T] {
	c, err := Compile[T]()
	if err != nil {
		panic(err)
	}
	return c
}

// Schema returns the description of T.
func (c *Codec[T]) Schema() *Schema { return c.schema }

// Append appends the canonical bytes of v. It panics if a slice or string is longer than 2^32-1.
func (c *Codec[T]) Append(dst []byte, v *T) []byte { return c.engine.append(dst, refOf(v)) }

// Decode sets v to the value whose canonical bytes are exactly src, or returns a [*DecodeError] and leaves v unchanged. It reuses the
// memory of v's slices, which no other value may share, and shares none with src. Derived fields of v keep their values; those in
// elements of slices become zero. Decode allocates at most about 64 times the size of src, for most types less than twice.
func (c *Codec[T]) Decode(src []byte, v *T) error {
	if err := c.schema.Validate(src); err != nil {
		return err
	}
	c.engine.decode(src, refOf(v))
	return nil
}

// Copy sets dst to src, as Decode would from src's canonical bytes. It reuses the memory of dst's slices, which no value
// but src may share: a dst that began as a plain assignment of *src gets its own memory.
func (c *Codec[T]) Copy(dst, src *T) {
	if dst != src {
		c.engine.copy(refOf(dst), refOf(src))
	}
}

// WriteSection hashes the canonical bytes of section i of v without building them in memory. It returns their number.
func (c *Codec[T]) WriteSection(h *xxhash.Digest, i int, v *T) int {
	return c.engine.writeSection(h, i, refOf(v))
}

// DerivedFields returns the paths of the fields of T that are tagged as derived, such as "Units[].path".
func (c *Codec[T]) DerivedFields() (paths []string) {
	for _, p := range c.places {
		if p.typ.Kind() != reflect.Struct {
			continue
		}
		for f := range p.typ.Fields() {
			if f.Tag.Get("state") == "derived" {
				paths = append(paths, joinPath(p.path, f.Name))
			}
		}
	}
	return paths
}

// description is a schema as plain data. Replays store its canonical form, so each schema has exactly one description.
type description struct {
	Nodes []describedNode // preorder
}

const maxDescriptionBytes = countSize + MaxNodes*(1+1+4+countSize+MaxNameBytes)

var descriptions = MustCompile[description]()

// AppendDescription appends the description of s, which [ParseSchema] reads.
func (s *Schema) AppendDescription(dst []byte) []byte {
	d := description{Nodes: make([]describedNode, len(s.nodes))}
	for i := range s.nodes {
		n := &s.nodes[i]
		d.Nodes[i] = describedNode{Kind: n.kind, FractionBits: n.fraction, Count: uint32(n.count), Name: n.name}
	}
	//samestep:allow global a Codec never changes
	return descriptions.Append(dst, &d)
}

// ParseSchema reads a description. It accepts only what [Schema.AppendDescription] writes. The error wraps a
// [*DecodeError] for malformed bytes, or is a [*SchemaError] for a schema that is not allowed.
func ParseSchema(src []byte) (*Schema, error) {
	if len(src) > maxDescriptionBytes {
		return nil, &SchemaError{0, fmt.Sprintf("a description of %d bytes, at most %d are allowed", len(src), maxDescriptionBytes)}
	}
	var d description
	//samestep:allow global a Codec never changes
	if err := descriptions.Decode(src, &d); err != nil {
		return nil, fmt.Errorf("state: bad schema description: %w", err)
	}
	return newSchema(d.Nodes)
}

// Fingerprint computes the xxhash64 of the description. Equal schemas have equal fingerprints.
//
//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func (s *Schema) Fingerprint() uint64 { return xxhash.Sum64(s.AppendDescription(nil)) }

// TypeError tells which field of a Go type cannot be part of a state, and why.
type TypeError struct {
	Path   string // of the field, such as "Units[].Speed"; "" is the type itself
	Type   string
	Reason string
}

func (e *TypeError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("state: type %s is refused: %s", e.Type, e.Reason)
	}
	return fmt.Sprintf("state: field %s of type %s is refused: %s", e.Path, e.Type, e.Reason)
}

type fractional interface{ FractionBits() uint8 }

var leafKinds = map[reflect.Kind]Kind{ // only looked up, never ranged over
	reflect.Bool: Bool, reflect.String: String,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
}

var refusals = map[reflect.Kind]string{ // only looked up, never ranged over
	reflect.Int:           "its size differs between machines",
	reflect.Uint:          "its size differs between machines",
	reflect.Uintptr:       "its size differs between machines",
	reflect.Float32:       "floating point differs between machines",
	reflect.Float64:       "floating point differs between machines",
	reflect.Complex64:     "floating point differs between machines",
	reflect.Complex128:    "floating point differs between machines",
	reflect.Pointer:       "an address differs between machines",
	reflect.UnsafePointer: "an address differs between machines",
	reflect.Interface:     "its type is only known at run time",
	reflect.Map:           "its order differs between runs",
	reflect.Chan:          "it is not data",
	reflect.Func:          "it is not data",
}

// compile returns the schema of a Go type, and where each node is in the type.
func compile(t reflect.Type) (*Schema, []place, error) {
	var c compiler
	if t.Kind() != reflect.Struct {
		return nil, nil, &TypeError{"", t.String(), "the root must be a struct"}
	}
	if _, err := c.add(t, "", place{}); err != nil {
		return nil, nil, err
	}
	s, err := newSchema(c.nodes)
	if bad := (*SchemaError)(nil); errors.As(err, &bad) {
		p := c.places[min(bad.Node, len(c.places)-1)]
		return nil, nil, &TypeError{p.path, p.typ.String(), bad.Reason}
	}
	return s, c.places, checkGrowth(s, c.places)
}

// maxGrowth bounds the memory of a slice's element, as a multiple of its least canonical bytes. Slices and padding reach 8.
const maxGrowth = 64

func checkGrowth(s *Schema, places []place) error {
	for i := range s.nodes {
		if s.nodes[i].kind != Slice {
			continue
		}
		elem := places[i+1]
		if size := s.nodes[i+1].size; elem.typ.Size() > maxGrowth*uintptr(size) {
			return &TypeError{elem.path, elem.typ.String(), fmt.Sprintf("%d bytes in memory for %d in a snapshot: keep its derived fields elsewhere", elem.typ.Size(), size)}
		}
	}
	return nil
}

type compiler struct {
	nodes  []describedNode
	places []place
	open   []reflect.Type // the types around the current one
}

// add appends the nodes of t and reports whether t has derived fields.
func (c *compiler) add(t reflect.Type, name string, p place) (bool, error) {
	refuse := func(reason string) error { return &TypeError{p.path, t.String(), reason} }
	p.typ = t
	switch {
	case slices.Contains(c.open, t):
		return false, refuse("it is recursive")
	case len(c.open) == MaxDepth:
		return false, refuse("it is nested deeper than " + strconv.Itoa(MaxDepth))
	case len(c.nodes) == MaxNodes:
		return false, refuse("there are more than " + strconv.Itoa(MaxNodes) + " fields and elements")
	}
	i := len(c.nodes)
	c.nodes = append(c.nodes, describedNode{Name: name})
	c.places = append(c.places, p)
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()

	var err error
	derived := false
	switch t.Kind() {
	case reflect.Struct:
		c.nodes[i].Kind = Struct
		derived, err = c.addFields(i)
	case reflect.Slice:
		c.nodes[i].Kind = Slice
		derived, err = c.add(t.Elem(), "", place{path: p.path + "[]"})
	case reflect.Array:
		if uint64(t.Len()) > MaxFixedSize {
			return false, refuse("it is too long")
		}
		c.nodes[i].Kind, c.nodes[i].Count = Array, uint32(t.Len())
		derived, err = c.add(t.Elem(), "", place{path: p.path + "[]"})
	default:
		kind, ok := leafKinds[t.Kind()]
		if !ok {
			return false, refuse(refusals[t.Kind()])
		}
		c.nodes[i].Kind = kind
		if f, ok := reflect.Zero(t).Interface().(fractional); ok && kind.Integer() {
			c.nodes[i].FractionBits = f.FractionBits()
		}
	}
	c.places[i].derived = derived
	return derived, err
}

func (c *compiler) addFields(i int) (bool, error) {
	t, path := c.places[i].typ, c.places[i].path
	anyDerived := false
	for index := range t.NumField() {
		f := t.Field(index)
		fieldPath := joinPath(path, f.Name)
		tag, tagged := f.Tag.Lookup("state")
		if tagged && tag != "derived" {
			return false, &TypeError{fieldPath, f.Type.String(), fmt.Sprintf("unknown tag state:%q, want %q", tag, "derived")}
		}
		if tagged {
			anyDerived = true
			continue
		}
		if !f.IsExported() {
			return false, &TypeError{fieldPath, f.Type.String(), `it is not exported and not tagged state:"derived"`}
		}
		derived, err := c.add(f.Type, f.Name, place{index: index, offset: f.Offset, path: fieldPath})
		if err != nil {
			return false, err
		}
		anyDerived = anyDerived || derived
		c.nodes[i].Count++
	}
	return anyDerived, nil
}

// A Tag is what the tag of a field says to those who use a key. Path leads to the field from the type of the whole, such as "Units[].Pos".
type Tag struct {
	Path string `json:"path"`
	Text string `json:"tag"`
}

// Tags returns the tags of a type's fields with a key, in the order of the fields, without fields that are no part of the state.
func Tags(t reflect.Type, key string) []Tag { return tags(nil, t, key, "") }

func tags(list []Tag, t reflect.Type, key, path string) []Tag {
	switch t.Kind() {
	case reflect.Array, reflect.Slice:
		return tags(list, t.Elem(), key, path+"[]")
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("state") != "" {
				continue
			}
			at := strings.TrimPrefix(path+"."+f.Name, ".")
			if text, ok := f.Tag.Lookup(key); ok {
				list = append(list, Tag{at, text})
			}
			list = tags(list, f.Type, key, at)
		}
	}
	return list
}

// MaxTypeBytes is the size of the longest text that [ParseType] reads.
const MaxTypeBytes = 64 << 10

// A TypeTextError tells where the text of a type is malformed. A type that is well-formed but not allowed is a [*SchemaError].
type TypeTextError struct {
	Offset int // in bytes
	Reason string
}

func (e *TypeTextError) Error() string {
	return fmt.Sprintf("state: bad type at byte %d: %s", e.Offset, e.Reason)
}

// ParseType reads a struct type of Go as text, such as
//
//	struct { Tick uint32; Units []struct { ID uint32; X, Y float32 } }
//
// It has no names of types, tags, pointers and maps, but floats. docs/spec/recordings.md has the grammar. The error is a [*TypeTextError] or
// a [*SchemaError].
func ParseType(text string) (*Schema, error) {
	if len(text) > MaxTypeBytes {
		return nil, &TypeTextError{0, fmt.Sprintf("%d bytes, at most %d are allowed", len(text), MaxTypeBytes)}
	}
	p := typeParser{text: text}
	nodes := p.typ("", 1)
	if p.space(true); p.err == nil && p.at < len(text) {
		p.fail("got %s, want the end", p.next())
	}
	if p.err != nil {
		return nil, p.err
	}
	return newSchema(nodes)
}

// A typeParser reads a type from the left to the right. Its first error stays.
type typeParser struct {
	text string
	at   int
	err  error
}

func (p *typeParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &TypeTextError{p.at, fmt.Sprintf(format, args...)}
	}
}

// space skips spaces and, if lines is true, line ends.
func (p *typeParser) space(lines bool) {
	for p.at < len(p.text) && (strings.IndexByte(" \t\r", p.text[p.at]) >= 0 || lines && p.text[p.at] == '\n') {
		p.at++
	}
}

func (p *typeParser) next() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(r)
}

// take skips spaces and then c, and reports whether c stood there.
func (p *typeParser) take(c byte) bool {
	p.space(true)
	if p.err != nil || p.at >= len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// want is take for a byte that must stand there.
func (p *typeParser) want(c byte) {
	if !p.take(c) {
		p.fail("got %s, want %q", p.next(), c)
	}
}

func (p *typeParser) word() string {
	p.space(true)
	from := p.at
	for p.at < len(p.text) && inName(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// typ reads a type of a field with a name, or of an element, and returns its nodes.
func (p *typeParser) typ(name string, depth int) []describedNode {
	if depth > MaxDepth {
		p.fail("nested deeper than %d", MaxDepth)
	}
	if p.take('[') {
		n := describedNode{Kind: Slice, Name: name}
		if count := p.word(); count != "" {
			size, err := strconv.ParseUint(count, 10, 32)
			if err != nil || size == 0 || size > math.MaxInt32 {
				p.fail("got the length %.20q, want a whole number from 1 to %d", count, math.MaxInt32)
			}
			n.Kind, n.Count = Array, uint32(size)
		}
		p.want(']')
		if p.err != nil {
			return nil
		}
		return append([]describedNode{n}, p.typ("", depth+1)...)
	}
	at := p.at
	switch word := p.word(); word {
	case "struct":
		return p.fields(name, depth)
	case "byte":
		return []describedNode{{Kind: Uint8, Name: name}}
	default:
		for k := Bool; k <= Float64; k++ {
			if k.leaf() && k.String() == word {
				return []describedNode{{Kind: k, Name: name}}
			}
		}
		p.at = at
		p.space(true)
		if word == "" {
			word = p.next()
		}
		p.fail("got %.40s, want a type, such as int32, float32, string, [4]bool, []struct { … }", word)
	}
	return nil
}

func (p *typeParser) fields(name string, depth int) []describedNode {
	all := []describedNode{{Kind: Struct, Name: name}}
	p.want('{')
	for p.err == nil && !p.take('}') {
		names := []string{p.word()}
		for names[0] != "" && p.take(',') {
			names = append(names, p.word())
		}
		if slices.Contains(names, "") {
			p.fail("got %s, want the name of a field", p.next())
		}
		of := p.typ("", depth+1)
		for _, n := range names {
			if len(all)+len(of) > MaxNodes {
				p.fail("more than %d fields and elements", MaxNodes)
			}
			if p.err != nil {
				return nil
			}
			of[0].Name = n
			all = append(all, of...)
			all[0].Count++
		}
		p.end()
	}
	return all
}

// end reads what ends a field: a semicolon, or a line end, or the brace that follows.
func (p *typeParser) end() {
	p.space(false)
	if p.at < len(p.text) && p.text[p.at] == '\n' || p.take(';') {
		return
	}
	if p.at >= len(p.text) || p.text[p.at] != '}' {
		p.fail(`got %s, want ";" or "}"`, p.next())
	}
}
