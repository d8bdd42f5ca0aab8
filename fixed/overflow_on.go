//go:build samestep_overflow

package fixed

// The build tag samestep_overflow sets panicOnOverflow: an operation panics where it would saturate, so that tests find it.
const panicOnOverflow = true
