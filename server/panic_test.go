//go:build !js

package server_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// panicBundle returns the manifest of the only bundle of a panic.
func (s *stage) panicBundle(t *testing.T, whose string) replay.Manifest {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, "*-panic-*-"+whose+".zip"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("got the bundles %q, %v, want one", paths, err)
	}
	if of := server.ReplayOf(filepath.Base(paths[0])); of != filepath.Base(s.match.ReplayPath()) {
		t.Errorf("the bundle %s is of the replay %q, want that of %s", paths[0], of, s.match.ReplayPath())
	}
	f, err := replay.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Bundle().Manifest
}

// A client whose rules panic says so before it leaves: the log has its stack, the event is counted, and a bundle names the tick. The match
// goes on.
func TestPanicOfAClient(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		rules := minimal.Rules()
		step := rules.Step
		rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
			if turn.Tick == 30 {
				panic("here only")
			}
			step(w, config, turn)
		}
		other := s.join(t, bob, wander)
		g := client.Dial(t.Context(), s.url(), lockstep.MustGame(rules), client.Options{HTTP: s.client, Options: player.Options{Token: ada}})
		if err, fault := g.Wait(), (*lockstep.PanicError)(nil); !errors.As(err, &fault) || fault.Tick != 30 {
			t.Errorf("the client ended with %v", err)
		}
		eventually(t, "the bundle is written, and the player lost", func() bool {
			log := s.log.String()
			return strings.Contains(log, "msg=bundle") && strings.Contains(log, "event=lost")
		})
		if m := s.panicBundle(t, "player0"); m.Tick != 30 || m.Player != 0 || m.Panic == nil || m.Panic.Text != "here only" || !strings.Contains(m.Panic.Stack, "TestPanicOfAClient") {
			t.Errorf("the bundle has %+v", m)
		}
		for _, want := range []string{`event=panicked`, `text="here only"`, "TestPanicOfAClient", `text="the rules panicked on its machine"`} {
			if log := s.log.String(); !strings.Contains(log, want) {
				t.Errorf("the log lacks %s:\n%s", want, log)
			}
		}
		if n := s.metric(t, `samestep_events_total{kind="panicked",subject="connection"}`); n != 1 {
			t.Errorf("%v events are counted", n)
		}
		if n := s.metric(t, "samestep_panics_total"); n != 0 {
			t.Errorf("%v panics of the server are counted", n)
		}
		if s.match.Status().Ended != "" {
			t.Errorf("the match has ended: %q", s.match.Status().Ended)
		}
		other.Close()
	})
}
