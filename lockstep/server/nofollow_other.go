//go:build !unix

package server

// noFollow is 0 where an open has no such flags.
const noFollow = 0
