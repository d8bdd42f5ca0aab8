package state

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

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

// place locates a schema node in the Go type. Places and nodes share their index.
type place struct {
	typ     reflect.Type
	index   int     // of the field in its struct
	offset  uintptr // of the field in its struct
	path    string
	derived bool // the subtree has derived fields
}

// fractional is implemented by the integers of fixed-point arithmetic, such as fixed.Q.
type fractional interface{ FractionBits() uint8 }

var leafKinds = map[reflect.Kind]Kind{ // only looked up, never ranged over
	reflect.Bool: Bool, reflect.String: String,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
}

// refusals has the reason why each of these kinds is refused.
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

// maxGrowth bounds the memory of a slice's element, as a multiple of its least canonical bytes. Slices and padding reach
// 8; with a large derived field, a few hostile bytes could demand much memory.
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

// addFields appends the fields of the struct at node i.
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
