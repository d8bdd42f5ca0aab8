package main

import (
	"fmt"
	"math"
)

// An arithmetic is the way in which a machine adds products. Compilers choose it: those for arm64 fuse a product and a sum
// into one instruction with one rounding, those for amd64 mostly round twice. The last bit may differ, and the states with it.
type arithmetic func(a, b, c, d float32) float32

var arithmetics = map[string]arithmetic{
	"plain": func(a, b, c, d float32) float32 { return float32(a*b) + float32(c*d) },
	"fused": func(a, b, c, d float32) float32 {
		return float32(math.FMA(float64(a), float64(b), float64(float32(c*d))))
	},
}

func arithmeticOf(name string) (arithmetic, error) {
	a, ok := arithmetics[name]
	if !ok {
		return nil, fmt.Errorf("--math: got %q, want plain or fused", name)
	}
	return a, nil
}

// collide exchanges the speeds of two marbles along the line between them, if they touch and come closer.
func (sum arithmetic) collide(a, b *Marble) {
	d := distance(*a, *b)
	if d >= 2*radius || d == 0 {
		return
	}
	nx, ny := (b.X-a.X)/d, (b.Y-a.Y)/d
	closing := sum(a.VX-b.VX, nx, a.VY-b.VY, ny)
	if closing <= 0 {
		return
	}
	a.VX -= float32(closing * nx)
	a.VY -= float32(closing * ny)
	b.VX += float32(closing * nx)
	b.VY += float32(closing * ny)
	if length(a.VX, a.VY) > length(b.VX, b.VY) {
		b.LastBy = max(a.LastBy, b.LastBy)
	} else {
		a.LastBy = max(a.LastBy, b.LastBy)
	}
}
