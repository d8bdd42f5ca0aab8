//go:build unix

package clustertool_test

import "testing"

// The demo refuses numbers that no cluster has.
func TestDemoRefuses(t *testing.T) {
	command(t, 2, "demo --nodes 2", "--nodes: got 2, want 1 or 3")
}
