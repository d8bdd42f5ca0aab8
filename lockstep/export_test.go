package lockstep

import "testing"

// SpoilSelfTest makes this machine one that lays states out in another way than
// all others, until the test is over.
func SpoilSelfTest(t *testing.T) {
	known := knownSelfTest
	knownSelfTest.Layout++
	t.Cleanup(func() { knownSelfTest = known })
}

// BySession returns the seat that a session resumes.
func BySession(h *Host, t SessionToken) (Player, bool) { return h.bySession(t) }

// MaxWaiting is how many ticks that have arrived wait to be run.
const MaxWaiting = maxWaiting
