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
