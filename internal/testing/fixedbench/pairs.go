package fixedbench

import (
	"math"

	"github.com/seed-49bee653/samestep/fixed"
)

// Pairs is every operation that has a float64 twin.
var Pairs = []Pair{
	{
		Name: "Mul",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += qs[i&mask].Mul(rs[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += fs[i&mask] * gs[i&mask]
			}
			sinkF = sum
		},
	},
	{
		Name: "MulWrap",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += qs[i&mask].MulWrap(rs[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += fs[i&mask] * gs[i&mask]
			}
			sinkF = sum
		},
	},
	{
		Name: "Div",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += qs[i&mask].Div(pos[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += fs[i&mask] / fpos[i&mask]
			}
			sinkF = sum
		},
	},
	{
		Name: "Sqrt",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += pos[i&mask].Sqrt()
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Sqrt(fpos[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "RSqrt",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.RSqrt(pos[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += 1 / math.Sqrt(fpos[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Hypot",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.Hypot(qs[i&mask], rs[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				x, y := fs[i&mask], gs[i&mask]
				sum += math.Sqrt(x*x + y*y)
			}
			sinkF = sum
		},
	},
	{
		Name: "InRange",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				outBool[i&mask] = fixed.Vec2{X: qs[i&mask], Y: rs[i&mask]}.InRange(fixed.Vec2{X: rs[i&mask], Y: qs[i&mask]}, pos[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				dx, dy, r := fs[i&mask]-gs[i&mask], gs[i&mask]-fs[i&mask], fpos[i&mask]
				outBool[i&mask] = dx*dx+dy*dy <= r*r
			}
			sinkF = sum
		},
	},
	{
		Name: "Sin",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += turns[i&mask].Sin()
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Sin(arcs[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Cos",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += turns[i&mask].Cos()
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Cos(arcs[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "SinCos",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				s, c := turns[i&mask].SinCos()
				sum += s + c
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				s, c := math.Sincos(arcs[i&mask])
				sum += s + c
			}
			sinkF = sum
		},
	},
	{
		Name: "SinRadians",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.SinRadians(small[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Sin(fsmall[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Atan2",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.Q(fixed.Atan2(qs[i&mask], rs[i&mask]))
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Atan2(fs[i&mask], gs[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Normalize",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				outVec[i&mask] = fixed.Vec2{X: qs[i&mask], Y: rs[i&mask]}.Normalize()
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				outVecF[i&mask] = vec2{fs[i&mask], gs[i&mask]}.normalize()
			}
			sinkF = sum
		},
	},
	{
		Name: "Exp2",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.Exp2(small[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Exp2(fsmall[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Log2",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.Log2(pos[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Log2(fpos[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Pow",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				sum += fixed.Pow(pos[i&mask], small[i&mask])
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				sum += math.Pow(fpos[i&mask], fsmall[i&mask])
			}
			sinkF = sum
		},
	},
	{
		Name: "Seek",
		Fixed: func(n int) {
			var sum fixed.Q
			for i := range n {
				outVec[i&mask] = seek(i)
			}
			sinkQ = sum
		},
		Float: func(n int) {
			var sum float64
			for i := range n {
				outVecF[i&mask] = seekFloat(i)
			}
			sinkF = sum
		},
	},
}

func (v vec2) normalize() vec2 {
	l := math.Sqrt(v.x*v.x + v.y*v.y)
	return vec2{v.x / l, v.y / l}
}

// seek steers a unit towards a goal as a simulation does each tick: a range test, a direction, six multiply-adds.
func seek(i int) fixed.Vec2 {
	at, goal := fixed.Vec2{X: qs[i&mask], Y: rs[i&mask]}, fixed.Vec2{X: rs[i&mask], Y: small[i&mask]}
	velocity := fixed.Vec2{X: small[i&mask], Y: pos[i&mask]}
	if at.InRange(goal, fixed.Half) {
		return at
	}
	to := fixed.Vec2{X: goal.X - at.X, Y: goal.Y - at.Y}.Normalize()
	const speed, steer, drag = fixed.One / 3, fixed.One / 5, fixed.One / 7
	velocity.X += to.X.Mul(steer) - velocity.X.Mul(drag)
	velocity.Y += to.Y.Mul(steer) - velocity.Y.Mul(drag)
	return fixed.Vec2{X: at.X + velocity.X.Mul(speed), Y: at.Y + velocity.Y.Mul(speed)}
}

// seekFloat is seek with float64.
func seekFloat(i int) vec2 {
	at, goal := vec2{fs[i&mask], gs[i&mask]}, vec2{gs[i&mask], fsmall[i&mask]}
	velocity := vec2{fsmall[i&mask], fpos[i&mask]}
	dx, dy := goal.x-at.x, goal.y-at.y
	if dx*dx+dy*dy <= 0.25 {
		return at
	}
	to := vec2{dx, dy}.normalize()
	const speed, steer, drag = 1. / 3, 1. / 5, 1. / 7
	velocity.x += to.x*steer - velocity.x*drag
	velocity.y += to.y*steer - velocity.y*drag
	return vec2{at.x + velocity.x*speed, at.y + velocity.y*speed}
}
