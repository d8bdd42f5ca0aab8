package state

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Kind is the type of a schema's node. The numbers are part of the stored description and never change.
type Kind uint8

// The kinds. Bool to String, Float32 and Float64 are leaves. The floats are for states of other engines: [Compile] refuses them.
const (
	Bool   Kind = 1
	Int8   Kind = 2
	Int16  Kind = 3
	Int32  Kind = 4
	Int64  Kind = 5
	Uint8  Kind = 6
	Uint16 Kind = 7
	Uint32 Kind = 8
	Uint64 Kind = 9
	String Kind = 10
	Array  Kind = 11
	Slice  Kind = 12
	Struct Kind = 13

	Float32 Kind = 14 // the bits of IEEE 754
	Float64 Kind = 15
)

var kinds = [...]struct {
	name string
	size int // canonical bytes; for a string or slice, those of its count
}{
	Bool: {"bool", 1},
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	String: {"string", countSize}, Array: {"array", 0}, Slice: {"slice", countSize}, Struct: {"struct", 0},
	Float32: {"float32", 4}, Float64: {"float64", 8},
}

// String returns the kind's name, such as "uint32".
func (k Kind) String() string {
	if !k.valid() {
		return "invalid"
	}
	return kinds[k].name
}

// Integer reports whether k is one of Int8 to Uint64.
func (k Kind) Integer() bool { return k >= Int8 && k <= Uint64 }

// Signed reports whether k is one of Int8 to Int64.
func (k Kind) Signed() bool { return k >= Int8 && k <= Int64 }

// Float reports whether k is Float32 or Float64. Only parsed schemas have them, of the states of other engines: [Compile] refuses floats.
func (k Kind) Float() bool { return k == Float32 || k == Float64 }

func (k Kind) valid() bool { return k >= Bool && k <= Float64 }

func (k Kind) leaf() bool { return k.valid() && (k <= String || k.Float()) }

const countSize = 4 // bytes of the u32 before a slice's elements and a string's bytes

// Limits of a schema, compiled from a type or parsed from a description.
const (
	MaxNodes     = 4096    // nodes of one schema
	MaxDepth     = 32      // nodes from the root to a leaf
	MaxNameBytes = 255     // bytes of a field's name, an ASCII identifier
	MaxFixedSize = 1 << 30 // canonical bytes of a value with all its slices and strings empty
)

// Schema describes a type of plain data without the Go type. It is immutable and safe for concurrent use.
type Schema struct {
	nodes  []node  // preorder; the root is nodes[0]
	fields []int32 // the fields of all structs, as indexes into nodes
}

type node struct {
	name     string
	kind     Kind
	fraction uint8
	fixed    bool  // every value has the same size
	bools    bool  // the subtree has a bool
	count    int   // elements of an array, fields of a struct
	size     int   // least canonical bytes of a value; of every value if fixed
	parent   int32 // -1 for the root
	end      int32 // index after the subtree
	first    int32 // of a struct: its first field in Schema.fields
	boolAt   []int // offsets of the bools in a fixed value, if there are few
	runs     []run // of a struct that is not fixed
}

// run is a part of a struct: the bytes of fixed fields, then at most one field that is not fixed.
type run struct {
	size   int
	boolAt []int // offsets of the bools in the fixed fields
	next   int   // the node of the field that is not fixed, -1 at the end
}

// maxBoolAt bounds node.boolAt. Validation walks types with more bools.
const maxBoolAt = 16

// SchemaError tells which node of a description is not allowed, and why.
type SchemaError struct {
	Node   int // index in preorder
	Reason string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("state: bad schema at node %d: %s", e.Node, e.Reason)
}

// newSchema checks a preorder list of nodes and computes sizes and links.
func newSchema(list []describedNode) (*Schema, error) {
	if len(list) > MaxNodes {
		return nil, &SchemaError{MaxNodes, fmt.Sprintf("%d nodes, at most %d are allowed", len(list), MaxNodes)}
	}
	b := schemaBuilder{list: list, s: &Schema{nodes: make([]node, len(list))}}
	end, err := b.add(0, -1, 1)
	if err != nil {
		return nil, err
	}
	if end != len(list) {
		return nil, &SchemaError{end, "a node after the end of the root"}
	}
	if b.s.nodes[0].kind != Struct {
		return nil, &SchemaError{0, "the root is a " + b.s.nodes[0].kind.String() + ", want a struct"}
	}
	return b.s, nil
}

type schemaBuilder struct {
	list []describedNode
	s    *Schema
}

