// Package bignum is sine, arc tangent, logarithm and exponential on math/big numbers, by their series: slow, plain, and
// good to about 2^-300. The tables of package fixed are made from it, and its tests judge by it.
package bignum

import "math/big"

// Prec is the precision of every result, in bits.
const Prec = 400

// tiny ends a series.
var tiny = new(big.Float).SetMantExp(big.NewFloat(1), -330)

// Float returns a new number with the precision of this package.
func Float(x int64) *big.Float { return new(big.Float).SetPrec(Prec).SetInt64(x) }

// Ratio returns a/b.
func Ratio(a, b int64) *big.Float { return quo(Float(a), Float(b)) }

// Scale returns x·2^n.
func Scale(x *big.Float, n int) *big.Float { return Float(0).SetMantExp(x, n) }

// Pi returns π, by Machin's formula.
func Pi() *big.Float {
	a := mul(Float(16), atanSeries(Ratio(1, 5)))
	return sub(a, mul(Float(4), atanSeries(Ratio(1, 239))))
}

// Sin returns the sine of x radians; x should be small, |x| < 10.
func Sin(x *big.Float) *big.Float { return powers(x, x, 1) }

// Cos returns the cosine of x radians; x should be small, |x| < 10.
func Cos(x *big.Float) *big.Float { return powers(Float(1), x, 0) }

// powers sums term - term·x²/((n+1)(n+2)) + …
func powers(term, x *big.Float, n int64) *big.Float {
	sum, xx := Float(0), mul(x, x)
	for small := 0; small < 2; n += 2 {
		sum.Add(sum, term)
		term = quo(mul(term, xx), Float(-(n+1)*(n+2)))
		if new(big.Float).Abs(term).Cmp(tiny) < 0 {
			small++
		}
	}
	return sum
}

// Atan returns the arc tangent of x, in radians.
func Atan(x *big.Float) *big.Float {
	// atan x = 2·atan(x / (1+√(1+x²))), until the series is quick.
	n := 0
	for new(big.Float).Abs(x).Cmp(Ratio(1, 64)) > 0 {
		root := Float(0).Sqrt(add(Float(1), mul(x, x)))
		x = quo(x, add(Float(1), root))
		n++
	}
	return Scale(atanSeries(x), n)
}

func atanSeries(x *big.Float) *big.Float {
	sum, xx, power := Float(0), mul(x, x), x
	for n := int64(1); new(big.Float).Abs(power).Cmp(tiny) > 0; n += 2 {
		sum.Add(sum, quo(power, Float(n)))
		power = new(big.Float).Neg(mul(power, xx))
	}
	return sum
}

// Atan2 returns the direction of (x, y) in radians, -π..π; that of (0, 0) is 0.
func Atan2(y, x *big.Float) *big.Float {
	var a *big.Float
	switch ay, ax := abs(y), abs(x); {
	case ay.Sign() == 0 && ax.Sign() == 0:
		return Float(0)
	case ay.Cmp(ax) <= 0:
		a = Atan(quo(ay, ax))
	default:
		a = sub(Scale(Pi(), -1), Atan(quo(ax, ay)))
	}
	if x.Sign() < 0 {
		a = sub(Pi(), a)
	}
	if y.Sign() < 0 {
		a.Neg(a)
	}
	return a
}

// Log returns the natural logarithm of x > 0.
func Log(x *big.Float) *big.Float {
	m := Float(0)
	n := x.MantExp(m) // x = m·2^n, m in 1/2..1
	return add(logSeries(m), mul(Float(int64(n)), logSeries(Float(2))))
}

// logSeries returns log x = 2·atanh((x-1)/(x+1)), for x near 1.
func logSeries(x *big.Float) *big.Float {
	r := quo(sub(x, Float(1)), add(x, Float(1)))
	sum, rr, power := Float(0), mul(r, r), r
	for n := int64(1); new(big.Float).Abs(power).Cmp(tiny) > 0; n += 2 {
		sum.Add(sum, quo(power, Float(n)))
		power = mul(power, rr)
	}
	return Scale(sum, 1)
}

// Log2 returns the base-2 logarithm of x > 0.
func Log2(x *big.Float) *big.Float { return quo(Log(x), logSeries(Float(2))) }

// Exp2 returns 2^x.
func Exp2(x *big.Float) *big.Float {
	whole, _ := x.Int64()
	y := mul(sub(x, Float(whole)), logSeries(Float(2)))
	sum, term := Float(0), Float(1)
	for n := int64(1); abs(term).Cmp(tiny) > 0; n++ {
		sum.Add(sum, term)
		term = quo(mul(term, y), Float(n))
	}
	return Scale(sum, int(whole))
}

// Round returns x rounded to an integer, ties to even.
func Round(x *big.Float) *big.Int {
	half := big.NewFloat(0.5)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	n, _ := add(x, half).Int(nil)
	if tie := sub(Float(0).SetInt(n), x); abs(tie).Cmp(abs(half)) == 0 && n.Bit(0) == 1 {
		if x.Sign() < 0 {
			return n.Add(n, big.NewInt(1))
		}
		return n.Sub(n, big.NewInt(1))
	}
	return n
}

func add(x, y *big.Float) *big.Float { return Float(0).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return Float(0).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return Float(0).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return Float(0).Quo(x, y) }
func abs(x *big.Float) *big.Float    { return Float(0).Abs(x) }
