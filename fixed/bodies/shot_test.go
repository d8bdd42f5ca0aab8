package bodies_test

import (
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
)

// closest returns the square of the least distance of a way to the box of a body in units of 2^-32 cells, exactly: it is at
// an end of the way, at a border of the box, or where the way is nearest to a corner.
func closest(s bodies.Shot, b *bodies.Body) *big.Rat {
	rat := func(x fixed.Q) *big.Rat { return new(big.Rat).SetInt64(int64(x)) }
	from, way := [2]*big.Rat{rat(s.From.X), rat(s.From.Y)}, [2]*big.Rat{}
	way[0], way[1] = new(big.Rat).Sub(rat(s.To.X), from[0]), new(big.Rat).Sub(rat(s.To.Y), from[1])
	low := [2]*big.Rat{rat(b.At.X - b.Half.X), rat(b.At.Y - b.Half.Y)}
	high := [2]*big.Rat{rat(b.At.X + b.Half.X), rat(b.At.Y + b.Half.Y)}
	parts := []*big.Rat{rat(0), rat(1)}
	for axis := range 2 {
		if way[axis].Sign() != 0 {
			for _, border := range []*big.Rat{low[axis], high[axis]} {
				d := new(big.Rat).Sub(border, from[axis])
				parts = append(parts, d.Quo(d, way[axis]))
			}
		}
	}
	length := new(big.Rat).Add(new(big.Rat).Mul(way[0], way[0]), new(big.Rat).Mul(way[1], way[1]))
	for _, x := range []*big.Rat{low[0], high[0]} {
		for _, y := range []*big.Rat{low[1], high[1]} {
			if length.Sign() != 0 {
				dx, dy := new(big.Rat).Sub(x, from[0]), new(big.Rat).Sub(y, from[1])
				dot := new(big.Rat).Add(dx.Mul(dx, way[0]), dy.Mul(dy, way[1]))
				parts = append(parts, dot.Quo(dot, length))
			}
		}
	}
	var least *big.Rat
	for _, part := range parts {
		if part.Sign() < 0 || part.Cmp(parts[1]) > 0 {
			continue
		}
		sum := new(big.Rat)
		for axis := range 2 {
			p := new(big.Rat).Add(from[axis], new(big.Rat).Mul(part, way[axis]))
			d := new(big.Rat)
			if p.Cmp(low[axis]) < 0 {
				d.Sub(low[axis], p)
			} else if p.Cmp(high[axis]) > 0 {
				d.Sub(p, high[axis])
			}
			sum.Add(sum, d.Mul(d, d))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	return least
}

// check compares a shot at one body with exact arithmetic, and reports whether it hits.
func check(t *testing.T, s bodies.Shot, b *bodies.Body) bool {
	t.Helper()
	hit, ok := s.First([]bodies.Body{*b}, nil, nil)
	square := func(reach int64) *big.Rat {
		r := new(big.Rat).SetInt64(max(reach, 0))
		return r.Mul(r, r)
	}
	reach, least := int64(b.Radius+s.Radius), closest(s, b)
	if surely := reach >= 2 && least.Cmp(square(reach-2)) <= 0; surely && !ok {
		t.Errorf("%+v passes %+v", s, *b)
	}
	if least.Cmp(square(reach+2)) > 0 && ok {
		t.Errorf("%+v hits %+v at %v", s, *b, hit.At)
	}
	return ok
}

func TestShot(t *testing.T) {
	rand := fixed.NewStream(4, "shots")
	place := func(shift uint32) fixed.Vec2 {
		return fixed.Vec2{X: fixed.Q(rand.Uint64()) >> shift, Y: fixed.Q(rand.Uint64()) >> shift}
	}
	hits, shots := 0, 3000
	for range shots {
		shift := 2 + rand.N(50)
		b := bodies.Body{At: place(shift), Radius: fixed.Q(rand.Uint64() >> (shift + 2 + rand.N(9)))}
		if rand.Bool() {
			b.Half = fixed.Vec2{X: fixed.Q(rand.Uint64() >> (shift + 1 + rand.N(9))), Y: fixed.Q(rand.Uint64() >> (shift + 1 + rand.N(9)))}
		}
		s := bodies.Shot{From: place(shift - 1), To: place(shift - 1), Radius: fixed.Q(rand.Uint64() >> (shift + 4))}
		if b.Radius > bodies.MaxExtent || s.Radius > bodies.MaxExtent || b.Half.X > bodies.MaxExtent || b.Half.Y > bodies.MaxExtent {
			continue
		}
		if check(t, s, &b) {
			hits++
		}
	}
	if hits < shots/20 || hits > shots*19/20 {
		t.Errorf("%d of %d shots hit", hits, shots)
	}
}

// A point that crosses the whole world in one tick does not pass a thin wall.
func TestNoTunnel(t *testing.T) {
	wall := bodies.Body{Half: fixed.Vec2{X: 4, Y: fixed.One}}
	s := bodies.Shot{From: fixed.Vec2{X: fixed.MinQ, Y: 5}, To: fixed.Vec2{X: fixed.MaxQ, Y: -5}}
	hit, ok := s.First([]bodies.Body{wall}, nil, nil)
	if !ok || hit.At.X < -4 || hit.At.X > 4 {
		t.Errorf("%v %v", hit, ok)
	}
}

// The lower index decides between two that are hit at once; the first hit decides otherwise, in every order of among.
func TestFirst(t *testing.T) {
	all := []bodies.Body{
		{At: fixed.Vec2{X: 9 * fixed.One}, Radius: fixed.One},
		{At: fixed.Vec2{X: 5 * fixed.One, Y: fixed.One}, Radius: fixed.One},
		{At: fixed.Vec2{X: 5 * fixed.One, Y: -fixed.One}, Radius: fixed.One},
	}
	s := bodies.Shot{To: fixed.Vec2{X: 20 * fixed.One}, Radius: fixed.One / 4}
	for _, among := range [][]uint32{nil, {0, 1, 2}, {2, 1, 0}, {2, 0, 1, 7}} {
		if hit, ok := s.First(all, among, nil); !ok || hit.Body != 1 {
			t.Errorf("among %v: %+v %v", among, hit, ok)
		}
	}
	if hit, ok := s.First(all, []uint32{}, nil); ok {
		t.Errorf("nobody: %+v", hit)
	}
	if hit, ok := s.First(all, nil, func(i int) bool { return i > 0 }); !ok || hit.Body != 0 || hit.At.X > 8*fixed.One || hit.At.X < 7*fixed.One {
		t.Errorf("skipped two: %+v %v", hit, ok)
	}
}

func FuzzShot(f *testing.F) {
	f.Add(int64(0), int64(0), int64(9<<32), int64(1), int64(5<<32), int64(0), int64(1<<30), int64(1<<31), int64(7))
	f.Fuzz(func(t *testing.T, fx, fy, tx, ty, x, y, r, h, s int64) {
		b := bodies.Body{At: fixed.Vec2{X: fixed.Q(x) >> 1, Y: fixed.Q(y) >> 1}, Radius: fixed.Q(r) >> 4 & (1<<59 - 1)}
		b.Half = fixed.Vec2{X: fixed.Q(h) >> 4 & (1<<59 - 1), Y: fixed.Q(h) >> 9 & (1<<59 - 1)}
		check(t, bodies.Shot{
			From: fixed.Vec2{X: fixed.Q(fx), Y: fixed.Q(fy)}, To: fixed.Vec2{X: fixed.Q(tx), Y: fixed.Q(ty)}, Radius: fixed.Q(s) >> 4 & (1<<59 - 1),
		}, &b)
	})
}
