package module

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// maxGap is the longest run of zeros, in bytes, that mergeData writes out between two segments.
const maxGap = 1 << 10

// mergeData joins the segments of a module's data that are close to each other. The linker of Go leaves out short runs of
// zeros, which makes tens of thousands of segments, and a module that takes long to load.
func mergeData(r *reader) []byte {
	whole := r.rest
	all, ok := r.segments()
	if !ok || len(all) == 0 {
		return whole
	}
	var merged []segment
	for _, s := range all {
		last := len(merged) - 1
		if last < 0 || s.at-merged[last].end() > maxGap {
			merged = append(merged, segment{s.at, slices.Clone(s.bytes)})
			continue
		}
		gap := make([]byte, s.at-merged[last].end())
		merged[last].bytes = append(append(merged[last].bytes, gap...), s.bytes...)
	}
	out := binary.AppendUvarint(nil, uint64(len(merged)))
	for _, s := range merged {
		out = appendSigned(append(out, 0, opI32Const), int64(s.at))
		out = appendSized(append(out, opEnd), s.bytes)
	}
	return out
}

// maxImage is the largest image of a memory, in bytes.
const maxImage = 64 << 20

// takeData takes the data out of the module and returns the first content of the memory. It reports false if the data are not
// simple or do not fit.
func (s *sections) takeData() (image []byte, ok bool) {
	if s.bodies[sectionDataCount] != nil { // instructions may name the segments
		return nil, false
	}
	all, ok := (&reader{rest: s.bodies[sectionData]}).segments()
	memory := &reader{rest: s.bodies[sectionMemory]}
	memory.bytes(2) // one memory, with a limit
	pages := memory.number()
	if !ok || len(all) > 0 && all[len(all)-1].end() > min(pages*pageBytes, maxImage) {
		return nil, false
	}
	if len(all) > 0 {
		image = make([]byte, all[len(all)-1].end())
	}
	for _, d := range all {
		copy(image[d.at:], d.bytes)
	}
	s.bodies[sectionData] = nil
	return image, true
}

// segments reads the section with the data, and returns its segments by their addresses. It reports whether they are simple:
// all are copied to fixed addresses, and none overlaps another.
func (r *reader) segments() (all []segment, ok bool) {
	if len(r.rest) == 0 {
		return nil, true
	}
	for n := r.number(); n > 0; n-- {
		s, ok := r.segment()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(all); i++ {
		if all[i].at < all[i-1].end() {
			return nil, false
		}
	}
	return all, r.err == nil
}

// A segment is a part of the memory's first content.
type segment struct {
	at    int
	bytes []byte
}

func (s *segment) end() int { return s.at + len(s.bytes) }

// segment reads a segment, and reports whether it is copied to a fixed address.
func (r *reader) segment() (s segment, ok bool) {
	if r.byte() != 0 || r.byte() != opI32Const {
		return s, false
	}
	s.at = int(int32(r.signed()))
	ok = r.byte() == opEnd && s.at >= 0
	s.bytes = r.bytes(r.number())
	return s, ok && r.err == nil
}
