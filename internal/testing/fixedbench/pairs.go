package fixedbench

import (
	"math"

	"github.com/seed-49bee653/samestep/fixed"
)

// Pairs is every operation that has a float64 twin.
var Pairs = []Pair{
	{
		Name:  "Mul",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return qs[i&mask].Mul(rs[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return fs[i&mask] * gs[i&mask] }) },
	},
	{
		Name:  "MulWrap",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return qs[i&mask].MulWrap(rs[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return fs[i&mask] * gs[i&mask] }) },
	},
	{
		Name:  "Div",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return qs[i&mask].Div(pos[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return fs[i&mask] / fpos[i&mask] }) },
	},
	{
		Name:  "Sqrt",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return pos[i&mask].Sqrt() }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Sqrt(fpos[i&mask]) }) },
	},
	{
		Name:  "RSqrt",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.RSqrt(pos[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return 1 / math.Sqrt(fpos[i&mask]) }) },
	},
	{
		Name:  "Hypot",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.Hypot(qs[i&mask], rs[i&mask]) }) },
		Float: func(n int) {
			add(n, &sinkF, func(i int) float64 { x, y := fs[i&mask], gs[i&mask]; return math.Sqrt(x*x + y*y) })
		},
	},
	{
		Name: "InRange",
		Fixed: func(n int) {
			store(n, &outBool, func(i int) bool {
				return fixed.Vec2{X: qs[i&mask], Y: rs[i&mask]}.InRange(fixed.Vec2{X: rs[i&mask], Y: qs[i&mask]}, pos[i&mask])
			})
		},
		Float: func(n int) {
			store(n, &outBool, func(i int) bool {
				dx, dy, r := fs[i&mask]-gs[i&mask], gs[i&mask]-fs[i&mask], fpos[i&mask]
				return dx*dx+dy*dy <= r*r
			})
		},
	},
	{
		Name:  "Sin",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return turns[i&mask].Sin() }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Sin(arcs[i&mask]) }) },
	},
	{
		Name:  "Cos",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return turns[i&mask].Cos() }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Cos(arcs[i&mask]) }) },
	},
	{
		Name:  "SinCos",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { s, c := turns[i&mask].SinCos(); return s + c }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { s, c := math.Sincos(arcs[i&mask]); return s + c }) },
	},
	{
		Name:  "SinRadians",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.SinRadians(small[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Sin(fsmall[i&mask]) }) },
	},
	{
		Name: "Atan2",
		Fixed: func(n int) {
			add(n, &sinkQ, func(i int) fixed.Q { return fixed.Q(fixed.Atan2(qs[i&mask], rs[i&mask])) })
		},
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Atan2(fs[i&mask], gs[i&mask]) }) },
	},
	{
		Name: "Normalize",
		Fixed: func(n int) {
			store(n, &outVec, func(i int) fixed.Vec2 { return fixed.Vec2{X: qs[i&mask], Y: rs[i&mask]}.Normalize() })
		},
		Float: func(n int) { store(n, &outVecF, func(i int) vec2 { return vec2{fs[i&mask], gs[i&mask]}.normalize() }) },
	},
	{
		Name:  "Exp2",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.Exp2(small[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Exp2(fsmall[i&mask]) }) },
	},
	{
		Name:  "Log2",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.Log2(pos[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Log2(fpos[i&mask]) }) },
	},
	{
		Name:  "Pow",
		Fixed: func(n int) { add(n, &sinkQ, func(i int) fixed.Q { return fixed.Pow(pos[i&mask], small[i&mask]) }) },
		Float: func(n int) { add(n, &sinkF, func(i int) float64 { return math.Pow(fpos[i&mask], fsmall[i&mask]) }) },
	},
	{
		Name:  "Seek",
		Fixed: func(n int) { store(n, &outVec, func(i int) fixed.Vec2 { return seek(i) }) },
		Float: func(n int) { store(n, &outVecF, func(i int) vec2 { return seekFloat(i) }) },
	},
}

// add adds up n results of f. The compiler inlines add and f, so each body is a plain loop.
func add[T fixed.Q | float64](n int, to *T, f func(i int) T) {
	var sum T
	for i := range n {
		sum += f(i)
	}
	*to = sum
}

// store is add for results that cannot be added up.
func store[T any](n int, to *[mask + 1]T, f func(i int) T) {
	for i := range n {
		to[i&mask] = f(i)
	}
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
