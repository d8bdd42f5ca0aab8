//go:build !js

package tool

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// several is a game with two kinds of bots and two scenarios.
func several(made *[]string) *gameset.Playable {
	maker := func(name string) func(lockstep.Player, uint64) lockstep.Bot {
		return func(lockstep.Player, uint64) lockstep.Bot {
			*made = append(*made, name)
			return func(*lockstep.Simulation) []any { return nil }
		}
	}
	scenario := func(size uint16) func(int) minimal.Config {
		return func(int) minimal.Config { return minimal.Config{Size: size, Coins: 5} }
	}
	return New(minimal.Rules(), NamedBot("kind", maker("kind")), NamedBot("cruel", maker("cruel")), Config(minimal.Usual),
		Scenario("small", 2, scenario(11)), Scenario("wide", 0, scenario(99))).game
}

// A request chooses bots and a scenario by name. Without names it gets the server's bots and a usual match.
func TestChoicesOfRequest(t *testing.T) {
	var made []string
	g := several(&made)
	for body, want := range map[string]struct {
		bot  string
		size uint16
	}{
		`{"name":"a","players":2,"bots":1}`:                                        {"kind", minimal.Usual(2).Size},
		`{"name":"a","players":2,"bots":1,"bot":"cruel","scenario":"small"}`:       {"cruel", 11},
		`{"name":"a","players":2,"bots":1,"scenario":"wide"}`:                      {"kind", 99},
		`{"name":"a","players":2,"bots":1,"scenario":"wide","config":{"Size":12}}`: {"kind", 12},
	} {
		made = nil
		spec, err := serving.RequestedMatch(strings.NewReader(body), gameset.List{g}, false, &serving.MatchPolicy{Game: g, Players: 2})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		spec.Bots[1](nil)
		if got := spec.Config.(*minimal.Config); got.Size != want.size || len(made) != 1 || made[0] != want.bot {
			t.Errorf("%s: got %+v and bots %v, want %+v", body, got, made, want)
		}
	}
	for body, want := range map[string]string{
		`{"name":"a","players":2,"bot":"nice"}`:                            `unknown bot "nice" of game minimal, want kind or cruel`,
		`{"name":"a","players":2,"scenario":"moon"}`:                       `unknown scenario "moon" of game minimal, want small or wide`,
		`{"name":"a","players":2,"scenario":"wide","units":40}`:            gameset.ErrBoth.Error(),
		`{"name":"a","game":"skirmish","players":2,"bots":1,"bot":"hard"}`: `game skirmish has no bots to choose, got "hard"`,
	} {
		if _, err := serving.RequestedMatch(strings.NewReader(body), append(gameset.List{g}, games...), false, &serving.MatchPolicy{Game: g, Players: 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

// The bots of --bot are those of the game that has them, and a resumed match keeps its bots.
func TestChosenBotsStay(t *testing.T) {
	var made []string
	g := several(&made)
	p := &serving.MatchPolicy{Game: g, Players: 2, Bot: "cruel"}
	if of := p.Of(games[0]); of.Bot != "" || of.Game != games[0] {
		t.Errorf("for another game: got bots %q", of.Bot)
	}
	p.Of(g).Game.Bot(0, 1)
	if len(made) != 1 || made[0] != "cruel" {
		t.Errorf("got bots %v", made)
	}
}

// Names must differ and have no spaces, because they are parts of flags.
func TestBadChoices(t *testing.T) {
	maker := func(lockstep.Player, uint64) lockstep.Bot { return nil }
	for _, o := range [][]Option{
		{NamedBot("", maker)}, {NamedBot("a b", maker)}, {NamedBot("a", maker), NamedBot("a", maker)},
		{Scenario("", 0, minimal.Usual)}, {Scenario("a", 0, minimal.Usual), Scenario("a", 0, minimal.Usual)},
		{Scenario("a", 0, func(int) int { return 0 })},
	} {
		if New(minimal.Rules(), o...).err == nil {
			t.Errorf("%d options are accepted", len(o))
		}
	}
}