// add checks the subtree of node i and returns the index after it.
func (b *schemaBuilder) add(i, parent, depth int) (int, error) {
	if i >= len(b.list) {
		return 0, &SchemaError{i, "the description ends inside a type"}
	}
	if depth > MaxDepth {
		return 0, &SchemaError{i, fmt.Sprintf("nested deeper than %d", MaxDepth)}
	}
	d := b.list[i]
	if reason := d.check(); reason != "" {
		return 0, &SchemaError{i, reason}
	}
	isField := parent >= 0 && b.list[parent].Kind == Struct
	if reason := checkName(d.Name, isField); reason != "" {
		return 0, &SchemaError{i, reason}
	}
	n := &b.s.nodes[i]
	*n = node{name: d.Name, kind: d.Kind, fraction: d.FractionBits, count: int(d.Count), size: kinds[d.Kind].size, parent: int32(parent)}
	end, err := i+1, error(nil)
	switch d.Kind {
	case Struct:
		end, err = b.addFields(i, depth)
	case Array, Slice:
		end, err = b.add(i+1, i, depth+1)
	}
	if err != nil {
		return 0, err
	}
	n.end = int32(end)
	return end, b.measure(i)
}

func (b *schemaBuilder) addFields(i, depth int) (int, error) {
	count := int64(b.list[i].Count)
	if count > int64(len(b.list)-i-1) {
		return 0, &SchemaError{i, "more fields than nodes"}
	}
	if count == 0 && i != 0 {
		return 0, &SchemaError{i, "an empty struct is only allowed as the root"}
	}
	first := len(b.s.fields)
	b.s.nodes[i].first = int32(first)
	b.s.fields = append(b.s.fields, make([]int32, count)...)
	names := make(map[string]bool, count) // only looked up, never ranged over
	at := i + 1
	for f := range int(count) {
		end, err := b.add(at, i, depth+1)
		if err != nil {
			return 0, err
		}
		if names[b.list[at].Name] {
			return 0, &SchemaError{at, fmt.Sprintf("a second field named %q", b.list[at].Name)}
		}
		names[b.list[at].Name] = true
		b.s.fields[first+f] = int32(at)
		at = end
	}
	return at, nil
}

// measure computes the size and the bools of node i from its complete subtree.
func (b *schemaBuilder) measure(i int) error {
	n := &b.s.nodes[i]
	size := int64(n.size)
	switch n.kind {
	case Slice:
		n.bools = b.s.nodes[i+1].bools
	case Array:
		elem := &b.s.nodes[i+1]
		n.fixed, n.bools = elem.fixed, elem.bools
		size = int64(n.count) * int64(elem.size) // at most 2^32 * 2^30
	case Struct:
		n.fixed = true
		for _, f := range b.s.fieldsOf(n) {
			field := &b.s.nodes[f]
			n.fixed = n.fixed && field.fixed
			n.bools = n.bools || field.bools
			size += int64(field.size) // at most MaxNodes * 2^30
		}
	default:
		n.fixed, n.bools = n.kind != String, n.kind == Bool
	}
	if size > MaxFixedSize {
		return &SchemaError{i, fmt.Sprintf("%d bytes, at most %d are allowed", size, MaxFixedSize)}
	}
	n.size = int(size)
	if n.fixed && n.bools {
		n.boolAt = b.boolOffsets(n, i)
	}
	if n.kind == Struct && !n.fixed {
		n.runs = b.s.addRuns(make([]run, 1), n)
		n.runs[len(n.runs)-1].next = -1
	}
	return nil
}

// boolOffsets returns the offsets of the bools in a fixed node, or nil if there are many.
func (b *schemaBuilder) boolOffsets(n *node, i int) []int {
	var offsets []int
	add := func(child *node, at int) bool {
		if child.bools && child.boolAt == nil || len(offsets)+len(child.boolAt) > maxBoolAt {
			return false
		}
		for _, offset := range child.boolAt {
			offsets = append(offsets, at+offset)
		}
		return true
	}
	switch n.kind {
	case Bool:
		return []int{0}
	case Array:
		elem := &b.s.nodes[i+1]
		for j := range n.count {
			if !add(elem, j*elem.size) {
				return nil
			}
		}
	case Struct:
		at := 0
		for _, f := range b.s.fieldsOf(n) {
			if !add(&b.s.nodes[f], at) {
				return nil
			}
			at += b.s.nodes[f].size
		}
	}
	return offsets
}

// addRuns adds the fields of struct n to the last run and to new ones.
func (s *Schema) addRuns(runs []run, n *node) []run {
	for _, f := range s.fieldsOf(n) {
		field, last := &s.nodes[f], &runs[len(runs)-1]
		switch {
		case field.fixed && (!field.bools || field.boolAt != nil):
			for _, at := range field.boolAt {
				last.boolAt = append(last.boolAt, last.size+at)
			}
			last.size += field.size
		case field.kind == Struct:
			runs = s.addRuns(runs, field)
		default:
			last.next = int(f)
			runs = append(runs, run{})
		}
	}
	return runs
}

