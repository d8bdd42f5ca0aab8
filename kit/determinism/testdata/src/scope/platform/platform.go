// Package platform depends on the size of a word, and on what the runtime allocates, or does not.
//
//samestep:deterministic
package platform

import (
	"math/bits"
	"strconv"
)

const most = ^uint(0) // want `runtime: \^uint\(0\) depends on the size of a word`

const (
	shift = most >> 63
	words = 1 << shift
)

const masked = 0xff & ^uint(7)

//samestep:deterministic
func bad(x uint, list []uint8, all [4]uint8) (n int) {
	n += strconv.IntSize // want `runtime: strconv.IntSize`
	n += words
	n += int(^uint(0) >> 1)      // want `runtime: `
	n += int(^uintptr(0) >> 32)  // want `runtime: `
	n += bits.LeadingZeros(x)    // want `runtime: `
	n += int(bits.Reverse(x))    // want `runtime: `
	const local = ^uint(0) >> 62 // want `runtime: `
	n += cap(list)               // want `memory: cap\(list\)`
	if cap(list) > 8 {           // want `memory: `
		n++
	}
	list = append(list, 1)
	if len(list) < cap(list) { // want `memory: `
		return cap(list) // want `memory: `
	}
	return n + int(local)
}

//samestep:deterministic
func good(x uint, y uint64, list []uint8, all [4]uint8) (n int) {
	n += int(x & ^uint(3))
	n += int(masked)
	n += int(^int(0))
	n += int(^y) + int(^uint64(0)>>63) + bits.LeadingZeros64(y)
	if cap(list) < 8 {
		list = make([]uint8, 8)
	}
	if cap(list)-len(list) < 4 {
		list = append(make([]uint8, 0, 2*cap(list)), list...)
	}
	list = list[:len(list):cap(list)]
	return n + cap(all) + cap(&all) + len(list)
}

// In a package that is marked as a whole, functions may count their memory.
func counted(list []uint8) int { return cap(list) }
