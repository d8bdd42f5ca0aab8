package tool

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
	"github.com/seed-49bee653/samestep/page/program"
)

// A Game is a game of the page.
type Game struct {
	game program.Game
	err  error // of the rules or the options
}

// An Option is a part of a game that its rules don't have. A page needs Draw, Config and Units.
type Option func(*Game) error

// New returns the game of some rules.
func New[S, C any](rules lockstep.Rules[S, C], options ...Option) Game {
	g, err := lockstep.NewGame(rules)
	if err != nil {
		return Game{err: err}
	}
	game := Game{game: program.Game{Game: g}}
	for _, o := range options {
		if err := o(&game); err != nil {
			return Game{err: fmt.Errorf("game %s: %w", g.Name(), err)}
		}
	}
	return game
}

// Bot has no effect in a page.
func Bot(func(p lockstep.Player, seed uint64) lockstep.Bot) Option { return none }

// ViewBot has no effect in a page.
func ViewBot[V any](func(p lockstep.Player, seed uint64) func(view *V) []any) Option { return none }

// Score has no effect in a page.
func Score[S, R any](func(world *S, result *R, p lockstep.Player) int) Option { return none }

// NamedBot lets the lobby choose the bots of a new match by name.
func NamedBot(name string, _ func(p lockstep.Player, seed uint64) lockstep.Bot) Option {
	return func(g *Game) error {
		g.game.Bots = append(g.game.Bots, name)
		return nil
	}
}

// Scenario lets the lobby choose a configuration by name.
func Scenario(name string, seats int, usual any) Option {
	return func(g *Game) error {
		config, err := configOf(usual, 1, nil)
		if err != nil {
			return fmt.Errorf("tool.Scenario: %w", err)
		}
		g.game.Scenarios = append(g.game.Scenarios, program.Scenario{Name: name, Players: seats, Config: func(players uint8) any { return config(int(players)) }})
		return nil
	}
}

// Config sets the configuration of a usual match, with which the lobby's form begins.
func Config(usual any) Option {
	return func(g *Game) error {
		config, err := configOf(usual, 1, nil)
		if err != nil {
			return fmt.Errorf("tool.Config: %w", err)
		}
		g.game.Config = func(players uint8) any { return config(int(players)) }
		return nil
	}
}

// Units gives the lobby's form a number of units.
func Units(sized any) Option {
	return func(g *Game) error {
		config, err := configOf(sized, 2, nil)
		if err != nil {
			return fmt.Errorf("tool.Units: %w", err)
		}
		g.game.Sized = func(players uint8, units uint16) any { return config(int(players), int(units)) }
		return nil
	}
}

// Page has no effect in a page: a page of a game's own has a program of its own.
func Page(func() fs.FS, map[string]string) Option { return none }

// Tick has no effect in a page, which begins matches at a server.
func Tick(time.Duration) Option { return none }

// Floor has no effect in a page.
func Floor(ticks, kinds, fields int) Option { return none }

// Assets brings assets with the page.
func Assets(read func(lockstep.Asset) ([]byte, error)) Option {
	return func(g *Game) error {
		g.game.Game = g.game.WithAssets(guardedRead(read))
		return nil
	}
}

// Draw draws the picture of the game.
func Draw[S any](draw func(c *canvas.Canvas, world *S)) Option {
	return func(g *Game) error {
		g.game.Draw = func(c *canvas.Canvas, s *lockstep.Simulation) { draw(c, lockstep.World[S](s)) }
		return nil
	}
}

// Input turns clicks and keys into commands.
func Input[S any](handler input.Handler[S]) Option {
	return func(g *Game) error {
		g.game.Input = program.NewInput(handler)
		return nil
	}
}

func none(*Game) error { return nil }

// Main is the program of the inspector page for these games. It does not return.
func Main(games ...Game) {
	list := make([]program.Game, len(games))
	for i, g := range games {
		if g.err != nil {
			panic(g.err) // the console shows it
		}
		list[i] = g.game
	}
	program.Run(list...)
}
