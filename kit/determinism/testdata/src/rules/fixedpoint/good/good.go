//samestep:deterministic
package good

import "github.com/seed-49bee653/samestep/fixed"

func area(width, height fixed.Q) fixed.Q { return width.Mul(height) }

func share(all, part fixed.Q) fixed.Q { return (all - part).Div(part) }

func row(units uint16, space fixed.Q) fixed.Q { return fixed.Q(units) * space / 2 }

func cells(count fixed.Q) fixed.Q { return count * (3 * fixed.One) }

func later(at fixed.Q) bool { return at > 10*fixed.One && at != 0 }

func square(d fixed.Q) fixed.Q { return (d / (1 << 16)) * (d / (1 << 16)) } // 16 bits of each are left

func dot(x, y fixed.Q) fixed.Q {
	a, b := x/(1<<16), y>>16
	return a * b
}

func steps(way, step fixed.Q) int64 { return int64(way / step) } // how many times

func rest(at fixed.Q) fixed.Q { return at % fixed.One }

func whole(n int32) (x, y fixed.Q) { return fixed.FromInt(int64(n)), fixed.Q(n) << 32 }
