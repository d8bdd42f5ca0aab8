//go:build samestep_overflow

package fixed

// panicOnOverflow is set by the build tag samestep_overflow: what would saturate panics instead, so that a test finds it.
const panicOnOverflow = true
