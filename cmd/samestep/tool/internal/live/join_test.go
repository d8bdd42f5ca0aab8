//go:build !js

package live

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A server that holds the match repeatedly does not fill the terminal: later reasons overwrite one line.
func TestJoinHeldFlood(t *testing.T) {
	var status bytes.Buffer
	j := &join{status: &status}
	for range 1000 {
		j.event(nil, player.Held{Reason: "no\nroom\x1b[2J"})
	}
	if status.Len() > 0 {
		t.Errorf("%d bytes were shown at once", status.Len())
	}
	j.observe(player.New(lockstep.MustGame(skirmish.Rules()), player.Options{}))
	if got := status.String(); !strings.HasPrefix(got, `no room\u001b[2J`+"\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("got %q", got)
	}
}