func (s *Schema) fieldsOf(n *node) []int32 { return s.fields[n.first : int(n.first)+n.count] }

func checkName(name string, isField bool) string {
	if !isField {
		if name != "" {
			return fmt.Sprintf("the name %q on a node that is not a field", name)
		}
		return ""
	}
	if name == "" || len(name) > MaxNameBytes {
		return fmt.Sprintf("a field's name of %d bytes, want 1 to %d", len(name), MaxNameBytes)
	}
	for i := range len(name) {
		if !inName(name[i]) || i == 0 && name[i] <= '9' {
			return fmt.Sprintf("the field's name %q is not an identifier: got the byte %q, want A to Z, a to z, _, and digits behind the first", name, name[i:i+1])
		}
	}
	return ""
}

func inName(c byte) bool {
	return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

type describedNode struct {
	Kind         Kind
	FractionBits uint8
	Count        uint32 // elements of an array, fields of a struct, else 0
	Name         string // of a field, else ""
}

func (d *describedNode) check() string {
	if !d.Kind.valid() {
		return fmt.Sprintf("unknown kind %d", d.Kind)
	}
	if d.FractionBits != 0 && (!d.Kind.Integer() || int(d.FractionBits) > 8*kinds[d.Kind].size) {
		return fmt.Sprintf("%d fraction bits in a %v", d.FractionBits, d.Kind)
	}
	switch {
	case d.Kind == Array && d.Count == 0:
		return "an array without elements"
	case d.Count > MaxFixedSize:
		return fmt.Sprintf("a count of %d, at most %d are allowed", d.Count, MaxFixedSize)
	case d.Kind != Array && d.Kind != Struct && d.Count != 0:
		return fmt.Sprintf("a count of %d on a %v", d.Count, d.Kind)
	}
	return ""
}

// Node is one type at one place in a schema's tree. It is a small value; walking the tree allocates nothing.
type Node struct {
	s *Schema
	i int32
}

// Root returns the node of the whole value, which is a struct.
func (s *Schema) Root() Node { return Node{s, 0} }

// NumSections returns the number of sections. A section is a field of the root.
func (s *Schema) NumSections() int { return s.nodes[0].count }

// SectionName returns the name of section i.
func (s *Schema) SectionName(i int) string { return s.Root().Field(i).Name() }

func (n Node) node() *node { return &n.s.nodes[n.i] }

// Kind returns the node's kind.
func (n Node) Kind() Kind { return n.node().kind }

// Name returns the field's name, or "" for the root and for elements.
func (n Node) Name() string { return n.node().name }

// FractionBits returns how many bits of the integer are after the binary point; 0 for a whole number.
func (n Node) FractionBits() uint8 { return n.node().fraction }

// NumFields returns the number of fields of a struct, 0 for other kinds.
func (n Node) NumFields() int {
	if n.Kind() != Struct {
		return 0
	}
	return n.node().count
}

// Field returns field i of a struct.
func (n Node) Field(i int) Node { return Node{n.s, n.s.fieldsOf(n.node())[i]} }

// Len returns the number of elements of an array, 0 for other kinds.
func (n Node) Len() int {
	if n.Kind() != Array {
		return 0
	}
	return n.node().count
}

// Elem returns the element of an array or slice. It panics for other kinds.
func (n Node) Elem() Node {
	if k := n.Kind(); k != Array && k != Slice {
		panic("state: Elem of a " + k.String())
	}
	return Node{n.s, n.i + 1}
}

// Size returns the size of a value with all slices and strings empty, in canonical bytes, and whether all values have it.
func (n Node) Size() (sizeBytes int, fixed bool) { return n.node().size, n.node().fixed }

// Path returns the path of the node, with [] for any element: "Units[].Pos.X". The root's is "".
func (n Node) Path() string {
	if n.i == 0 {
		return ""
	}
	parent := Node{n.s, n.node().parent}
	if parent.Kind() != Struct {
		return parent.Path() + "[]"
	}
	if parent.i == 0 {
		return n.Name()
	}
	return parent.Path() + "." + n.Name()
}

// place locates a schema node in the Go type. Places and nodes share their index.
type place struct {
	typ     reflect.Type
	index   int     // of the field in its struct
	offset  uintptr // of the field in its struct
	path    string
	derived bool // the subtree has derived fields
}

// joinPath appends a field's name or an index in brackets to a path.
func joinPath(path, step string) string {
	if path == "" || step == "" || step[0] == '[' {
		return path + step
	}
	return path + "." + step
}

func indexStep(j int) string { return "[" + strconv.Itoa(j) + "]" }

// isWithin reports whether a path is that of whole or of a part of it, both with indexes only.
func isWithin(path, whole string) bool {
	rest, ok := strings.CutPrefix(path, whole)
	return ok && (whole == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
