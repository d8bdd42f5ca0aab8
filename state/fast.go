//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

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

func (e *fastEngine) size(v pointer) int { return e.root.sizeOf(v) }

func (f *form) sizeOf(p pointer) int {
	size := f.size
	if f.fixed {
		return size
	}
	for k := range f.ops {
		switch o := &f.ops[k]; o.code {
		case opString:
			size += len(*stringAt(offset(p, o.offset)))
		case opSlice:
			h := sliceAt(offset(p, o.offset))
			size += h.len*o.elem.size + o.elem.excess(h.data, h.len)
		case opArray:
			size += o.elem.excess(offset(p, o.offset), o.count)
		}
	}
	return size
}

// excess returns by how many bytes count values at p exceed their least size.
func (f *form) excess(p pointer, count int) int {
	size := 0
	if !f.fixed {
		for j := range count {
			size += f.sizeOf(offset(p, uintptr(j)*f.stride)) - f.size
		}
	}
	return size
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

// appendElems appends count values at p.
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

// direction tells which way a fixed value moves.
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
	h := hasher{d: d}
	h.write(e.sections[i], v)
	h.flush()
	return h.size
}

// hasher buffers small parts before it hashes them.
type hasher struct {
	d    *xxhash.Digest
	size int // bytes so far
	n    int // bytes in buf
	buf  [2048]byte
}

func (h *hasher) flush() {
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	h.d.Write(h.buf[:h.n])
	h.n = 0
}

func (h *hasher) put(b []byte) {
	h.size += len(b)
	if h.n+len(b) > len(h.buf) {
		h.flush()
		if len(b) >= len(h.buf)/2 {
			//samestep:allow unseen xxHash64 is the same function in assembly and in Go
			h.d.Write(b)
			return
		}
	}
	h.n += copy(h.buf[h.n:], b)
}

func (h *hasher) putCount(count int) {
	var b [countSize]byte
	h.put(appendCount(b[:0], count))
}

// write hashes what f.append would append.
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
			h.flush()
		}
	}
}

// readCount reads the count at the beginning of valid bytes.
func readCount(src []byte) (int, []byte) {
	return int(binary.LittleEndian.Uint32(src)), src[countSize:]
}
