//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import "bytes"

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
