//go:build unix

package clustertool_test

import "testing"

// The demo of one machine is there, too: its flags ask for it. Both together are refused.
func TestUsualDemo(t *testing.T) {
	command(t, 0, "demo --game minimal --seconds 2 --players 2 --dir "+t.TempDir(), "everything worked")
	command(t, 2, "demo --seconds 2 --servers 3", "--servers: got it with --seconds, which is of the demo without a cluster")
	command(t, 2, "demo --nodes 2", "--nodes: got 2, want 1 or 3")
}
