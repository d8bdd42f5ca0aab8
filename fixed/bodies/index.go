package bodies

import (
	"math/bits"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
)

// An Index is the cache behind [Near]. Keep it in a derived field of the state; the zero value works. The answers come only
// from [Index.Near], which compares the positions of the state with its own copy: a restored state, a copy and a rewound
// match need no other care.
type Index struct{ near Near }

// A Near finds positions near a place. It answers for the positions of the call of [Index.Near] that returned it, and is
// valid until the next one.
type Near struct {
	at     []fixed.Vec2 // the positions from which the other fields were made
	shift  uint8        // the side of a cell is 1<<shift
	mask   uint32       // number of buckets - 1
	starts []uint32     // bucket b holds sorted[starts[b]:starts[b+1]]
	bucket []uint32     // by position
	sorted []placed
}

// A placed is a position with its index.
type placed struct {
	at fixed.Vec2
	id uint32
}

// Near returns what finds the positions near a place. Call it in each tick, and again after positions have changed. If they
// are those of the last call, it costs their comparison. It is fastest for ranges about reach (cells); all ranges work.
func (x *Index) Near(at []fixed.Vec2, reach fixed.Q) *Near {
	n := &x.near
	shift := uint8(bits.Len64(uint64(max(reach, 1<<8)) - 1)) // the cells are not smaller than reach
	if shift == n.shift && slices.Equal(at, n.at) {
		return n
	}
	n.at = append(n.at[:0], at...)
	n.shift = shift
	n.build()
	return n
}

// build sorts the positions into buckets. The cells of a row are beside each other, modulo the number of buckets.
func (n *Near) build() {
	size := 16
	for size < 2*len(n.at) {
		size *= 2
	}
	n.mask = uint32(size - 1)
	n.starts, n.bucket, n.sorted = resize(n.starts, size+1), resize(n.bucket, len(n.at)), resize(n.sorted, len(n.at))
	clear(n.starts)
	for i, p := range n.at {
		b := n.bucketOf(n.cell(p.X), n.cell(p.Y))
		n.bucket[i] = b
		n.starts[b]++
	}
	sum := uint32(0)
	for b, count := range n.starts {
		sum += count
		n.starts[b] = sum
	}
	for i := len(n.at) - 1; i >= 0; i-- { // backwards: each start moves down to the first position of its bucket
		b := n.bucket[i]
		n.starts[b]--
		n.sorted[n.starts[b]] = placed{n.at[i], uint32(i)}
	}
}

// cell returns the column or row of a coordinate.
func (n *Near) cell(x fixed.Q) int64 { return int64(x) >> n.shift }

func (n *Near) bucketOf(column, row int64) uint32 {
	return (uint32(uint64(row)*0x9e3779b97f4a7c15>>32) + uint32(column)) & n.mask
}

// Within appends to found the indexes of the positions that are at most r away from a place, ascending. It is exact for all
// positions, and finds nothing for a negative r.
func (n *Near) Within(place fixed.Vec2, r fixed.Q, found []uint32) []uint32 {
	if r < 0 {
		return found
	}
	first := len(found)
	found = n.inBox(corner(place, -r), corner(place, r), found)
	kept := found[:first]
	for _, i := range found[first:] {
		if place.InRange(n.at[i], r) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept[first:])
	return kept
}

// Along appends to found the indexes of the positions in the rectangle around a way and r around it, ascending: all that are
// at most r away from the way, and others. It is never nil.
func (n *Near) Along(from, to fixed.Vec2, r fixed.Q, found []uint32) []uint32 {
	if found == nil {
		found = []uint32{}
	}
	if r < 0 {
		return found
	}
	first := len(found)
	low := fixed.Vec2{X: min(from.X, to.X), Y: min(from.Y, to.Y)}
	high := fixed.Vec2{X: max(from.X, to.X), Y: max(from.Y, to.Y)}
	found = n.inBox(corner(low, -r), corner(high, r), found)
	slices.Sort(found[first:])
	return found
}

// corner returns a place moved by d along both axes, within the range of numbers.
func corner(p fixed.Vec2, d fixed.Q) fixed.Vec2 { return fixed.Vec2{X: plus(p.X, d), Y: plus(p.Y, d)} }

// inBox appends the indexes of the positions from low to high, inclusive, in an order that depends on the positions only.
func (n *Near) inBox(low, high fixed.Vec2, found []uint32) []uint32 {
	left, right, bottom, top := n.cell(low.X), n.cell(high.X), n.cell(low.Y), n.cell(high.Y)
	width, height := uint64(right-left), uint64(top-bottom)
	if most := uint64(len(n.at)); width >= most || height >= most || width > uint64(n.mask) || (width+1)*(height+1) > most+16 {
		for i, p := range n.at {
			if p.X >= low.X && p.X <= high.X && p.Y >= low.Y && p.Y <= high.Y {
				found = append(found, uint32(i))
			}
		}
		return found
	}
	for row := bottom; row <= top; row++ {
		from := n.bucketOf(left, row)
		to := from + uint32(width) + 1
		if to > n.mask+1 { // the row goes on at the first bucket
			found = n.inSpan(n.sorted[:n.starts[to&n.mask]], row, low, high, found)
			to = n.mask + 1
		}
		found = n.inSpan(n.sorted[n.starts[from]:n.starts[to]], row, low, high, found)
	}
	return found
}

// inSpan appends those of one row: a bucket can hold cells of several.
func (n *Near) inSpan(span []placed, row int64, low, high fixed.Vec2, found []uint32) []uint32 {
	for k := range span {
		p := &span[k]
		if p.at.X >= low.X && p.at.X <= high.X && p.at.Y >= low.Y && p.at.Y <= high.Y && n.cell(p.at.Y) == row {
			found = append(found, p.id)
		}
	}
	return found
}

// plus returns x+y, within the range of numbers.
func plus(x, y fixed.Q) fixed.Q {
	s := x + y
	if (x^s)&(y^s) < 0 {
		return fixed.MaxQ ^ x>>63
	}
	return s
}

// minus returns x-y, within the range of numbers.
func minus(x, y fixed.Q) fixed.Q {
	d := x - y
	if (x^y)&(x^d) < 0 {
		return fixed.MaxQ ^ x>>63
	}
	return d
}

// resize returns s with n elements of any value.
func resize[S ~[]E, E any](s S, n int) S {
	if cap(s) < n {
		return make(S, n, n+n/4)
	}
	return s[:n]
}
