package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

// ErrPath reports a path that names nothing in a state.
var ErrPath = errors.New("no such field")

// Value is one value within canonical bytes.
type Value struct {
	Node   Node
	Path   string // such as "Units[17].Pos.X", with indexes only; "" is the whole state
	Offset int    // of Bytes in the canonical bytes of the state
	Bytes  []byte // its canonical bytes, a part of those of the state
}

// String returns a leaf as text: a decimal, true or false, or a quoted string; for a slice "3 elements", for an array or struct its kind.
func (v Value) String() string { return string(v.Node.node().appendText(nil, v.Bytes)) }

// Elements returns the elements of an array or a slice, in order; of other kinds, none.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		n := v.Node.node()
		if n.kind != Array && n.kind != Slice {
			return
		}
		i := int(v.Node.i)
		elems, at := v.Node.s.elems(i, v.Bytes)
		for j := range elems {
			size := v.Node.s.skip(i+1, v.Bytes[at:])
			e := Value{Node{v.Node.s, int32(i + 1)}, joinPath(v.Path, indexStep(j)), v.Offset + at, v.Bytes[at : at+size : at+size]}
			if !yield(e) {
				return
			}
			at += size
		}
	}
}

// Flip inverts in place the lowest bit of a bool, a number, or a string's first byte. It reports false for empty strings and other kinds.
func (v Value) Flip() bool {
	at := 0
	switch kind := v.Node.Kind(); {
	case !kind.leaf():
		return false
	case kind == String:
		at = countSize
	}
	if at >= len(v.Bytes) {
		return false
	}
	v.Bytes[at] ^= 1
	return true
}

func (n *node) appendText(dst, b []byte) []byte {
	switch {
	case n.kind == Bool:
		return strconv.AppendBool(dst, b[0] == 1)
	case n.kind == String:
		return strconv.AppendQuote(dst, string(b[countSize:countSize+count(b)]))
	case n.kind == Slice:
		return appendElements(dst, count(b))
	case n.kind.Signed():
		shift := 64 - 8*n.size
		return decimal.Append(dst, int64(loadUint(b[:n.size])<<shift)>>shift, n.fraction)
	case n.kind.Integer():
		return decimal.AppendUint(dst, loadUint(b[:n.size]), n.fraction)
	case n.kind.Float():
		return n.appendFloat(dst, b)
	}
	return append(dst, n.kind.String()...)
}

func appendElements(dst []byte, count int) []byte {
	if count == 1 {
		return append(dst, "1 element"...)
	}
	return append(strconv.AppendInt(dst, int64(count), 10), " elements"...)
}

func count(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }

// skip returns the size of the value of node i at the start of valid bytes.
func (s *Schema) skip(i int, b []byte) int {
	n := &s.nodes[i]
	if n.fixed {
		return n.size
	}
	switch n.kind {
	case String:
		return countSize + count(b)
	case Struct:
		size := 0
		for k := range n.runs {
			size += n.runs[k].size
			if next := n.runs[k].next; next >= 0 {
				size += s.skip(next, b[size:])
			}
		}
		return size
	case Slice:
		return countSize + s.skipElems(i, count(b), b[countSize:])
	}
	return s.skipElems(i, n.count, b)
}

// skipElems returns the size of the first count elements of the array or slice i.
func (s *Schema) skipElems(i, count int, b []byte) int {
	if elem := &s.nodes[i+1]; elem.fixed {
		return count * elem.size
	}
	size := 0
	for range count {
		size += s.skip(i+1, b[size:])
	}
	return size
}

// elems returns the number of elements of the array or slice i at the start of valid bytes, and their offset.
func (s *Schema) elems(i int, b []byte) (n, at int) {
	if s.nodes[i].kind == Slice {
		return count(b), countSize
	}
	return s.nodes[i].count, 0
}

// SizeOf returns the size of the value of the node that valid canonical bytes begin with.
func (n Node) SizeOf(b []byte) int { return n.s.skip(int(n.i), b) }

// Elements returns the number of elements of the array or slice that valid canonical bytes begin with, and the offset of the first one.
func (n Node) Elements(b []byte) (elements, offset int) { return n.s.elems(int(n.i), b) }

// Split validates b and appends its sections to dst: one part of b for each field of the root, in order. The error is a [*DecodeError].
func (s *Schema) Split(dst [][]byte, b []byte) ([][]byte, error) {
	if err := s.Validate(b); err != nil {
		return dst, err
	}
	for _, f := range s.fieldsOf(&s.nodes[0]) {
		size := s.skip(int(f), b)
		dst = append(dst, b[:size:size])
		b = b[size:]
	}
	return dst, nil
}

