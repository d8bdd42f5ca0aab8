//go:build !js

package checks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/simulate"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// simulatedUnits is the usual number of units, if the game knows units.
const simulatedUnits = 120

// drones is the name of the simulator's own game.
const drones = "drones"

// simulatedName returns the name of the simulation's game. The default is the program's first, or drones if that is an
// example of the engine.
func simulatedName(c *cli.Context) string {
	first := gameset.Listed(c)[0]
	switch {
	case c.IsSet(gameset.GameFlag.Name):
		return c.String(gameset.GameFlag.Name)
	case strings.HasPrefix(first.Source.Path, console.Module+"/examples/"):
		return drones
	}
	return first.Name()
}

// simulateSubject returns the game of the simulation.
func simulateSubject(c *cli.Context) (*simulate.Subject, error) {
	if simulatedName(c) == drones {
		config := struct{ Units uint16 }{256}
		text, err := gameset.ConfigText(c)
		if err == nil && len(text) > 0 {
			if err = json.Unmarshal(text, &config); err != nil {
				err = fmt.Errorf("%s: %w", c.String(gameset.ConfigFlag.Name), err)
			}
		}
		return simulate.Drones(config.Units), err
	}
	g, err := gameset.Listed(c).Named(simulatedName(c))
	if err != nil {
		return nil, err
	}
	override, err := g.Override(c)
	if err != nil {
		return nil, err
	}
	override = g.WithUnits(override, simulatedUnits)
	configure := func(seats uint8) (any, error) { return g.Configure(seats, 0, override) }
	kinds, err := console.Weights(c)
	if err != nil {
		return nil, err
	}
	s := &simulate.Subject{Game: g.Game, Configure: configure, Play: simulatedGame(g, kinds), Relay: c.Bool("relay")}
	seats := g.MostSeats(uint8(min(c.Int("clients")+simulate.SpareSeats, lockstep.MaxPlayers)), lockstep.MaxPlayers, 0, override)
	for n := uint8(1); n < seats; n++ {
		if g.SeatsFit(n, 0, override) {
			s.Seats = append(s.Seats, n)
		}
	}
	s.Seats = append(s.Seats, seats)
	config, err := configure(seats)
	if err == nil {
		err = g.Accepts(seats, 1, config)
	}
	if err != nil || c.IsSet("artifact") {
		return s, err
	}
	return s, console.ThinHint(locksteptest.Thin(g.Game, locksteptest.Options{
		Config: config, Players: seats, Seed: c.Uint64("seed"), Weights: kinds, AllowThin: c.String("allow-thin"), Floor: g.Floor,
	}, g.Bots()), "--clients N, ")
}

// enough returns an error if the matches of a simulation have together reached less than the game's floor. The simulator's own game has
// none: it is about the engine.
func enough(c *cli.Context, r *locksteptest.Reached) error {
	g, err := gameset.Listed(c).Named(simulatedName(c))
	if err != nil {
		return nil
	}
	kinds, err := console.Weights(c)
	if err != nil {
		return err
	}
	return console.ThinHint(g.Floor.Check(r, &locksteptest.Options{Weights: kinds, AllowThin: c.String("allow-thin")}, true), "--clients N, --seeds N, --minutes N, ")
}

// simulatedGame returns the players of a simulation: a random half of them give random commands, by their weights, the others
// are bots.
func simulatedGame(g *gameset.Playable, weights map[string]int) func(lockstep.Player, *rand.Rand) func(*lockstep.Simulation) []any {
	return func(p lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
		seed := r.Uint64()
		if g.Maker == nil || r.IntN(2) == 0 {
			return locksteptest.RandomBot(g.Game, everyCall, weights)(p, seed)
		}
		return g.Bot(p, seed)
	}
}

// everyCall is the rate of a random bot that gives a command whenever it is asked.
const everyCall = 16
