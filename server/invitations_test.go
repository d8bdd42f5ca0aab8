//go:build !js

package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// The answer to an admin who creates a match has a token for each seat. It is good for this seat of this match only, also
// after a crash, and nobody reads it in a view or the log.
func TestInvitations(t *testing.T) {
	x := setup{options: server.Options{NewMatch: newMatch, Limits: server.Limits{IdleMatch: -1}, Durability: replay.SyncFrame}}
	first := newStage(t, x)
	if err := first.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the name is free", func() bool { status, _ := first.ask(t, "GET", "/matches/duel", "", ""); return status == 404 })
	status, answer := first.ask(t, "POST", "/matches", ops, `{"name":"duel"}`)
	var created server.Status
	if err := json.Unmarshal([]byte(answer), &created); status != 201 || err != nil || len(created.Tokens) != 2 {
		t.Fatalf("got %d %s, %v, want two tokens", status, answer, err)
	}
	if status, answer := first.ask(t, "POST", "/matches", ops, `{"name":"other"}`); status != 201 {
		t.Fatalf("got %d %s", status, answer)
	}
	first.match = first.server.Matches()[0]
	for _, i := range created.Tokens {
		g, err := first.server.AuthorizeIn(i.Token, "duel")
		if err != nil || g.Role != protocol.Seated || g.Seat != i.Seat {
			t.Errorf("got %+v, %v, want seat %d", g, err, i.Seat)
		}
		for _, match := range []string{"other", "none", ""} {
			if _, err := first.server.AuthorizeIn(i.Token, match); !errors.Is(err, server.ErrRefused) {
				t.Errorf("match %q: got %v", match, err)
			}
		}
	}
	if _, view := first.ask(t, "GET", "/matches/duel", "", ""); strings.Contains(view, created.Tokens[0].Token) {
		t.Error("the status of a match has a token of it")
	}
	first.stop()
	x.interrupted = first.crash(t)
	log, err := os.ReadFile(x.interrupted)
	if err != nil || bytes.Contains(log, []byte(created.Tokens[0].Token)) {
		t.Errorf("want a log without the token: %v", err)
	}
	second := newStage(t, x)
	for _, i := range created.Tokens {
		c := second.join(t, i.Token, wander)
		eventually(t, "welcomed", func() bool { return has[player.Welcomed](c) })
		if got := told[player.Welcomed](c)[0].Seat; got != i.Seat {
			t.Errorf("got seat %d, want %d", got, i.Seat)
		}
	}
}