// Lookup validates b and returns the value at a path such as "Units[17].Pos.X". "Units[ID=4000].Pos.X" selects the first
// element whose field ID has that value, as [Value.String] writes it or as an unscaled number; a string is quoted. The
// error is a [*DecodeError] or wraps [ErrPath].
func (s *Schema) Lookup(b []byte, path string) (Value, error) {
	if err := s.Validate(b); err != nil {
		return Value{}, err
	}
	i, at, whole := 0, 0, ""
	for rest := path; rest != ""; {
		step, after := cutStep(rest)
		child, offset, index, err := s.step(i, b[at:], step)
		if err != nil {
			return Value{}, fmt.Errorf("state: path %q at %q: %w", path, rest, err)
		}
		if index >= 0 {
			step = indexStep(index)
		}
		whole = joinPath(whole, step)
		i, at, rest = child, at+offset, after
	}
	end := at + s.skip(i, b[at:])
	return Value{Node{s, int32(i)}, whole, at, b[at:end:end]}, nil
}

// cutStep splits a path after its first step: a field name without its point, or an index with its brackets.
func cutStep(path string) (step, rest string) {
	end := strings.IndexAny(path[1:], ".[") + 1
	if path[0] == '[' { // a value may contain a point, and a quoted one a bracket
		from := 0
		if at := strings.Index(path, `="`); at > 0 && at < strings.IndexByte(path, ']') {
			if quoted, err := strconv.QuotedPrefix(path[at+1:]); err == nil {
				from = at + 1 + len(quoted)
			}
		}
		end = from + strings.IndexByte(path[from:], ']') + 1
		if end == from { // without a closing bracket
			end = 0
		}
	}
	if end == 0 || end == len(path) || path[end] != '.' && path[end] != '[' {
		return path, ""
	}
	if path[end] == '.' && end+1 < len(path) && path[end+1] != '[' {
		return path[:end], path[end+1:]
	}
	return path[:end], path[end:]
}

// step returns the child of node i at the start of b, its offset, and its index, or -1 for a field.
func (s *Schema) step(i int, b []byte, step string) (child, offset, index int, err error) {
	n := &s.nodes[i]
	switch n.kind {
	case Struct:
		at := 0
		for _, f := range s.fieldsOf(n) {
			if s.nodes[f].name == step {
				return int(f), at, -1, nil
			}
			at += s.skip(int(f), b[at:])
		}
	case Array, Slice:
		if inner, ok := strings.CutSuffix(strings.TrimPrefix(step, "["), "]"); ok && strings.Contains(inner, "=") {
			return s.stepTo(i, b, inner)
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(step, "["), "]"), 10, 32)
		elems, at := s.elems(i, b)
		if err == nil && indexStep(int(n)) == step {
			if n >= uint64(elems) {
				return 0, 0, 0, fmt.Errorf("%w: index %d, %d elements", ErrPath, n, elems)
			}
			return i + 1, at + s.skipElems(i, int(n), b[at:]), int(n), nil
		}
	}
	return 0, 0, 0, fmt.Errorf("%w: in a %v", ErrPath, n.kind)
}

// stepTo returns the first element of array or slice i that matches "ID=4000": a field with that unscaled number, or [Value.String].
func (s *Schema) stepTo(i int, b []byte, match string) (child, offset, index int, err error) {
	name, want, _ := strings.Cut(match, "=")
	elem := &s.nodes[i+1]
	elems, at := s.elems(i, b)
	for j := range elems {
		if elem.kind != Struct {
			break
		}
		field := at
		for _, f := range s.fieldsOf(elem) {
			n := &s.nodes[f]
			if n.name == name && n.kind.leaf() && (string(n.appendText(nil, b[field:])) == want ||
				n.kind.Integer() && strconv.FormatUint(loadUint(b[field:field+n.size]), 10) == want) {
				return i + 1, at, j, nil
			}
			field += s.skip(int(f), b[field:])
		}
		at += s.skip(i+1, b[at:])
	}
	return 0, 0, 0, fmt.Errorf("%w: none of %d elements has %s", ErrPath, elems, match)
}

// Leaves validates b and returns its leaves in order. The error is a [*DecodeError].
func (s *Schema) Leaves(b []byte) (iter.Seq[Value], error) { return s.LeavesAt(b, "") }

