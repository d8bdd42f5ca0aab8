//go:build !js

package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// Guests come back to their seats on the server that resumes their match, in any order. Nobody else gets one, and the
// log has none of their secrets.
func TestGuestsKeepSeats(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		x := setup{pipes: true, options: server.Options{Authorizer: server.Guests{}, Durability: replay.SyncFrame}}
		guests := []string{"guest:eve:eve-eve-eve-eve-eve", "guest:zoe:zoe-zoe-zoe-zoe-zoe"}
		seatOf := func(c *testClient) lockstep.Player {
			eventually(t, "welcomed", func() bool { return has[player.Welcomed](c) })
			return told[player.Welcomed](c)[0].Seat
		}
		first := newStage(t, x)
		seats := make(map[string]lockstep.Player)
		for _, g := range guests {
			c := first.join(t, g, wander)
			seats[g] = seatOf(c)
			eventually(t, "its seat is in the log", func() bool { r := told[lockstep.Receipt](c); return len(r) > 0 && c.tick() > r[0].Tick })
		}
		x.interrupted = first.crash(t)
		second := newStage(t, x)
		stranger := second.join(t, "guest:mal:mal-mal-mal-mal-mal", nil)
		eventually(t, "a stranger is answered", func() bool { return has[player.LostForGood](stranger) || has[player.Welcomed](stranger) })
		if has[player.Welcomed](stranger) {
			t.Error("a stranger got a seat")
		}
		for _, g := range []string{guests[1], guests[0]} {
			if got := seatOf(second.join(t, g, wander)); got != seats[g] {
				t.Errorf("%s got seat %d, had seat %d", g, got, seats[g])
			}
		}
		log, err := os.ReadFile(x.interrupted)
		if err != nil || !bytes.Contains(log, []byte("claim")) || bytes.Contains(log, []byte("eve-eve")) || bytes.Contains(log, []byte("zoe-zoe")) {
			t.Errorf("want a log with claims, without secrets: %v, %d bytes", err, len(log))
		}
	})
}

// The creator of a match gets back what it recorded, before the match runs again, and may refuse it.
func TestRestoreOptions(t *testing.T) {
	first := newStage(t, setup{})
	m, err := first.server.Create(server.MatchSpec{
		Name: "recorded", Game: first.game, Settings: lockstep.DefaultSettings(1), Config: &minimal.Config{Size: 50, Coins: 500}, Recorded: "delay 7",
	})
	if err != nil {
		t.Fatal(err)
	}
	first.match = m
	first.stop()
	path := first.crash(t)
	errNo := errors.New("no such delay")
	for _, want := range []error{errNo, nil} {
		second, err := server.New(server.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		_, err = second.Resume(path, server.MatchSpec{Game: first.game, Restore: func(_ *server.MatchSpec, recorded string) error {
			got = recorded
			return want
		}})
		if got != "delay 7" || !errors.Is(err, want) {
			t.Errorf("restored %q with %v, want %q with %v", got, err, "delay 7", want)
		}
		if err := second.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
