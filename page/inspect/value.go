package inspect

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// maxText limits the text of one value, in bytes.
const maxText = 200

// count reads the length of a string or slice.
func count(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }

// size returns the size of the value of n that b begins with, which is canonical.
func size(n state.Node, b []byte) int {
	least, fixed := n.Size()
	if fixed {
		return least
	}
	switch n.Kind() {
	case state.String:
		return 4 + count(b)
	case state.Struct:
		at := 0
		for i := range n.NumFields() {
			at += size(n.Field(i), b[at:])
		}
		return at
	default:
		elems, at := elements(n, b)
		return at + sizeOf(n.Elem(), elems, b[at:])
	}
}

// elements returns the number of elements of an array or slice, and the offset of the first one.
func elements(n state.Node, b []byte) (elems, at int) {
	if n.Kind() == state.Slice {
		return count(b), 4
	}
	return n.Len(), 0
}

// sizeOf returns the size of the first elements of an array or slice.
func sizeOf(elem state.Node, elems int, b []byte) int {
	if each, fixed := elem.Size(); fixed {
		return elems * each
	}
	at := 0
	for range elems {
		at += size(elem, b[at:])
	}
	return at
}

// leaf reports whether a value has no parts.
func leaf(n state.Node) bool { return n.Kind() <= state.String || n.Kind().Float() }

// text returns a leaf as text.
func text(n state.Node, b []byte) string {
	if n.Kind() == state.String {
		whole := count(b)
		clipped := min(whole, maxText)
		return strings.ToValidUTF8(quoted(b[4:4+clipped], whole > clipped), "\uFFFD")
	}
	return state.Value{Node: n, Bytes: b}.String()
}

func quoted(b []byte, more bool) string {
	if more {
		return strconv.Quote(string(b)) + "…"
	}
	return strconv.Quote(string(b))
}

// summary returns a value in one line of about maxText bytes at most.
func summary(n state.Node, b []byte) string {
	switch n.Kind() {
	case state.Struct:
		return string(appendFields(nil, n, b))
	case state.Array, state.Slice:
		elems, _ := elements(n, b)
		if elems == 1 {
			return "1 element"
		}
		return strconv.Itoa(elems) + " elements"
	}
	return text(n, b)
}

// appendFields appends the fields of a struct, up to a limit.
func appendFields(dst []byte, n state.Node, b []byte) []byte {
	for i := range n.NumFields() {
		f := n.Field(i)
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxText/2 {
			return append(dst, "…"...)
		}
		dst = append(append(dst, f.Name()...), ": "...)
		switch {
		case f.Kind() == state.Struct && f.NumFields() <= 3:
			dst = append(appendFields(append(dst, '{'), f, b), '}')
		case f.Kind() == state.Struct:
			dst = append(dst, "{…}"...)
		default:
			dst = append(dst, summary(f, b)...)
		}
		b = b[size(f, b):]
	}
	return dst
}
