//go:build !js

package checks

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
)

var errDrill = errors.New("not every fault was named correctly")

// DrillCommand returns the verb drill.
func DrillCommand() *cli.Command {
	return &cli.Command{
		Name:  "drill",
		Usage: "plant faults in a match, and check that the tools name them",
		Description: `Plays a match of the game repeatedly, each time with a different fault: a flipped bit in
any field of the state, a lost element of a list, commands that are lost, late, swapped
or misread, extra draws from a random generator, rules with one of 26 common mistakes, a
file that is cut or edited, and more. The tools get the replay and the bundle that a
server writes. They must name the tick, the field, the player and the cause, or the byte
of a file, and must find nothing in a match without a fault. The right answers are known
because the faults were planted.

For a rule bug, desync explain must neither exclude the right tick nor name a wrong
cause; the figures say how often it ranked the right field first. With the ticks that
the faulty client recomputes for the server, the tick must be exact.

Bots play the match. If the rules are not deterministic, drill says so and plants
nothing. A fault that would have no effect in the match is not planted, but listed in
the report. Exits with 0 only if all tools were right.`,
		Flags: []cli.Flag{
			console.JSONFlag,
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.UintFlag{Name: "players", Value: 4, Usage: "seats of the match, 2 to 16"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the match and of where the faults are planted"},
		},
		Action: runDrill,
	}
}

func runDrill(c *cli.Context) error {
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	if err := g.NeedSources(); err != nil {
		return err
	}
	subject, err := drillSubject(c, g)
	if err != nil {
		return err
	}
	bar := console.NewProgress(c.App.ErrWriter, 0, "faults")
	result, err := faultinjection.Run(faultinjection.Options{
		Subject: subject, Seed: c.Uint64("seed"), Progress: func(done, all int) { bar.SetOf(int64(done), int64(all)) },
	})
	bar.Done()
	if err != nil {
		return err
	}
	if result.Wrong > 0 {
		err = fmt.Errorf("%d of %s wrong: %w", result.Wrong, console.Count(len(result.Rows), "answer"), errDrill)
	}
	return gameset.Tell(c, result, result.WriteText, err)
}

// drillSubject returns the game with its bots.
func drillSubject(c *cli.Context, g *gameset.Playable) (*faultinjection.Subject, error) {
	if err := console.Between[uint](c, "players", 2, 16); err != nil {
		return nil, err
	}
	players, config, err := g.Match(c, 120)
	if err != nil {
		return nil, err
	}
	s := &faultinjection.Subject{Game: g.Game, Players: players, Config: config, Faulty: g.Faulty, Bot: g.Bot}
	return s, g.Accepts(s.Players, c.Uint64("seed"), s.Config)
}
