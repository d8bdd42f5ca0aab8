//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import (
	"math/bits"
	"reflect"
)

// recycler decides for one Decode or Copy which slices of the old value keep their memory.
//
// A game may share memory within a state: two units with one path, a slice of an array, an element that was moved to the
// front and is still behind the end. Writing two slices into the same memory would corrupt the state silently, so a slice
// keeps its memory only if nothing else in the state or in the source uses it. A site is a slice field or element of the
// type. All slices of a site keep their memory if each begins after the end of the one before, and the range from the
// first to the last overlaps no other site, no root and no slice of the source. Otherwise the whole site gets new memory,
// in one piece and in order, so that it passes the next time.
//
// Without it, a copy of 10,000 units takes four times as long and leaves 1.2 MB of garbage (BenchmarkFlat).
type recycler struct {
	sites    [maxSites]site
	count    int    // sites in use
	measured bool   // the totals of the sites are known
	source   []byte // the decoded bytes, from which measure computes the totals
	root     *form
}

// maxSites is the maximum number of sites that can keep their memory. The slices of others always get new memory.
const maxSites = 64

type site struct {
	first, last pointer // memory range of all its slices; last is inclusive; nil if there are none
	shared      bool    // the memory may be in use elsewhere
	total       int     // elements of room for all its slices; of inner sites only
	free        pointer // unused part of the last piece of new memory
	freeCount   int     // its elements
	piece       int     // elements of the whole piece
}

func (s *site) keeps() bool { return s.first != nil && !s.shared }

// survey notes the memory of all slices in the old value at p. In the source of a copy, it gives up their memory, and adds up their elements.
func (r *recycler) survey(f *form, p pointer, source bool) {
	for k := range f.ops {
		switch o := &f.ops[k]; o.code {
		case opSlice:
			h := sliceAt(offset(p, o.offset))
			if source {
				r.spare(h.data, uintptr(h.cap)*o.elem.stride)
				r.total(o, h.len)
			} else {
				r.note(o, h)
			}
			r.surveyElems(o.elem, h.data, h.len, source)
		case opArray:
			r.surveyElems(o.elem, offset(p, o.offset), o.count, source)
		}
	}
}

func (r *recycler) surveyElems(f *form, p pointer, count int, source bool) {
	for j := 0; f.slices && j < count; j++ {
		r.survey(f, offset(p, uintptr(j)*f.stride), source)
	}
}

func (r *recycler) note(o *op, h *sliceHeader) {
	if o.site >= maxSites || h.cap == 0 {
		return
	}
	s := &r.sites[o.site]
	if s.first == nil {
		s.first = h.data
	} else if address(h.data) <= address(s.last) {
		s.shared = true
	}
	s.last = offset(h.data, uintptr(h.cap)*o.elem.stride-1)
}

// separate gives up the memory of sites that overlap each other, or the root at p.
func (r *recycler) separate(p pointer) {
	r.spare(p, r.root.stride)
	for k := range r.sites[:r.count] {
		if s := &r.sites[k]; s.keeps() {
			s.shared = true // it does not count as overlapping itself
			r.spare(s.first, address(s.last)-address(s.first)+1)
			s.shared = false
		}
	}
}

// spare gives up the memory of all sites that overlap the n bytes at p.
func (r *recycler) spare(p pointer, n uintptr) {
	for k := range r.sites[:r.count] {
		if s := &r.sites[k]; s.keeps() && overlap(s.first, address(s.last)-address(s.first)+1, p, n) {
			s.shared = true
		}
	}
}

func (r *recycler) total(o *op, count int) {
	if o.inner && o.site < maxSites {
		r.sites[o.site].total += room(count)
	}
}

// room returns the capacity of a slice of count elements in new memory, with some room to grow.
func room(count int) int {
	if count == 0 {
		return 0
	}
	if count > 1024 {
		return count + count/4
	}
	return max(4, 1<<bits.Len(uint(count-1)))
}

// measure adds up the totals of a value at the start of src and returns the rest.
func (r *recycler) measure(f *form, src []byte) []byte {
	for k := range f.ops {
		count := 0
		switch o := &f.ops[k]; o.code {
		case opBlock:
			src = src[o.size:]
		case opString:
			count, src = readCount(src)
			src = src[count:]
		case opSlice:
			count, src = readCount(src)
			r.total(o, count)
			src = r.measureElems(o.elem, src, count)
		case opArray:
			src = r.measureElems(o.elem, src, o.count)
		}
	}
	return src
}

func (r *recycler) measureElems(f *form, src []byte, count int) []byte {
	if f.fixed {
		return src[count*f.size:]
	}
	for range count {
		src = r.measure(f, src)
	}
	return src
}

// take makes h, in the old value, a slice of count elements and returns the first. The caller sets the elements.
func (r *recycler) take(o *op, h *sliceHeader, count int) pointer {
	tracked := o.site < maxSites
	switch {
	case tracked && r.sites[o.site].keeps() && count <= h.cap:
		used := h.len
		h.len = count
		o.elem.reset(h, used)
	case count == 0:
		*h = sliceHeader{}
	case tracked && o.inner:
		*h = r.carve(o, count)
	case h.cap > 0: // it grew, and is likely to grow again
		*h = newSlice(o.elem.sliceType, count, count+count/4)
	default:
		*h = newSlice(o.elem.sliceType, count, count)
	}
	return h.data
}

// carve cuts a slice off a piece of new memory.
func (r *recycler) carve(o *op, count int) sliceHeader {
	s, capacity := &r.sites[o.site], room(count)
	if s.freeCount < capacity {
		if !r.measured {
			r.measure(r.root, r.source)
			r.measured = true
		}
		n := s.total // for all slices of the site
		if s.keeps() {
			n = min(n, 2*s.piece) // only some grew
		}
		s.piece = max(n, capacity)
		s.free, s.freeCount = newSlice(o.elem.sliceType, s.piece, s.piece).data, s.piece
	}
	h := sliceHeader{s.free, count, capacity}
	if s.freeCount -= capacity; s.freeCount > 0 {
		s.free = offset(s.free, uintptr(capacity)*o.elem.stride)
	}
	return h
}

func newSlice(t reflect.Type, count, capacity int) sliceHeader {
	//samestep:allow pointer the address only locates the new elements
	return sliceHeader{reflect.MakeSlice(t, count, capacity).UnsafePointer(), count, capacity}
}

// reset zeroes the elements of h whose old content must not show: those with derived fields, and those behind the end of the old slice.
func (f *form) reset(h *sliceHeader, used int) {
	if f.derived {
		used = 0
	}
	if f.plain || used >= h.len {
		return
	}
	whole := *h
	*h = sliceHeader{offset(h.data, uintptr(used)*f.stride), h.len - used, h.len - used}
	reflect.NewAt(f.sliceType, pointer(h)).Elem().Clear()
	*h = whole
}
