//go:build !js && !wasip1

package pebbles_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// start returns a match of two players.
func start(t *testing.T, g *lockstep.Game, config string) (*lockstep.Simulation, error) {
	t.Helper()
	c, err := g.ReadConfig([]byte(config), nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), c)
	if err != nil {
		return nil, err // NewHeader tries the configuration
	}
	return g.NewSimulation(h)
}

// command returns a decoded command of player 0 for tick 1.
func command(t *testing.T, g *lockstep.Game, kind lockstep.Kind, canonical ...byte) *lockstep.Command {
	t.Helper()
	p := g.NewPayloads()
	_, payload, err := p.Encode(&record.Untyped{Kind: kind, Canonical: canonical})
	if err != nil {
		t.Fatal(err)
	}
	c := &lockstep.Command{Tick: 1, Kind: kind, Sequence: 1, Payload: bytes.Clone(payload)}
	if err := p.Decode(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// The rules refuse configurations and commands with a reason.
func TestRefusals(t *testing.T) {
	g := build(t)
	_, err := start(t, g, `{"Piles": 17, "Pebbles": 1}`)
	if c := (*lockstep.ConfigError)(nil); !errors.As(err, &c) || !strings.Contains(err.Error(), "piles: want 1 to 16") {
		t.Errorf("17 piles: got %v", err)
	}
	s, err := start(t, g, `{"Piles": 1, "Pebbles": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, want string // "": it is accepted
		c          *lockstep.Command
	}{
		{"take what is there", "", command(t, g, 1, 0, 1)},
		{"take nothing", "want 1 to 3 pebbles", command(t, g, 1, 0, 0)},
		{"take too many", "the pile has fewer pebbles", command(t, g, 1, 0, 2)},
		{"drop", "the player has no pebble", command(t, g, 2, 0)},
	} {
		got := ""
		if err := s.Validate(row.c); err != nil {
			got = err.Error()
		}
		if (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// The match ends when the last pebble is taken. The result has the pebbles of each player.
func TestEnd(t *testing.T) {
	g := build(t)
	s, err := start(t, g, `{"Piles": 1, "Pebbles": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, g, 1, 0, 1)
	if text, err := g.Describe(c); err != nil || text != "takes 1 from pile 0" {
		t.Errorf("got the words %q, %v", text, err)
	}
	if _, ended := s.Ended(); ended {
		t.Error("the match ends before its first tick")
	}
	if err := s.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{*c}}); err != nil {
		t.Fatal(err)
	}
	result, ended := s.Ended()
	if want := []byte{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}; !ended || !bytes.Equal(result, want) {
		t.Errorf("got ended %v, result %x, want %x", ended, result, want)
	}
}

// A player sees the own pebbles and how long to rest, and a spectator nothing.
func TestViews(t *testing.T) {
	g := build(t)
	s, err := start(t, g, `{"Piles": 1, "Pebbles": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{*command(t, g, 1, 0, 1)}}); err != nil {
		t.Fatal(err)
	}
	for p, taken := range []byte{1, 0} {
		v := s.ViewerOf(lockstep.Player(p))
		got, err := s.AppendView(nil, v)
		if want := []byte{1, 0, 0, 0, 0, 0, taken, 0, 0, 0, 4 * taken, 0}; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: got the view %x, %v, want %x", v, got, err, want)
		}
	}
	if b, err := s.AppendView(nil, lockstep.Viewer{}); err == nil || !strings.Contains(err.Error(), "only players see a match") {
		t.Errorf("a spectator: got %x, %v", b, err)
	}
}

// The usual configuration is one of the game, and makes a match.
func TestUsual(t *testing.T) {
	rules := compile(t)
	one, err := rules.New()
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	b, err := one.Call(abi.Usual, []byte{2})
	if err != nil {
		t.Fatal(err)
	}
	g, err := lockstep.NewGameElsewhere(rules)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &record.Untyped{Canonical: bytes.Clone(b)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.NewSimulation(h); err != nil {
		t.Error(err)
	}
}
