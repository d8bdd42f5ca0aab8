//samestep:allow float texts of states of other engines: no float comes back into a simulation

package state

import (
	"math"
	"strconv"
	"strings"
)

// ULPs is a number of units in the last place. JSON has it as text, because it may have 64 bits.
type ULPs uint64

// String returns the number with its unit, such as "1 ulp".
func (u ULPs) String() string {
	return strconv.FormatUint(uint64(u), 10) + " " + plural(int(min(u, 2)), "ulp", "ulps")
}

// MarshalText returns the number without its unit.
func (u ULPs) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(u), 10), nil }

// suffix returns " (1 ulp)", or nothing for 0.
func (u ULPs) suffix() string {
	if u == 0 {
		return ""
	}
	return " (" + u.String() + ")"
}

// Floats reports whether values of s have floats.
func (s *Schema) Floats() bool {
	for i := range s.nodes {
		if s.nodes[i].kind.Float() {
			return true
		}
	}
	return false
}

// appendFloat appends the shortest decimal that reads back as the same float. The text of a NaN has its bits.
func (n *node) appendFloat(dst, b []byte) []byte {
	bits := loadUint(b[:n.size])
	f := math.Float64frombits(bits)
	if n.kind == Float32 {
		f = float64(math.Float32frombits(uint32(bits)))
	}
	if math.IsNaN(f) {
		return append(strconv.AppendUint(append(dst, "NaN(0x"...), bits, 16), ')')
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 8*n.size)
}

// parseFloat returns the bits of the float that a text has, as appendFloat writes it.
func (n *node) parseFloat(text string) (bits uint64, ok bool) {
	if hex, isNaN := strings.CutPrefix(text, "NaN(0x"); isNaN {
		bits, err := strconv.ParseUint(strings.TrimSuffix(hex, ")"), 16, 8*n.size)
		var b [8]byte
		return bits, err == nil && string(n.appendFloat(nil, appendUint(b[:0], bits, n.size))) == text
	}
	f, err := strconv.ParseFloat(text, 8*n.size)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	if n.kind == Float32 {
		return uint64(math.Float32bits(float32(f))), true
	}
	return math.Float64bits(f), true
}

// ulps returns how many floats apart two values of n are, at most 2^63, and 0 for other kinds and for a NaN.
func (n *node) ulps(a, b []byte) ULPs {
	if !n.kind.Float() {
		return 0
	}
	x, xok := n.ordered(loadUint(a[:n.size]))
	y, yok := n.ordered(loadUint(b[:n.size]))
	switch {
	case !xok || !yok:
		return 0
	case x > y:
		return ULPs(uint64(x) - uint64(y))
	}
	return ULPs(uint64(y) - uint64(x))
}

// ordered returns an integer that counts the floats from 0 upwards and downwards, and false for a NaN.
func (n *node) ordered(bits uint64) (at int64, ok bool) {
	sign, infinite := uint64(1)<<63, uint64(0x7ff)<<52
	if n.kind == Float32 {
		sign, infinite = 1<<31, 0xff<<23
	}
	size := bits &^ sign
	at = int64(size)
	if bits&sign != 0 {
		at = -at
	}
	return at, size <= infinite
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
