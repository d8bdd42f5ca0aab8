package desync

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// A hashSearch looks for a change of a state that gives a wanted checksum.
type hashSearch struct {
	state []byte
	parts [][]byte // of the state, by section
	sizes []int
	sums  []uint64
	hash  uint64 // the wanted checksum
}

// maxHashSearch is the size of the largest state to search, in bytes.
const maxHashSearch = 16 << 20

// newHashSearch returns a search in a copy of a state, or nil if the state is too large or not canonical.
func newHashSearch(s *state.Schema, b []byte, hash uint64) *hashSearch {
	if len(b) > maxHashSearch {
		return nil
	}
	r := &hashSearch{state: slices.Clone(b), hash: hash}
	var err error
	if r.parts, err = s.Split(nil, r.state); err != nil {
		return nil
	}
	for _, part := range r.parts {
		r.sizes = append(r.sizes, len(part))
		r.sums = append(r.sums, xxhash.Sum64(part))
	}
	return r
}

// solved reports whether the state has the wanted checksum if the sum of a section is sum.
func (r *hashSearch) solved(sums []uint64, section int, sum uint64) bool {
	before := sums[section]
	sums[section] = sum
	right := checksum.HashOf(r.sizes, sums) == r.hash
	sums[section] = before
	return right
}

// section returns the section that contains an offset of the state, and the offset at which the section begins.
func (r *hashSearch) section(offset int) (section, begin int) {
	for offset >= begin+r.sizes[section] {
		begin += r.sizes[section]
		section++
	}
	return section, begin
}
