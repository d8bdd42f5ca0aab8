//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import (
	"math/bits"
	"reflect"
)

// recycler decides, for one Decode or Copy, which memory of the old value's slices may be used again.
//
// A game may share memory inside a state: two units on one path, a slice taken from an array, an element that was moved
// to the front and still lies behind the end. Writing two slices into the same memory would damage the state in silence,
// so memory is only used again where it is certain that nobody else in the state, or in the source, has it. All slices
// at one site of the type keep theirs if each begins behind the end of the one before it, and if the range from the
// first to the last meets no other site, nor the roots, nor a slice of the source. Otherwise the whole site gets new
// memory, in one piece and in order, so that the next time it does pass.
//
// Without it, a copy of 10,000 units takes four times as long and leaves 1.2 MB of garbage (BenchmarkFlat).
type recycler struct {
	sites    [maxSites]site
	count    int    // sites in use
	measured bool   // the totals of the sites are known
	source   []byte // what is decoded, to measure the totals when they are needed
	root     *form
}

// maxSites is how many slices of a type can keep their memory; more than that always get new memory.
const maxSites = 64

// site is one slice of the type: a field, or an element.
type site struct {
	first, last pointer // the range of memory that all of its slices are in; last is inclusive; nil if there is none
	shared      bool    // the memory may be in use elsewhere
	total       int     // elements of room that all of its slices need; of inner sites only
	free        pointer // new memory that is not yet given out
	freeCount   int     // elements of it
	piece       int     // elements of the piece that free is the rest of
}

// keeps reports whether slices at s may keep their memory.
func (s *site) keeps() bool { return s.first != nil && !s.shared }

// survey notes the memory of all slices in the value at p, the old one. In the source of a copy it instead gives up all
// memory that the slices there have too, and adds up how many elements they need.
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

// note extends the range of a site by one slice.
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

// settle gives up the memory that two sites, or a site and the root at p, have in common.
func (r *recycler) settle(p pointer) {
	r.spare(p, r.root.stride)
	for k := range r.sites[:r.count] {
		if s := &r.sites[k]; s.keeps() {
			s.shared = true // so as not to meet itself
			r.spare(s.first, address(s.last)-address(s.first)+1)
			s.shared = false
		}
	}
}

// spare gives up all memory that lies in the n bytes at p.
func (r *recycler) spare(p pointer, n uintptr) {
	for k := range r.sites[:r.count] {
		if s := &r.sites[k]; s.keeps() && overlap(s.first, address(s.last)-address(s.first)+1, p, n) {
			s.shared = true
		}
	}
}

// total counts a slice of the source.
func (r *recycler) total(o *op, count int) {
	if o.inner && o.site < maxSites {
		r.sites[o.site].total += room(count)
	}
}

// room returns the capacity of a slice of count elements in new memory: it may grow a little before it has to move.
func room(count int) int {
	if count == 0 {
		return 0
	}
	if count > 1024 {
		return count + count/4
	}
	return max(4, 1<<bits.Len(uint(count-1)))
}

// measure adds up the totals of what is decoded, from the beginning of src, and returns the rest.
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

// take makes h, in the old value, a slice of count elements that are to be set, and returns the first.
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
	case h.cap > 0: // it grew, and will again
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
			n = min(n, 2*s.piece) // only for those that grew
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

// newSlice returns zero elements.
func newSlice(t reflect.Type, count, capacity int) sliceHeader {
	//samestep:allow pointer the address of new elements is where they are, and nothing else
	return sliceHeader{reflect.MakeSlice(t, count, capacity).UnsafePointer(), count, capacity}
}

// reset makes those elements of h zero whose old memory must not be seen: derived fields, and pointers behind the end of
// the old slice, which may be copies of others.
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
