//go:build !js

package matchlines

// Sums of sections are kept in blocks, because a slice that grows takes twice its memory for a while.
type sectionSums [][]uint64

const sumsOfBlock = 1 << 16

// add keeps the sums of one state, at most 64, and returns where, counted from 1.
func (s *sectionSums) add(sums []uint64) uint32 {
	last := len(*s) - 1
	if last < 0 || len((*s)[last])+len(sums) > sumsOfBlock {
		*s = append(*s, make([]uint64, 0, sumsOfBlock))
		last++
	}
	b := &(*s)[last]
	where := last*sumsOfBlock + len(*b) + 1
	*b = append(*b, sums...)
	return uint32(where)
}

// at returns n sums that add has kept.
func (s sectionSums) at(where uint32, n int) []uint64 {
	i := int(where) - 1
	return s[i/sumsOfBlock][i%sumsOfBlock:][:n]
}
