// Package helper is called by a simulation of another package.
package helper

import "time"

// Seed breaks a rule by what it calls.
func Seed() int64 { return now() }

func now() int64 { return time.Now().UnixNano() }

// Zero breaks none.
func Zero() int64 { return 0 }

// Forgiven breaks one for a reason.
func Forgiven() bool {
	return time.Now().IsZero() //samestep:allow clock no time is zero any more
}

// Last is changed.
var Last int64

// Set changes it.
func Set(n int64) { Last = n }

// A Clock tells the time.
type Clock struct{}

// Tell breaks a rule.
func (Clock) Tell() int64 { return now() }
