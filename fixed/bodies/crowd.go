package bodies

import (
	"math/bits"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A Body is a circle, a box, or a box with round corners: all places that are at most Radius away from the box of ±Half
// around At. It is plain data.
type Body struct {
	At     fixed.Vec2 // its middle, cells
	Half   fixed.Vec2 // half of its width and height, cells; zero for a circle
	Radius fixed.Q    // cells; 0 for a box
	Want   fixed.Vec2 // the way that it wants to move in this tick, cells
	Weight uint16     // a heavier body is pushed less; 0 never moves
}

// Epsilon is the overlap (cells) that counts as none. Bodies keep half of it as a distance.
const Epsilon fixed.Q = 1 << 16

const (
	margin         = Epsilon / 2
	ulp    fixed.Q = 1 // 2^-32 cells
)

// A Crowd moves bodies. It is a cache: keep it in a derived field of the state; the zero value works. Its results depend on
// the arguments alone. Its cost grows with the pairs of bodies that are near each other.
type Crowd struct {
	index  Index
	at     []fixed.Vec2
	reach  []fixed.Q
	found  []uint32
	pairs  []pair
	starts []uint32 // body i has limits[starts[i]:starts[i+1]]
	limits []limit
	wants  []fixed.Vec2
	next   []fixed.Vec2
}

// A pair is two bodies that could meet in this tick.
type pair struct {
	a, b uint32
	way  fixed.Vec2 // of length 1, from a to b
	gap  fixed.Q    // between them; negative if they overlap
}

// A limit says that a body may move by at most room along way.
type limit struct {
	way   fixed.Vec2
	room  fixed.Q
	deep  bool    // they overlap by more than Epsilon
	hard  bool    // the other never moves, and they are not deep
	shove fixed.Q // by which the body moves back, because they overlap
}

// Move moves each body along the way that it wants, as far as the others and the ground let it. All move at once, so their
// order gives no advantage. If no two bodies overlap by more than [Epsilon], none do afterwards, for sizes and ways up to
// 16,384 cells; those that do move apart, by up to an eighth of their size in a tick, and others make room for them. No body
// enters a cell that is not open; there it counts as its bounding box. The ground may be nil.
//
// Each body keeps to its half of the space between it and every other (a buffered Voronoi cell: Zhou et al. 2017, Fast,
// On-line Collision Avoidance for Dynamic Vehicles), and slides along its border. If that is not the way, it tries to
// pass on the right, then on the left.
func (c *Crowd) Move(bodies []Body, g *grid.Ground) {
	c.meet(bodies, false)
	c.move(bodies, g, false)
}

// Separate moves bodies apart until no two overlap by more than [Epsilon], without what they want. It gives up after some
// rounds and returns the greatest overlap that is left (cells).
func (c *Crowd) Separate(bodies []Body, g *grid.Ground, rounds int) (overlap fixed.Q) {
	for {
		overlap = c.meet(bodies, true)
		if overlap <= Epsilon || rounds <= 0 {
			return overlap
		}
		rounds--
		c.move(bodies, g, true)
	}
}

// move moves the bodies within their limits.
func (c *Crowd) move(bodies []Body, g *grid.Ground, still bool) {
	c.next = resize(c.next, len(bodies))
	for i := range bodies {
		b := &bodies[i]
		c.next[i] = b.At
		if b.Weight == 0 {
			continue
		}
		limits := c.limits[c.starts[i]:c.starts[i+1]]
		by := fixed.Vec2{}
		if !still {
			by = choose(c.wants[i], limits)
		}
		by, soft := apart(by, b.push(still), limits, still)
		if by != (fixed.Vec2{}) {
			c.next[i] = b.walk(g, by, limits, soft)
		}
	}
	for i := range bodies {
		bodies[i].At = c.next[i]
	}
}

func (b *Body) wants() fixed.Vec2 {
	if b.Weight == 0 {
		return fixed.Vec2{}
	}
	return fixed.Vec2{X: limited(b.Want.X), Y: limited(b.Want.Y)}
}

// box returns half of the width and height of the bounding box.
func (b *Body) box() fixed.Vec2 {
	r := extent(b.Radius)
	return fixed.Vec2{X: extent(b.Half.X) + r, Y: extent(b.Half.Y) + r}
}

// size returns half of the greater side of the bounding box.
func (b *Body) size() fixed.Q { h := b.box(); return max(h.X, h.Y) }

// push returns how far a body moves at most in a tick or round because it overlaps others.
func (b *Body) push(still bool) fixed.Q {
	switch {
	case b.Weight == 0:
		return 0
	case still:
		return b.size()/2 + ulp
	default:
		return b.size()/8 + ulp
	}
}

// meet finds the pairs of bodies that could meet, and makes their limits. It returns the greatest overlap.
func (c *Crowd) meet(bodies []Body, still bool) (overlap fixed.Q) {
	c.at, c.reach, c.wants = resize(c.at, len(bodies)), resize(c.reach, len(bodies)), resize(c.wants, len(bodies))
	mean, n := fixed.Q(0), fixed.Q(max(len(bodies), 1))
	for i := range bodies {
		b := &bodies[i]
		reach := b.size() + b.push(still) + margin
		if w := b.wants(); !still && w != (fixed.Vec2{}) {
			reach += fixed.Hypot(w.X, w.Y) + ulp
		}
		c.at[i], c.reach[i], c.wants[i] = b.At, reach, b.wants()
		mean += reach / n
	}
	near := c.index.Near(c.at, mean+mean/2)
	c.pairs = c.pairs[:0]
	c.starts = resize(c.starts, len(bodies)+1)
	clear(c.starts)
	for i := range bodies {
		// The one with the greater reach finds the other, so that few great or fast bodies do not make all searches wide.
		reach := c.reach[i]
		c.found = near.inBox(corner(c.at[i], -2*reach), corner(c.at[i], 2*reach), c.found[:0])
		for _, j := range c.found {
			if r := c.reach[j]; r > reach || r == reach && j <= uint32(i) || int(j) == i {
				continue
			}
			if bodies[i].Weight|bodies[j].Weight == 0 {
				continue
			}
			p := pair{a: uint32(i), b: j}
			if bodies[i].meets(&bodies[j], reach+c.reach[j], &p) {
				overlap = max(overlap, -p.gap)
				c.pairs = append(c.pairs, p)
				c.starts[i]++
				c.starts[j]++
			}
		}
	}
	if !still {
		c.yield(bodies)
	}
	c.limit(bodies)
	return overlap
}

// yield lets bodies that want nothing make room for those that press on them.
func (c *Crowd) yield(bodies []Body) {
	for k := range c.pairs {
		p := &c.pairs[k]
		a, b := &bodies[p.a], &bodies[p.b]
		if p.gap > min(a.size(), b.size())/8 {
			continue
		}
		c.press(a, b, p.b, p.way)
		c.press(b, a, p.a, fixed.Vec2{X: -p.way.X, Y: -p.way.Y})
	}
	for i := range bodies {
		if b := &bodies[i]; b.wants() == (fixed.Vec2{}) && c.wants[i] != (fixed.Vec2{}) {
			c.wants[i] = c.wants[i].ClampLen(b.push(false))
		}
	}
}

// press adds to what body i, which wants nothing, does because another presses on it along a way.
func (c *Crowd) press(by, b *Body, i uint32, way fixed.Vec2) {
	if b.Weight == 0 || b.wants() != (fixed.Vec2{}) {
		return
	}
	if force := dot(by.wants(), way); force > 0 {
		force = fixed.MulDiv(force, fixed.Q(by.Weight), fixed.Q(by.Weight)+fixed.Q(b.Weight))
		c.wants[i].X = limited(c.wants[i].X + way.X.Mul(force))
		c.wants[i].Y = limited(c.wants[i].Y + way.Y.Mul(force))
	}
}

// meets reports whether two bodies could meet, and measures the space between them. reach is the sum of both reaches.
func (b *Body) meets(o *Body, reach fixed.Q, p *pair) bool {
	x, y := minus(o.At.X, b.At.X), minus(o.At.Y, b.At.Y)
	dx, dy := max(x, -x, -fixed.MaxQ^x>>63&fixed.MaxQ), max(y, -y, -fixed.MaxQ^y>>63&fixed.MaxQ)
	if dx > reach || dy > reach {
		return false
	}
	dx -= extent(b.Half.X) + extent(o.Half.X)
	dy -= extent(b.Half.Y) + extent(o.Half.Y)
	radius := extent(b.Radius) + extent(o.Radius)
	inner := fixed.Vec2{X: max(dx, 0), Y: max(dy, 0)}
	sizes := b.size() + margin + o.size() + margin
	switch {
	case inner != (fixed.Vec2{}):
		if inner.X > 0 && inner.Y > 0 && !(fixed.Vec2{}).InRange(inner, radius+reach-sizes+Epsilon) {
			return false
		}
		p.gap = fixed.Hypot(inner.X, inner.Y) - radius
		p.way = inner.Normalize()
	case dx == 0 && dy == 0 && x|y == 0: // two circles at one place: any way will do, but the same on all machines
		h := uint32(p.a*0x9e3779b1) ^ uint32(p.b*0x85ebca6b)
		p.gap, p.way = -radius, fixed.Polar(fixed.Turn(h*0xc2b2ae35), fixed.One)
		return true
	case dx > dy || dx == dy && (p.a+p.b)&1 == 0:
		p.gap, p.way = dx-radius, fixed.Vec2{X: fixed.One}
	default:
		p.gap, p.way = dy-radius, fixed.Vec2{Y: fixed.One}
	}
	if x < 0 {
		p.way.X = -p.way.X
	}
	if y < 0 {
		p.way.Y = -p.way.Y
	}
	return true
}

// limit makes the limits of each body from the pairs.
func (c *Crowd) limit(bodies []Body) {
	sum := uint32(0)
	for i, n := range c.starts {
		c.starts[i] = sum
		sum += n
	}
	c.limits = resize(c.limits, int(sum))
	for k := range c.pairs {
		p := &c.pairs[k]
		a, b := fixed.Q(bodies[p.a].Weight), fixed.Q(bodies[p.b].Weight)
		space := p.gap - margin
		room, shove := max(space, 0), max(-space, 0)
		roomA, roomB, shoveA := room/2, room/2, shove
		switch {
		case a == 0:
			roomA, roomB, shoveA = 0, room, 0
		case b == 0:
			roomA, roomB = room, 0
		case shove > 0:
			shoveA = shove / (a + b) * b
		}
		deep := -p.gap > Epsilon
		c.limits[c.starts[p.a]] = limit{p.way, roomA, deep, b == 0 && !deep, shoveA}
		c.limits[c.starts[p.b]] = limit{fixed.Vec2{X: -p.way.X, Y: -p.way.Y}, roomB, deep, a == 0 && !deep, shove - shoveA}
		c.starts[p.a]++
		c.starts[p.b]++
	}
	copy(c.starts[1:], c.starts[:len(c.starts)-1])
	c.starts[0] = 0
}

const (
	quarter = fixed.QuarterTurn
	sixth   = fixed.HalfTurn / 3
)

// choose returns the best way within the limits.
func choose(want fixed.Vec2, limits []limit) fixed.Vec2 {
	if want == (fixed.Vec2{}) {
		return want
	}
	best := within(want, limits, false)
	if best == want {
		return best
	}
	length := fixed.Hypot(want.X, want.Y)
	ahead := fixed.Vec2{X: want.X.Div(length), Y: want.Y.Div(length)}
	if dot(best, ahead) > length/2 {
		return best
	}
	for _, turn := range [...]fixed.Turn{11 * (sixth / 2), 5 * sixth, 3 * quarter} { // 30°, 60° and 90° to the right
		by := within(want.Rotate(turn), limits, false)
		if dot(by, ahead)+max(magnitude(by.X), magnitude(by.Y)) > length/2 {
			return by
		}
	}
	return best
}

// within returns the way within the limits that is nearest to by. It rounds towards none. If soft, only hard limits count.
//
// It is the linear program of van den Berg et al. 2011, Reciprocal n-Body Collision Avoidance: if a limit does not hold for
// the best way within those before it, the best way is on its border. No way at all is within all limits, so there is one.
func within(by fixed.Vec2, limits []limit, soft bool) fixed.Vec2 {
	best := by
	for k := range limits {
		l := &limits[k]
		if dot(best, l.way) <= l.room || soft && !l.hard {
			continue
		}
		border := fixed.Vec2{X: -l.way.Y, Y: l.way.X}
		foot := l.way.Scale(l.room - slack)
		low, high := -2*MaxExtent, 2*MaxExtent // of what is open along the border
		for j := range limits[:k] {
			o := &limits[j]
			if soft && !o.hard {
				continue
			}
			left, slope := o.room-slack-dot(foot, o.way), dot(border, o.way)
			switch {
			case slope > 0:
				high = min(high, quotient(left, slope))
			case slope < 0:
				low = max(low, -quotient(left, -slope))
			case left < 0:
				return fixed.Vec2{}
			}
		}
		if low > high {
			return shortened(best, limits, soft)
		}
		along := fixed.Clamp(dot(by, border), low, high)
		best = fixed.Vec2{X: foot.X + along.Mul(border.X), Y: foot.Y + along.Mul(border.Y)}
	}
	if best != by && !allowed(best, limits, soft) {
		return shortened(best, limits, soft)
	}
	return best
}

// dot returns v·way, rounded down, for a way of length 1.
func dot(v, way fixed.Vec2) fixed.Q {
	if uint64(v.X+1<<30)|uint64(v.Y+1<<30) < 1<<31 { // below a quarter of a cell: the sum fits into 64 bits
		return fixed.Q((int64(v.X)*int64(way.X) + int64(v.Y)*int64(way.Y)) >> 32)
	}
	return dotFar(v, way)
}

// dotFar is dot for a v of up to 2·MaxExtent.
func dotFar(v, way fixed.Vec2) fixed.Q {
	h1, l1 := bits.Mul64(uint64(v.X), uint64(way.X))
	h2, l2 := bits.Mul64(uint64(v.Y), uint64(way.Y))
	lo, carry := bits.Add64(l1, l2, 0)
	hi := h1 + h2 + carry - uint64(v.X>>63)&uint64(way.X) - uint64(way.X>>63)&uint64(v.X) - uint64(v.Y>>63)&uint64(way.Y) - uint64(way.Y>>63)&uint64(v.Y)
	return fixed.Q(hi<<32 | lo>>32)
}

// slack is more than the rounding of one way.
const slack = 16 * ulp

// quotient returns x/y for a positive y, limited.
func quotient(x, y fixed.Q) fixed.Q {
	if magnitude(x)>>28 >= y {
		if x < 0 {
			return -2 * MaxExtent
		}
		return 2 * MaxExtent
	}
	return x.Div(y)
}

// shortened returns a part of a way that is within the limits.
func shortened(by fixed.Vec2, limits []limit, soft bool) fixed.Vec2 {
	share := fixed.One
	for k := range limits {
		l := &limits[k]
		if along := dot(by, l.way); along > l.room && !(soft && !l.hard) {
			if l.room <= slack {
				return fixed.Vec2{}
			}
			share = min(share, (l.room - slack).Div(along))
		}
	}
	if by = by.Scale(share); allowed(by, limits, soft) {
		return by
	}
	return fixed.Vec2{}
}

// allowed reports whether a way is within the limits.
func allowed(by fixed.Vec2, limits []limit, soft bool) bool {
	for k := range limits {
		if l := &limits[k]; dot(by, l.way) > l.room && !(soft && !l.hard) {
			return false
		}
	}
	return true
}

// apart adds to a way what moves the body apart from those that it overlaps, at most most. If one of them is deep, it is
// soft: only bodies that never move hold it, so that what is squeezed gets out.
func apart(by fixed.Vec2, most fixed.Q, limits []limit, still bool) (pushed fixed.Vec2, soft bool) {
	shove := fixed.Vec2{}
	soft = still
	for k := range limits {
		if l := &limits[k]; l.shove > 0 {
			soft = soft || l.deep
			shove.X = limited(shove.X - l.shove.Mul(l.way.X))
			shove.Y = limited(shove.Y - l.shove.Mul(l.way.Y))
		}
	}
	if shove == (fixed.Vec2{}) {
		return by, soft
	}
	shove = shove.ClampLen(most)
	return within(fixed.Vec2{X: by.X + shove.X, Y: by.Y + shove.Y}, limits, soft), soft
}

// walk moves the body on the ground. If it slides there, it may get beyond its limits; then it goes less far.
func (b *Body) walk(g *grid.Ground, by fixed.Vec2, limits []limit, soft bool) fixed.Vec2 {
	box := b.box()
	for _, try := range [...]fixed.Vec2{by, {X: by.X / 2, Y: by.Y / 2}, {X: by.X}, {Y: by.Y}} {
		to := Slide(g, b.At, box, try)
		if g == nil || allowed(fixed.Vec2{X: minus(to.X, b.At.X), Y: minus(to.Y, b.At.Y)}, limits, soft) {
			return to
		}
	}
	return b.At
}
