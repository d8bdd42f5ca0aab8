package lockstep_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

func TestDescribe(t *testing.T) {
	rules := testgame.BankRules()
	words := rules.Describe
	rules.Describe = func(c *lockstep.Command) string {
		if g, ok := c.Value.(*testgame.Give); ok {
			return []string{"red\x1b[31m\u202etext"}[g.To] // panics for most
		}
		return words(c)
	}
	g := lockstep.MustGame(rules)
	_, h := testgame.NewBankMatch(t, 2)
	own, err := lockstep.NewDescriber(h, g)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := lockstep.NewDescriber(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, earned := testgame.Encode(t, g, &testgame.Earn{Coins: 7})
	_, gift := testgame.Encode(t, g, &testgame.Give{To: 0, Coins: []uint16{1, 2}})
	_, far := testgame.Encode(t, g, &testgame.Give{To: 9})
	for name, c := range map[string]struct {
		command      lockstep.Command
		own, foreign string
	}{
		"in words":       {lockstep.Command{Player: 1, Kind: 1, Payload: earned}, "player 1 earns 7 coins", `player 1: earn {"Coins":7}`},
		"escapes":        {lockstep.Command{Player: 1, Kind: 2, Payload: gift}, "red\uFFFD[31m\uFFFDtext", `player 1: give {"To":0,"Coins":[1,2]}`},
		"a panic":        {lockstep.Command{Player: 1, Kind: 2, Payload: far}, `player 1: give {"To":9,"Coins":[]}`, `player 1: give {"To":9,"Coins":[]}`},
		"no words":       {lockstep.Command{Kind: 9}, "player 0: crash {}", "player 0: crash {}"},
		"system":         {lockstep.Command{Player: lockstep.System, Kind: 1, Payload: []byte{3}}, `system: joined {"Player":3}`, `system: joined {"Player":3}`},
		"unknown":        {lockstep.Command{Player: 2, Kind: 77, Payload: []byte{1, 2}}, "player 2: unknown kind 77, payload 0102", "player 2: unknown kind 77, payload 0102"},
		"unknown system": {lockstep.Command{Player: lockstep.System, Kind: 77}, "system: unknown kind 77, payload ", "system: unknown kind 77, payload "},
		"malformed":      {lockstep.Command{Kind: 1, Payload: []byte{0xc0}}, "player 0: earn c0 (", "player 0: earn c0 ("},
	} {
		if got := own.Describe(&c.command); !strings.HasPrefix(got, c.own) {
			t.Errorf("%s: got %q, want %q", name, got, c.own)
		}
		if got := foreign.Describe(&c.command); !strings.HasPrefix(got, c.foreign) {
			t.Errorf("%s, without the game: got %q, want %q", name, got, c.foreign)
		}
	}
}

// The game's own words can be had without the engine's, and then its faults are told.
func TestGameDescribe(t *testing.T) {
	rules := testgame.BankRules()
	g := lockstep.MustGame(rules)
	if text, err := g.Describe(&lockstep.Command{Player: 1, Kind: 1, Value: &testgame.Earn{Coins: 7}}); text != "player 1 earns 7 coins" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	rules.Describe = func(*lockstep.Command) string { panic("no words") }
	text, err := lockstep.MustGame(rules).Describe(&lockstep.Command{Tick: 5, Value: &testgame.Earn{}})
	if fault := (*lockstep.PanicError)(nil); !errors.As(err, &fault) || fault.Tick != 5 || fault.Where != "Describe" || text != "" {
		t.Errorf("got %q, %v, want a panic in Describe at tick 5", text, err)
	}
	rules.Describe = nil
	if text, err := lockstep.MustGame(rules).Describe(&lockstep.Command{Value: &testgame.Earn{}}); text != "" || err != nil {
		t.Errorf("got %q, %v, want nothing", text, err)
	}
}
