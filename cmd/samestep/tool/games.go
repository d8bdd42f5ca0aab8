package tool

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/internal/testing/logbench"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

// A playable is a game that this program can simulate, host and play.
type playable struct {
	*lockstep.Game

	// config returns a pointer to the game's configuration of a usual match.
	config func(players uint8, units uint16) any

	bot func(p lockstep.Player, seed uint64) botFunc

	faulty func(*faultinjection.Change) *lockstep.Game // for drill
	loop   func() logbench.Loop                        // for bench log

	page   *webPage            // to play in a browser, or nil
	source locksteptest.Source // names the game in Go tests
}

// A botFunc looks at a state and returns commands as pointers to their registered types, valid until the next call.
type botFunc = func(*lockstep.Simulation) []any

// playTurn submits the commands of a bot, which may be nil.
func playTurn(c *player.Client, bot botFunc) {
	if bot == nil || c.Stage() != player.StageLive {
		return
	}
	for _, v := range bot(c.Simulation()) {
		if _, err := c.Submit(v); err != nil {
			return // the match is over, or too many commands await a receipt
		}
	}
}

// games lists the games of this program.
var games = []*playable{{
	Game: lockstep.MustGame(skirmish.Rules()),
	config: func(players uint8, units uint16) any {
		c := skirmish.Defaults(players, units)
		return &c
	},
	bot:    skirmishBot,
	faulty: faultinjection.Faulty(skirmish.Rules()),
	loop:   logbench.NewLoop(skirmish.Rules()),
	page:   &webPage{web.Page, map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"}},
	source: locksteptest.Source{
		Package: "skirmish_test", Path: module + "/examples/skirmish",
		Game: "lockstep.MustGame(skirmish.Rules())", Imports: []string{module + "/examples/skirmish"},
	},
}}

const module = "github.com/seed-49bee653/samestep"

// bots returns bots for all seats of a match.
func (g *playable) bots(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
	var bots []botFunc
	return func(p lockstep.Player, s *lockstep.Simulation) []any {
		for len(bots) <= int(p) {
			bots = append(bots, g.bot(lockstep.Player(len(bots)), seed))
		}
		return bots[p](s)
	}
}

func skirmishBot(p lockstep.Player, seed uint64) botFunc {
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

// gamesOf returns the games whose matches the program can simulate.
func gamesOf(*cli.Context) replay.Games {
	var all replay.Games
	for _, g := range games {
		all = append(all, g.Game)
	}
	return all
}
