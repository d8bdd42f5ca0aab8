package fixed_test

import "math/big"

// Sine, arc tangent, logarithm and exponential of math/big numbers by their series: slow, plain, and good to about 2^-300.
// The tables of package fixed are made of them, and its tests compare with them.

const bigPrecision = 400 // bits

// tiny ends a series.
var tiny = new(big.Float).SetMantExp(big.NewFloat(1), -330)

// bigFloat returns a new number with the precision of this package.
func bigFloat(x int64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetInt64(x) }

// bigRatio returns a/b.
func bigRatio(a, b int64) *big.Float { return over(bigFloat(a), bigFloat(b)) }

// bigScale returns x·2^n.
func bigScale(x *big.Float, n int) *big.Float { return bigFloat(0).SetMantExp(x, n) }

// bigPi returns π, by Machin's formula.
func bigPi() *big.Float {
	a := times(bigFloat(16), atanSeries(bigRatio(1, 5)))
	return minus(a, times(bigFloat(4), atanSeries(bigRatio(1, 239))))
}

// bigSin returns the sine of x radians; x should be small, |x| < 10.
func bigSin(x *big.Float) *big.Float { return bigPowers(x, x, 1) }

// bigCos returns the cosine of x radians; x should be small, |x| < 10.
func bigCos(x *big.Float) *big.Float { return bigPowers(bigFloat(1), x, 0) }

// bigPowers sums term - term·x²/((n+1)(n+2)) + …
func bigPowers(term, x *big.Float, n int64) *big.Float {
	sum, xx := bigFloat(0), times(x, x)
	for small := 0; small < 2; n += 2 {
		sum.Add(sum, term)
		term = over(times(term, xx), bigFloat(-(n+1)*(n+2)))
		if new(big.Float).Abs(term).Cmp(tiny) < 0 {
			small++
		}
	}
	return sum
}

// bigAtan returns the arc tangent of x, in radians.
func bigAtan(x *big.Float) *big.Float {
	// atan x = 2·atan(x / (1+√(1+x²))), until the series is quick.
	n := 0
	for new(big.Float).Abs(x).Cmp(bigRatio(1, 64)) > 0 {
		root := bigFloat(0).Sqrt(plus(bigFloat(1), times(x, x)))
		x = over(x, plus(bigFloat(1), root))
		n++
	}
	return bigScale(atanSeries(x), n)
}

func atanSeries(x *big.Float) *big.Float {
	sum, xx, power := bigFloat(0), times(x, x), x
	for n := int64(1); new(big.Float).Abs(power).Cmp(tiny) > 0; n += 2 {
		sum.Add(sum, over(power, bigFloat(n)))
		power = new(big.Float).Neg(times(power, xx))
	}
	return sum
}

// bigAtan2 returns the direction of (x, y) in radians, -π..π; that of (0, 0) is 0.
func bigAtan2(y, x *big.Float) *big.Float {
	var a *big.Float
	switch ay, ax := absolute(y), absolute(x); {
	case ay.Sign() == 0 && ax.Sign() == 0:
		return bigFloat(0)
	case ay.Cmp(ax) <= 0:
		a = bigAtan(over(ay, ax))
	default:
		a = minus(bigScale(bigPi(), -1), bigAtan(over(ax, ay)))
	}
	if x.Sign() < 0 {
		a = minus(bigPi(), a)
	}
	if y.Sign() < 0 {
		a.Neg(a)
	}
	return a
}

// bigLog returns the natural logarithm of x > 0.
func bigLog(x *big.Float) *big.Float {
	m := bigFloat(0)
	n := x.MantExp(m) // x = m·2^n, m in 1/2..1
	return plus(logSeries(m), times(bigFloat(int64(n)), logSeries(bigFloat(2))))
}

// logSeries returns log x = 2·atanh((x-1)/(x+1)), for x near 1.
func logSeries(x *big.Float) *big.Float {
	r := over(minus(x, bigFloat(1)), plus(x, bigFloat(1)))
	sum, rr, power := bigFloat(0), times(r, r), r
	for n := int64(1); new(big.Float).Abs(power).Cmp(tiny) > 0; n += 2 {
		sum.Add(sum, over(power, bigFloat(n)))
		power = times(power, rr)
	}
	return bigScale(sum, 1)
}

// bigLog2 returns the base-2 logarithm of x > 0.
func bigLog2(x *big.Float) *big.Float { return over(bigLog(x), logSeries(bigFloat(2))) }

// bigExp2 returns 2^x.
func bigExp2(x *big.Float) *big.Float {
	whole, _ := x.Int64()
	y := times(minus(x, bigFloat(whole)), logSeries(bigFloat(2)))
	sum, term := bigFloat(0), bigFloat(1)
	for n := int64(1); absolute(term).Cmp(tiny) > 0; n++ {
		sum.Add(sum, term)
		term = over(times(term, y), bigFloat(n))
	}
	return bigScale(sum, int(whole))
}

// bigRound returns x rounded to an integer, ties to even.
func bigRound(x *big.Float) *big.Int {
	half := big.NewFloat(0.5)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	n, _ := plus(x, half).Int(nil)
	if tie := minus(bigFloat(0).SetInt(n), x); absolute(tie).Cmp(absolute(half)) == 0 && n.Bit(0) == 1 {
		if x.Sign() < 0 {
			return n.Add(n, big.NewInt(1))
		}
		return n.Sub(n, big.NewInt(1))
	}
	return n
}

func plus(x, y *big.Float) *big.Float  { return bigFloat(0).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return bigFloat(0).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return bigFloat(0).Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return bigFloat(0).Quo(x, y) }
func absolute(x *big.Float) *big.Float { return bigFloat(0).Abs(x) }
