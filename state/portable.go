package state

import (
	"encoding/binary"
	"math"
	"reflect"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
)

// portableEngine moves values by reflection: the reference for the fast engine, and its substitute with the tag samestep_portable.
type portableEngine struct {
	s      *Schema
	places []place
}

func (e *portableEngine) append(dst []byte, v reflect.Value) []byte { return e.appendNode(dst, 0, v) }

func (e *portableEngine) appendNode(dst []byte, i int, v reflect.Value) []byte {
	n := &e.s.nodes[i]
	switch n.kind {
	case Struct:
		for _, f := range e.s.fieldsOf(n) {
			dst = e.appendNode(dst, int(f), v.Field(e.places[f].index))
		}
		return dst
	case String:
		return append(appendCount(dst, v.Len()), v.String()...)
	case Slice:
		dst = appendCount(dst, v.Len())
		fallthrough
	case Array:
		for j := range v.Len() {
			dst = e.appendNode(dst, i+1, v.Index(j))
		}
		return dst
	case Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
	u := uint64(0)
	if n.kind.Signed() {
		u = uint64(v.Int())
	} else {
		u = v.Uint()
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], u)
	return append(dst, word[:n.size]...)
}

func appendCount(dst []byte, count int) []byte {
	if uint64(count) > math.MaxUint32 {
		panic("state: a slice or string longer than 2^32-1 has no canonical form")
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(count))
}

func (e *portableEngine) decode(src []byte, v reflect.Value) { e.decodeNode(src, 0, v) }

// decodeNode sets v from the start of valid bytes and returns the rest. All slices get new memory.
func (e *portableEngine) decodeNode(src []byte, i int, v reflect.Value) []byte {
	n := &e.s.nodes[i]
	switch n.kind {
	case Struct:
		for _, f := range e.s.fieldsOf(n) {
			src = e.decodeNode(src, int(f), v.Field(e.places[f].index))
		}
		return src
	case String:
		count := int(binary.LittleEndian.Uint32(src))
		v.SetString(string(src[countSize : countSize+count]))
		return src[countSize+count:]
	case Slice:
		count := int(binary.LittleEndian.Uint32(src))
		src = src[countSize:]
		v.Set(reflect.MakeSlice(v.Type(), count, count))
		fallthrough
	case Array:
		for j := range v.Len() {
			src = e.decodeNode(src, i+1, v.Index(j))
		}
		return src
	}
	u := loadUint(src[:n.size])
	switch {
	case n.kind == Bool:
		v.SetBool(u == 1)
	case n.kind.Signed():
		shift := 64 - 8*n.size
		v.SetInt(int64(u<<shift) >> shift)
	default:
		v.SetUint(u)
	}
	return src[n.size:]
}

func loadUint(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

func (e *portableEngine) copy(dst, src reflect.Value) { e.copyNode(0, dst, src) }

func (e *portableEngine) copyNode(i int, dst, src reflect.Value) {
	n := &e.s.nodes[i]
	switch n.kind {
	case Struct:
		for _, f := range e.s.fieldsOf(n) {
			index := e.places[f].index
			e.copyNode(int(f), dst.Field(index), src.Field(index))
		}
	case Slice:
		dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
		fallthrough
	case Array:
		for j := range src.Len() {
			e.copyNode(i+1, dst.Index(j), src.Index(j))
		}
	default:
		dst.Set(src)
	}
}

func (e *portableEngine) writeSection(h *xxhash.Digest, i int, v reflect.Value) int {
	f := e.s.fields[e.s.nodes[0].first+int32(i)]
	b := e.appendNode(nil, int(f), v.Field(e.places[f].index))
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	h.Write(b)
	return len(b)
}

func (e *portableEngine) appendPrints(dst []uint64, v reflect.Value) ([]uint64, int) {
	size := 0
	for _, f := range e.s.fieldsOf(&e.s.nodes[0]) {
		b := e.appendNode(nil, int(f), v.Field(e.places[f].index))
		dst = append(dst, printOf(b))
		size += len(b)
	}
	return dst, size
}

// PrintBlock is the number of canonical bytes that one step of a print takes.
const PrintBlock = 8 << 10

func printOf(b []byte) (p uint64) {
	for len(b) > PrintBlock {
		p, b = nextPrint(p, b[:PrintBlock]), b[PrintBlock:]
	}
	return nextPrint(p, b)
}

func nextPrint(p uint64, block []byte) uint64 {
	//samestep:allow unseen XXH3 is the same function in assembly and in Go
	//samestep:allow global what the processor has chooses between them
	//samestep:allow pointer the library walks through a block by address
	//samestep:allow unsafe the same
	p = (p ^ xxh3.Hash(block)) * 0x9e3779b97f4a7c15
	return p ^ p>>32
}

// appendUint appends the first size bytes of v, the lowest first.
func appendUint(dst []byte, v uint64, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, v)[:len(dst)+size]
}
