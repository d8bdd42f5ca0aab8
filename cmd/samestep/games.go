package main

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// A playable is a game that this binary can simulate, host and play.
type playable struct {
	*lockstep.Game

	// config returns the configuration of the usual match: a pointer to the
	// game's configuration type.
	config func(players uint8, units uint16) any

	// bot returns somebody who plays, who looks at a state and returns commands
	// as pointers to their registered types, valid until the next call.
	bot func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any

	// page is where it is played in a browser; nil for nowhere.
	page *webPage

	// source says how a Go test names the game.
	source locksteptest.Source
}

// games are those that this binary knows. A studio's own binary lists its own.
var games = []*playable{{
	Game: lockstep.MustGame(skirmish.Rules()),
	config: func(players uint8, units uint16) any {
		c := skirmish.Defaults(players, units)
		return &c
	},
	bot:  skirmishBot,
	page: &webPage{web.Page, map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"}},
	source: locksteptest.Source{
		Package: "skirmish_test", Path: module + "/examples/skirmish",
		Game: "lockstep.MustGame(skirmish.Rules())", Imports: []string{module + "/examples/skirmish"},
	},
}}

const module = "github.com/seed-49bee653/samestep"

// bots returns bots for all seats of a match.
func (g *playable) bots(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
	var bots []func(*lockstep.Simulation) []any
	return func(p lockstep.Player, s *lockstep.Simulation) []any {
		for len(bots) <= int(p) {
			bots = append(bots, g.bot(lockstep.Player(len(bots)), seed))
		}
		return bots[p](s)
	}
}

func skirmishBot(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
	bot := skirmish.NewBot(p, seed)
	var values []any
	return func(s *lockstep.Simulation) []any {
		values = values[:0]
		for _, o := range bot.Think(lockstep.World[skirmish.World](s)) {
			values = append(values, o.Value)
		}
		return values
	}
}

// gameNamed returns the game of a name.
func gameNamed(name string) (*playable, error) {
	var names []string
	for _, g := range games {
		if g.Name() == name {
			return g, nil
		}
		names = append(names, g.Name())
	}
	return nil, usagef("unknown game %.128q, want %s", name, strings.Join(names, " or "))
}

// gameOf returns the game of a replay's header. If there is none that fits, the
// error wraps the [*lockstep.IdentityError] that says why.
func gameOf(h *lockstep.Header) (*lockstep.Game, error) {
	var first error
	known := false // by name
	for _, g := range games {
		err := g.CheckIdentity(h)
		if err == nil {
			return g.Game, nil
		}
		if first == nil || g.Name() == h.Game {
			first, known = err, known || g.Name() == h.Game
		}
	}
	if !known && h.Engine == lockstep.Engine {
		first = fmt.Errorf("%w; this program has its built-in games only: verify a replay of your own game with replay.Verify, see docs/testing.md", first)
	}
	return nil, first
}
