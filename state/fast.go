//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/cespare/xxhash/v2"
)

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

type former struct {
	s      *Schema
	places []place
	sites  int
	inner  bool
}

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

type (
	engine = *fastEngine
	ref    = pointer
)

func refOf[T any](v *T) ref { return pointer(v) }

// fastEngine moves values as blocks of memory. It produces the same bytes as portableEngine.
type fastEngine struct {
	root     *form
	sections []*form // one for each section, with offsets from the root
	sites    int     // number of slices in the type
}

func newEngine(s *Schema, places []place) engine { return newFastEngine(s, places) }

func newFastEngine(s *Schema, places []place) *fastEngine {
	b := former{s: s, places: places}
	e := &fastEngine{root: b.form(0)}
	e.sites = b.sites
	for _, f := range s.fieldsOf(&s.nodes[0]) {
		e.sections = append(e.sections, &form{ops: b.add(nil, int(f), places[f].offset)})
	}
	return e
}

func (e *fastEngine) append(dst []byte, v pointer) []byte {
	return e.root.append(slices.Grow(dst, e.root.size), v)
}

func (f *form) append(dst []byte, p pointer) []byte {
	for k := range f.ops {
		switch o := &f.ops[k]; o.code {
		case opBlock:
			dst = append(dst, memory(offset(p, o.offset), o.size)...)
		case opString:
			s := *stringAt(offset(p, o.offset))
			dst = append(appendCount(dst, len(s)), s...)
		case opSlice:
			h := sliceAt(offset(p, o.offset))
			dst = o.elem.appendElems(appendCount(dst, h.len), h.data, h.len)
		case opArray:
			dst = o.elem.appendElems(dst, offset(p, o.offset), o.count)
		}
	}
	return dst
}

func (f *form) appendElems(dst []byte, p pointer, count int) []byte {
	if f.flat {
		return append(dst, memory(p, count*f.size)...)
	}
	dst = slices.Grow(dst, count*f.size)
	if f.fixed {
		end := len(dst) + count*f.size
		dst = dst[:end]
		f.moveElems(dst[end-count*f.size:], p, count, toBytes)
		return dst
	}
	for j := range count {
		dst = f.append(dst, offset(p, uintptr(j)*f.stride))
	}
	return dst
}

type direction bool

const (
	toBytes   direction = false
	fromBytes direction = true
)

// moveElems moves count values at p to or from their canonical bytes. The form must be fixed.
func (f *form) moveElems(b []byte, p pointer, count int, way direction) {
	_ = b[:count*f.size]
	at := dataOf(b)
	if o := &f.ops[0]; len(f.ops) == 1 && o.code == opBlock { // a block and a gap, the most common form
		for j := range uintptr(count) {
			to, from := offset(at, j*uintptr(f.size)), offset(p, j*f.stride+o.offset)
			if way == fromBytes {
				to, from = from, to
			}
			copy(memory(to, f.size), memory(from, f.size))
		}
		return
	}
	for j := range uintptr(count) {
		f.move(offset(at, j*uintptr(f.size)), offset(p, j*f.stride), way)
	}
}

// move moves the fixed value at p to or from the f.size bytes at b.
func (f *form) move(b, p pointer, way direction) {
	for k := range f.ops {
		o := &f.ops[k]
		to, from := offset(b, o.at), offset(p, o.offset)
		if o.code == opArray {
			for j := range uintptr(o.count) {
				o.elem.move(offset(to, j*uintptr(o.elem.size)), offset(from, j*o.elem.stride), way)
			}
			continue
		}
		if way == fromBytes {
			to, from = from, to
		}
		moveBlock(to, from, o.size)
	}
}

func (e *fastEngine) writeSection(d *xxhash.Digest, i int, v pointer) int {
	var buf [2048]byte
	h := hasher{d: d, buf: buf[:]}
	h.write(e.sections[i], v)
	h.flush()
	return h.size
}

func (e *fastEngine) appendPrints(dst []uint64, v pointer) ([]uint64, int) {
	var buf [PrintBlock]byte
	h := hasher{buf: buf[:]}
	for _, f := range e.sections {
		h.print = 0
		h.write(f, v)
		h.flush()
		dst = append(dst, h.print)
	}
	return dst, h.size
}

// hasher buffers small parts before it hashes them. It computes a print unless it has a digest.
type hasher struct {
	d     *xxhash.Digest
	print uint64
	size  int // bytes so far
	n     int // bytes in buf
	buf   []byte
}

func (h *hasher) flush() {
	if h.d != nil {
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		h.d.Write(h.buf[:h.n])
	} else {
		h.print = nextPrint(h.print, h.buf[:h.n])
	}
	h.n = 0
}

func (h *hasher) put(b []byte) {
	h.size += len(b)
	if h.n+len(b) > len(h.buf) {
		if b = h.putBlocks(b); b == nil {
			return
		}
	}
	h.n += copy(h.buf[h.n:], b)
}

