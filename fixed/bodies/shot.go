package bodies

import (
	"math/bits"

	"github.com/seed-49bee653/samestep/fixed"
)

// A Shot is a projectile's way in one tick: a circle that moves along a line. It is plain data.
type Shot struct {
	From, To fixed.Vec2 // cells
	Radius   fixed.Q    // cells; 0 for a point
}

// A Hit is where a shot meets a body.
type Hit struct {
	Body uint32     // its index
	At   fixed.Vec2 // the middle of the shot, rounded to the next unit of 2^-32 cells
	Part uint64     // of the way until then: v stands for v / 2^64, and the greatest number for all of it
}

// First returns the first of some bodies that a shot hits, and the one with the lower index of those that it hits at once.
// among has indexes of bodies, such as those of [Near.Along]; nil is all. A skipped body, such as the one that shoots, is not
// hit; skip may be nil. No body is passed at any speed: what the exact way enters by more than 2 units of 2^-32 cells is hit.
func (s Shot) First(bodies []Body, among []uint32, skip func(i int) bool) (first Hit, ok bool) {
	if among == nil {
		for i := range bodies {
			s.try(bodies, uint32(i), skip, &first, &ok)
		}
	}
	for _, i := range among {
		if uint64(i) < uint64(len(bodies)) {
			s.try(bodies, i, skip, &first, &ok)
		}
	}
	return first, ok
}

func (s Shot) try(bodies []Body, i uint32, skip func(i int) bool, first *Hit, ok *bool) {
	b := &bodies[i]
	if !s.near(b) || skip != nil && skip(int(i)) {
		return
	}
	if part, hit := s.Meets(b); hit && (!*ok || part < first.Part || part == first.Part && i < first.Body) {
		*first, *ok = Hit{Body: i, At: s.at(part), Part: part}, true
	}
}

// near reports whether the boxes around the shot's way and around the body touch.
func (s Shot) near(b *Body) bool {
	box, r := b.box(), extent(s.Radius)
	return min(s.From.X, s.To.X) <= plus(b.At.X, box.X+r) && max(s.From.X, s.To.X) >= plus(b.At.X, -box.X-r) &&
		min(s.From.Y, s.To.Y) <= plus(b.At.Y, box.Y+r) && max(s.From.Y, s.To.Y) >= plus(b.At.Y, -box.Y-r)
}

// Meets reports whether a shot hits one body, and at which part of its way, see [Hit].
func (s Shot) Meets(b *Body) (part uint64, hit bool) {
	reach := extent(b.Radius) + extent(s.Radius)
	touches := func(part uint64) bool {
		p := s.at(part)
		return p.InRange(b.nearest(p), reach)
	}
	if touches(0) {
		return 0, true
	}
	// The distance falls, and then rises: the box is convex. Find where it is least, by the sign of its change.
	low, high := uint64(0), ^uint64(0)
	for high-low > 1 {
		middle := low + (high-low)/2
		if s.leaves(b, s.at(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	switch {
	case touches(low):
		high = low
	case !touches(high):
		return 0, false
	}
	// Find where it becomes small enough.
	low = 0
	for high-low > 1 {
		middle := low + (high-low)/2
		if touches(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}

// at returns the place of the shot at a part of its way.
func (s Shot) at(part uint64) fixed.Vec2 {
	return fixed.Vec2{X: between(s.From.X, s.To.X, part), Y: between(s.From.Y, s.To.Y, part)}
}

// between returns from + (to-from)·part, exact at both ends.
func between(from, to fixed.Q, part uint64) fixed.Q {
	if part == ^uint64(0) {
		return to
	}
	if to < from {
		hi, lo := bits.Mul64(uint64(from)-uint64(to), part)
		return fixed.Q(uint64(from) - hi - lo>>63)
	}
	hi, lo := bits.Mul64(uint64(to)-uint64(from), part)
	return fixed.Q(uint64(from) + hi + lo>>63)
}

// nearest returns the place of the body's box, without its round corners, that is nearest to p.
func (b *Body) nearest(p fixed.Vec2) fixed.Vec2 {
	h := fixed.Vec2{X: extent(b.Half.X), Y: extent(b.Half.Y)}
	return fixed.Vec2{
		X: fixed.Clamp(p.X, plus(b.At.X, -h.X), plus(b.At.X, h.X)),
		Y: fixed.Clamp(p.Y, plus(b.At.Y, -h.Y), plus(b.At.Y, h.Y)),
	}
}

// leaves reports whether a shot at p does not come nearer to the body any more: (To-From)·(p-nearest) ≥ 0, exactly.
func (s Shot) leaves(b *Body, p fixed.Vec2) bool {
	q := b.nearest(p)
	h1, l1 := bits.Mul64(apartness(s.To.X, s.From.X), apartness(p.X, q.X))
	h2, l2 := bits.Mul64(apartness(s.To.Y, s.From.Y), apartness(p.Y, q.Y))
	less1, less2 := (s.To.X < s.From.X) != (p.X < q.X), (s.To.Y < s.From.Y) != (p.Y < q.Y)
	if less1 == less2 {
		return !less1 || h1|l1|h2|l2 == 0
	}
	if less1 {
		h1, l1, h2, l2 = h2, l2, h1, l1
	}
	return h1 > h2 || h1 == h2 && l1 >= l2 // the product that is not negative is the greater one
}

// apartness returns |a-b|.
func apartness(a, b fixed.Q) uint64 {
	if a < b {
		return uint64(b) - uint64(a)
	}
	return uint64(a) - uint64(b)
}
