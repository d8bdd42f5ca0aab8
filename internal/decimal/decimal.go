// Package decimal prints and parses binary fixed-point integers as decimal numbers.
//
// A value is an integer v that stands for v / 2^fractionBits. Append writes the shortest decimal that Parse reads back
// as exactly v. Parse takes any number of digits and rounds to nearest, ties to even. fractionBits is 0..64.
//
//	b := decimal.Append(nil, 3<<31, 32) // "1.5"
//	v, err := decimal.Parse("1.5", 32)  // 3<<31
//
//samestep:deterministic
package decimal

import (
	"errors"
	"math/bits"
	"strconv"
)

var (
	// ErrSyntax reports text other than an optional minus, digits, and optionally a point and digits.
	ErrSyntax = errors.New("not a decimal number")
	// ErrRange reports a number that does not fit into the integer.
	ErrRange = errors.New("number out of range")
)

// Append appends the shortest decimal for v / 2^fractionBits.
func Append(dst []byte, v int64, fractionBits uint8) []byte {
	if v < 0 {
		return AppendUint(append(dst, '-'), -uint64(v), fractionBits)
	}
	return AppendUint(dst, uint64(v), fractionBits)
}

// AppendUint appends the shortest decimal for v / 2^fractionBits.
func AppendUint(dst []byte, v uint64, fractionBits uint8) []byte {
	dst = strconv.AppendUint(dst, v>>fractionBits, 10)
	rest := v << (64 - fractionBits) // the fraction, as 64 bits after the point
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	// A decimal within half a unit of v reads back as v. width is that unit, times ten for each digit written. A tie
	// needs fractionBits+1 digits, and v itself at most fractionBits, so the loop ends before a tie.
	width := uint64(1) << (64 - fractionBits)
	for {
		var digit, over uint64
		digit, rest = bits.Mul64(rest, 10)
		over, width = bits.Mul64(width, 10)
		down := over != 0 || rest < width-rest && rest < width
		up := over != 0 || -rest < width - -rest && -rest < width
		if !down && !up && rest != 0 {
			dst = append(dst, '0'+byte(digit))
			continue
		}
		if rest > 1<<63 && up {
			digit++
		}
		return append(dst, '0'+byte(digit))
	}
}

// maxFraction is how many digits decide a rounding: a midpoint has at most 65. Later ones only tell whether a number is above one.
const maxFraction = 66

// Parse reads a decimal as an integer v that stands for v / 2^fractionBits, rounded to nearest, ties to even. It takes an
// optional minus, at least one digit, and optionally a point with at least one digit, but no exponent. The error is
// [ErrSyntax] or [ErrRange].
func Parse(s string, fractionBits uint8) (int64, error) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	v, err := ParseUint(s, fractionBits)
	switch {
	case err != nil:
		return 0, err
	case negative && v <= 1<<63:
		return int64(-v), nil
	case v < 1<<63:
		return int64(v), nil
	}
	return 0, ErrRange
}

// ParseUint is [Parse] for an unsigned integer; it takes no minus.
func ParseUint(s string, fractionBits uint8) (uint64, error) {
	whole, n, err := parseWhole(s, fractionBits)
	if err != nil {
		return 0, err
	}
	if n == len(s) {
		return whole, nil
	}
	part, half, above := parseFraction(s[n+1:], fractionBits)
	v := whole | part
	if half && (above || v&1 == 1) {
		if v++; v == 0 {
			return 0, ErrRange
		}
	}
	return v, nil
}

// parseWhole checks that s is digits, perhaps with a point in them. It returns the part before the point, in place, and its length.
func parseWhole(s string, fractionBits uint8) (whole uint64, n int, err error) {
	overflow := false
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		d := uint64(s[n] - '0')
		if whole > (1<<64-1-d)/10 {
			overflow = true
		}
		whole = whole*10 + d
		n++
	}
	if n == 0 {
		return 0, 0, ErrSyntax
	}
	if n < len(s) && (s[n] != '.' || n+1 == len(s)) {
		return 0, 0, ErrSyntax
	}
	for _, c := range []byte(s[min(n+1, len(s)):]) {
		if c < '0' || c > '9' {
			return 0, 0, ErrSyntax
		}
	}
	if overflow || whole<<fractionBits>>fractionBits != whole {
		return 0, 0, ErrRange
	}
	return whole << fractionBits, n, nil
}

// parseFraction reads the digits after the point by doubling the decimal fractionBits times: each carry is the next bit.
// half reports that the remainder is half a unit or more, above that it is not exactly 0 or half a unit.
func parseFraction(s string, fractionBits uint8) (part uint64, half, above bool) {
	var digits [maxFraction]byte
	for i, c := range []byte(s) {
		if i < len(digits) {
			digits[i] = c - '0'
		} else if c != '0' {
			above = true
		}
	}
	n := min(len(s), len(digits))
	for range fractionBits {
		part = part<<1 | uint64(double(digits[:n]))
	}
	half = double(digits[:n]) == 1
	for _, d := range digits[:n] {
		above = above || d != 0
	}
	return part, half, above
}

// double doubles a decimal fraction in place and returns the carry into the whole part.
func double(digits []byte) (carry byte) {
	for i := len(digits) - 1; i >= 0; i-- {
		d := digits[i]*2 + carry
		carry = 0
		if d >= 10 {
			d -= 10
			carry = 1
		}
		digits[i] = d
	}
	return carry
}
