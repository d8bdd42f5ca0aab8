package state

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
