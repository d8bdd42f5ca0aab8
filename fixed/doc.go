// Package fixed is fixed-point numbers that are the same bits everywhere: scalars, turns, vectors, randomness that is
// plain state, and what a simulation needs beside them.
package fixed
