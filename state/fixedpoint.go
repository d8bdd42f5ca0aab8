package state

import (
	"math/bits"
	"strconv"
)

// appendFixed appends u / 2^fraction as an exact decimal, with a minus if it is negative.
func appendFixed(dst []byte, u uint64, fraction uint8, negative bool) []byte {
	if negative {
		dst, u = append(dst, '-'), -u
	}
	dst = strconv.AppendUint(dst, u>>fraction, 10)
	if rest := u << (64 - fraction); rest != 0 {
		dst = append(dst, '.')
		for digit := uint64(0); rest != 0; {
			digit, rest = bits.Mul64(rest, 10)
			dst = append(dst, '0'+byte(digit))
		}
	}
	return dst
}