// putBlocks hashes what is buffered and of b what need not be. It returns the rest. Only the last block of a print may be shorter.
func (h *hasher) putBlocks(b []byte) []byte {
	if h.d != nil {
		h.flush()
		if len(b) < len(h.buf)/2 {
			return b
		}
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		h.d.Write(b)
		return nil
	}
	if h.n > 0 {
		n := copy(h.buf[h.n:], b)
		h.n, b = len(h.buf), b[n:]
		h.flush()
	}
	for ; len(b) > len(h.buf); b = b[len(h.buf):] {
		h.print = nextPrint(h.print, b[:len(h.buf)])
	}
	return b
}

func (h *hasher) putCount(count int) {
	var b [countSize]byte
	h.put(appendCount(b[:0], count))
}

func (h *hasher) write(f *form, p pointer) {
	for k := range f.ops {
		switch o := &f.ops[k]; o.code {
		case opBlock:
			h.put(memory(offset(p, o.offset), o.size))
		case opString:
			s := *stringAt(offset(p, o.offset))
			h.putCount(len(s))
			h.put(bytesOf(s))
		case opSlice:
			elems := sliceAt(offset(p, o.offset))
			h.putCount(elems.len)
			h.writeElems(o.elem, elems.data, elems.len)
		case opArray:
			h.writeElems(o.elem, offset(p, o.offset), o.count)
		}
	}
}

func (h *hasher) writeElems(f *form, p pointer, count int) {
	if f.flat {
		h.put(memory(p, count*f.size))
		return
	}
	if !f.fixed || f.size > len(h.buf) {
		for j := range count {
			h.write(f, offset(p, uintptr(j)*f.stride))
		}
		return
	}
	for j := 0; j < count; { // as many at a time as fit
		n := min(count-j, (len(h.buf)-h.n)/f.size)
		f.moveElems(h.buf[h.n:], offset(p, uintptr(j)*f.stride), n, toBytes)
		h.n += n * f.size
		h.size += n * f.size
		if j += n; j < count {
			if h.d != nil {
				h.flush()
				continue
			}
			h.write(f, offset(p, uintptr(j)*f.stride)) // in parts, over the end of the block
			j++
		}
	}
}

func readCount(src []byte) (int, []byte) {
	return int(binary.LittleEndian.Uint32(src)), src[countSize:]
}

func (e *fastEngine) decode(src []byte, v pointer) {
	if overlap(v, e.root.stride, dataOf(src), uintptr(len(src))) {
		src = bytes.Clone(src) // the bytes lie in v itself
	}
	if !e.root.slices {
		e.root.load(nil, src, v)
		return
	}
	r := recycler{count: min(e.sites, maxSites), root: e.root}
	r.survey(e.root, v, false)
	r.separate(v)
	r.spare(dataOf(src), uintptr(len(src)))
	r.source = src
	e.root.load(&r, src, v)
}

// load sets the value at p from the start of valid bytes and returns the rest.
func (f *form) load(r *recycler, src []byte, p pointer) []byte {
	for k := range f.ops {
		count := 0
		switch o := &f.ops[k]; o.code {
		case opBlock:
			src = src[copy(memory(offset(p, o.offset), o.size), src):]
		case opString:
			count, src = readCount(src)
			if s := stringAt(offset(p, o.offset)); *s != string(src[:count]) { // the comparison does not copy
				*s = string(src[:count])
			}
			src = src[count:]
		case opSlice:
			count, src = readCount(src)
			src = o.elem.loadElems(r, src, r.take(o, sliceAt(offset(p, o.offset)), count), count)
		case opArray:
			src = o.elem.loadElems(r, src, offset(p, o.offset), o.count)
		}
	}
	return src
}

func (f *form) loadElems(r *recycler, src []byte, p pointer, count int) []byte {
	if f.flat {
		return src[copy(memory(p, count*f.size), src):]
	}
	if f.fixed {
		f.moveElems(src, p, count, fromBytes)
		return src[count*f.size:]
	}
	for j := range count {
		src = f.load(r, src, offset(p, uintptr(j)*f.stride))
	}
	return src
}

func (e *fastEngine) copy(dst, src pointer) {
	if !e.root.slices {
		e.root.copyTo(nil, dst, src)
		return
	}
	r := recycler{count: min(e.sites, maxSites), root: e.root, measured: true}
	r.survey(e.root, dst, false)
	r.separate(dst)
	r.spare(src, e.root.stride)
	r.survey(e.root, src, true)
	e.root.copyTo(&r, dst, src)
}

// copyTo sets the value at dst to the one at src.
func (f *form) copyTo(r *recycler, dst, src pointer) {
	for k := range f.ops {
		o := &f.ops[k]
		to, from := offset(dst, o.offset), offset(src, o.offset)
		switch o.code {
		case opBlock:
			copy(memory(to, o.size), memory(from, o.size))
		case opString:
			*stringAt(to) = *stringAt(from)
		case opSlice:
			h := sliceAt(from)
			into := r.take(o, sliceAt(to), h.len)
			o.elem.copyElems(r, into, h.data, h.len)
		case opArray:
			o.elem.copyElems(r, to, from, o.count)
		}
	}
}

func (f *form) copyElems(r *recycler, dst, src pointer, count int) {
	if f.plain {
		size := count * int(f.stride)
		copy(memory(dst, size), memory(src, size))
		return
	}
	for j := range count {
		at := uintptr(j) * f.stride
		f.copyTo(r, offset(dst, at), offset(src, at))
	}
}
