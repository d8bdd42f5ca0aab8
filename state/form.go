//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import "reflect"

// form describes how values of one node lie in memory: what to move, in canonical order.
type form struct {
	ops       []op
	stride    uintptr // bytes in memory, with padding
	size      int     // least canonical bytes; exact if fixed
	fixed     bool    // every value has the same canonical size
	flat      bool    // the canonical bytes are the memory
	plain     bool    // the memory has no pointers and no derived fields
	derived   bool    // it has derived fields
	slices    bool    // it has slices
	sliceType reflect.Type
}

type opcode uint8

const (
	opBlock  opcode = iota // size bytes, the same in memory
	opString               // a string
	opSlice                // a slice of elem
	opArray                // count times elem
)

// op moves one part of a value.
type op struct {
	code   opcode
	inner  bool    // of a slice: one state may have many
	offset uintptr // in memory, from the start of the value
	at     uintptr // in its canonical bytes, if the form is fixed
	size   int
	count  int
	site   int // of a slice: its index in the type
	elem   *form
}

// maxUnroll is the maximum number of ops into which an array unrolls. Larger arrays get a single op.
const maxUnroll = 16

// former builds forms and numbers the slices.
type former struct {
	s      *Schema
	places []place
	sites  int
	inner  bool
}

// form builds the form of node i.
func (b *former) form(i int) *form {
	n := &b.s.nodes[i]
	p := &b.places[i]
	f := &form{stride: p.typ.Size(), size: n.size, fixed: n.fixed, derived: p.derived}
	first := b.sites
	f.ops = b.add(nil, i, 0)
	f.slices = b.sites > first
	at := uintptr(0)
	for k := range f.ops {
		f.ops[k].at = at
		if o := &f.ops[k]; o.code == opArray {
			at += uintptr(o.count * o.elem.size)
		} else {
			at += uintptr(o.size)
		}
	}
	f.flat = len(f.ops) == 1 && f.ops[0] == op{size: int(f.stride)}
	f.plain = f.fixed && !f.derived
	return f
}

// elem builds the form of the element of node i.
func (b *former) elem(i int) *form {
	outer := b.inner
	b.inner = true
	f := b.form(i + 1)
	b.inner = outer
	return f
}

// add appends the ops of node i at an offset in memory. It joins adjacent blocks.
func (b *former) add(ops []op, i int, offset uintptr) []op {
	n := &b.s.nodes[i]
	switch n.kind {
	case Struct:
		for _, f := range b.s.fieldsOf(n) {
			ops = b.add(ops, int(f), offset+b.places[f].offset)
		}
		return ops
	case String:
		return append(ops, op{code: opString, offset: offset})
	case Slice:
		site := b.sites
		b.sites++
		f := b.elem(i)
		f.sliceType = b.places[i].typ
		return append(ops, op{code: opSlice, inner: b.inner, offset: offset, site: site, elem: f})
	case Array:
		return b.addArray(ops, i, offset)
	}
	return addBlock(ops, offset, n.size)
}

func (b *former) addArray(ops []op, i int, offset uintptr) []op {
	count := b.s.nodes[i].count
	f := b.elem(i)
	switch {
	case f.flat:
		return addBlock(ops, offset, count*f.size)
	case f.slices || count*len(f.ops) > maxUnroll:
		return append(ops, op{code: opArray, offset: offset, count: count, elem: f})
	}
	for j := range count {
		for _, o := range f.ops {
			o.offset += offset + uintptr(j)*f.stride
			if o.code == opBlock {
				ops = addBlock(ops, o.offset, o.size)
			} else {
				ops = append(ops, o)
			}
		}
	}
	return ops
}

func addBlock(ops []op, offset uintptr, size int) []op {
	if k := len(ops) - 1; k >= 0 && ops[k].code == opBlock && ops[k].offset+uintptr(ops[k].size) == offset {
		ops[k].size += size
		return ops
	}
	return append(ops, op{code: opBlock, offset: offset, size: size})
}
