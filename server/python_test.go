//go:build !js

package server_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// The protocol document is enough to write a client in another language: this one joins one of ours as a guest,
// cuts its connection, and resumes.
func TestClientInAnotherLanguage(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, setup{options: server.Options{Authorizer: server.AnyOf(tokens, server.Guests{})}})
	b := s.join(t, bob, wander)
	<-b.Ready()
	out, err := exec.CommandContext(t.Context(), python, "-B", "testdata/client.py", s.host, "duel", "guest:Ann%20Lee:0123456789abcdef", "3").Output()
	if err != nil {
		var stderr string
		if e, ok := err.(*exec.ExitError); ok {
			stderr = string(e.Stderr)
		}
		t.Fatalf("%v\n%s", err, stderr)
	}
	var got struct {
		Frames, Empty, Checksums, Commands, Syncs, Resumed, Rejected, Welcomes int
		Promised, Ran, Waiting, Tick                                           int
		Seat                                                                   lockstep.Player
		Closing                                                                protocol.CloseCode
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Seat != 0 || got.Welcomes != 2 || got.Resumed != 1 || got.Syncs != 1 || got.Closing != protocol.CloseLeft {
		t.Errorf("the connection: %s", out)
	}
	if got.Promised < 8 || got.Ran != got.Promised || got.Rejected > 0 || got.Waiting > 0 || got.Commands <= got.Ran {
		t.Errorf("the commands: %s", out)
	}
	if got.Tick < 50 || got.Frames == 0 || got.Empty == 0 || got.Checksums < 4 {
		t.Errorf("the stream: %s", out)
	}
	s.agree(t, b)
}
