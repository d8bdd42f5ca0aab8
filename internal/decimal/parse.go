package decimal

// maxFraction is how many digits decide a rounding, because a midpoint has at most 65. Later digits only tell whether the
// number is above a midpoint.
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

// parseWhole checks that s is digits, or digits, a point and digits. It returns the part before the point, shifted into
// place, and its length.
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