// LeavesAt returns the leaves at or below a path, in order; "" is the whole state. The error is that of [Schema.Lookup].
func (s *Schema) LeavesAt(b []byte, path string) (iter.Seq[Value], error) {
	v, err := s.Lookup(b, path)
	if err != nil {
		return nil, err
	}
	return func(yield func(Value) bool) { s.leaves(int(v.Node.i), b, v.Offset, v.Path, yield) }, nil
}

// leaves yields the leaves of node i at b[at:] and returns the offset after it, or -1 if yield returned false.
func (s *Schema) leaves(i int, b []byte, at int, path string, yield func(Value) bool) int {
	n := &s.nodes[i]
	switch n.kind {
	case Struct:
		for _, f := range s.fieldsOf(n) {
			if at = s.leaves(int(f), b, at, joinPath(path, s.nodes[f].name), yield); at < 0 {
				return at
			}
		}
		return at
	case Array, Slice:
		elems, first := s.elems(i, b[at:])
		at += first
		for j := range elems {
			if at = s.leaves(i+1, b, at, joinPath(path, indexStep(j)), yield); at < 0 {
				return at
			}
		}
		return at
	}
	end := at + s.skip(i, b[at:])
	if !yield(Value{Node{s, int32(i)}, path, at, b[at:end:end]}) {
		return -1
	}
	return end
}

// IDField returns the integer field ID of a slice's elements, and its offset in each; false if they have none, or not all at one offset.
func (n Node) IDField() (id Node, offset int, ok bool) {
	if n.Kind() != Slice {
		return Node{}, 0, false
	}
	elem := n.Elem()
	for i := range elem.NumFields() {
		f := elem.Field(i)
		if strings.EqualFold(f.Name(), "ID") && f.Kind().Integer() {
			return f, offset, true
		}
		size, fixed := f.Size()
		if !fixed {
			break
		}
		offset += size
	}
	return Node{}, 0, false
}

// IDs returns the IDs of a slice's elements, as [Node.Unscaled] numbers, in order; nil if they have none, or two have the same.
func (v Value) IDs() []uint64 {
	f, at, ok := v.Node.IDField()
	if !ok {
		return nil
	}
	size, _ := f.Size()
	all := []uint64{}
	for e := range v.Elements() {
		all = append(all, f.Unscaled(e.Bytes[at:at+size]))
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(all) {
		return nil
	}
	return all
}

// Step returns the step of a path to element i: by its ID, such as [ID=34], if there are IDs of the elements, or else by its index.
func (n Node) Step(i int, ids []uint64) string {
	if i >= len(ids) {
		return indexStep(i)
	}
	f, _, _ := n.IDField()
	return "[" + f.Name() + "=" + f.UnscaledText(ids[i]) + "]"
}

// Unscaled returns the number in the canonical bytes of an integer; a negative one as two's complement of 64 bits.
func (n Node) Unscaled(b []byte) uint64 {
	x := loadUint(b)
	if n.Kind().Signed() {
		shift := 64 - 8*len(b)
		return uint64(int64(x<<shift) >> shift)
	}
	return x
}

// UnscaledText returns a number of [Node.Unscaled] as text.
func (n Node) UnscaledText(x uint64) string {
	if n.Kind().Signed() {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatUint(x, 10)
}

// Names returns a function that names elements in paths with indexes: Units[ID=34].Health for Units[33].Health, if the element has that ID
// in each of the states, which are valid. Elements of a list without IDs, or with one twice, and of lists in lists, keep their index.
func (s *Schema) Names(states ...[]byte) func(path string) string {
	type known struct {
		list Node
		ids  [][]uint64 // by state
	}
	lists := make(map[string]*known) // by path; only looked up
	return func(path string) string {
		list, rest, ok := strings.Cut(path, "[")
		index, rest, _ := strings.Cut(rest, "]")
		i, err := strconv.Atoi(index)
		if !ok || err != nil { // it is named already, if it is an element
			return path
		}
		l := lists[list]
		if l == nil {
			l = &known{}
			for _, b := range states {
				v, _ := s.Lookup(b, list) // without an error: it is in a path of theirs
				l.list, l.ids = v.Node, append(l.ids, v.IDs())
			}
			lists[list] = l
		}
		for _, ids := range l.ids {
			if i >= len(ids) || ids[i] != l.ids[0][i] {
				return path
			}
		}
		return list + l.list.Step(i, l.ids[0]) + rest
	}
}
