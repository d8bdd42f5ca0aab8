package lockstep

import "testing"

// SpoilSelfTest makes this machine one that lays states out in another way than
// all others, until the test is over.
func SpoilSelfTest(t *testing.T) {
	known := knownSelfTest
	knownSelfTest.Layout++
	t.Cleanup(func() { knownSelfTest = known })
}
