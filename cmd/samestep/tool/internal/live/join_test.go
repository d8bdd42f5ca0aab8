//go:build !js

package live

import (
	"bytes"
	"encoding/json"
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

// The summary has the commands that came to nothing when they ran, with the last reason: in its text, of which no byte acts on the
// terminal, and in JSON. Without them the text is short.
func TestJoinTellsRefusals(t *testing.T) {
	j := &join{}
	j.event(nil, lockstep.Receipt{Sequence: 1, Tick: 3})
	printed := func() string {
		var out bytes.Buffer
		j.print(&out)
		return out.String()
	}
	if got := printed(); !strings.Contains(got, "commands   1 accepted, 0 rejected\n") {
		t.Errorf("got %s", got)
	}
	j.event(nil, player.Refused{Sequence: 1, Tick: 3})
	if got := printed(); !strings.Contains(got, "0 rejected, 1 refused when they ran, the last: without a reason\n") {
		t.Errorf("got %s", got)
	}
	j.event(nil, player.Refused{Sequence: 2, Tick: 3, Reason: "no\x1b[2Jmoney"})
	if got := printed(); !strings.Contains(got, `0 rejected, 2 refused when they ran, the last: no\u001b[2Jmoney`+"\n") {
		t.Errorf("got %s", got)
	}
	if b, err := json.Marshal(&j.summary); err != nil || !strings.Contains(string(b), `"commands_refused":2,"last_refusal":"no\u001b[2Jmoney"`) {
		t.Errorf("got %s, %v", b, err)
	}
}
