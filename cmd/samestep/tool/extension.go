//go:build !js

package tool

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// GameOf returns the game of the match in a file, with the assets of --assets, if the program that runs a verb has it, or a module of
// its rules.
func GameOf(c *cli.Context, f *replay.File) (*lockstep.Game, error) { return gameset.GameOf(c, f) }

// ModuleGames returns GameOf for the rules in a module alone, which simulate the matches of all builds of their game.
func ModuleGames(c *cli.Context, module []byte) (func(*replay.File) (*lockstep.Game, error), error) {
	g, err := gameset.NewModuleGame(module, gameset.NewBudget(c))
	if err != nil {
		return nil, err
	}
	m := gameset.ModuleSetOf(c, nil, gameset.List{g})
	return func(f *replay.File) (*lockstep.Game, error) {
		h, err := f.Header()
		if err != nil {
			return nil, err
		}
		g, err := m.Other(h)
		if err != nil {
			return nil, err
		}
		return g.Game, nil
	}, nil
}

// JSONFlag is the flag --json, which [Tell] looks at.
func JSONFlag() cli.Flag { return console.JSONFlag }

// AssetsFlag is the flag --assets: folders with the assets of matches.
func AssetsFlag() cli.Flag { return gameset.AssetsFlag }

// LogFlags are the flags of [NewLog].
func LogFlags() []cli.Flag { return serving.LogFlags }

// NewLog returns the log of a verb that runs until it is interrupted, as its flags want it.
func NewLog(c *cli.Context) (*slog.Logger, error) { return serving.NewLog(c) }

// SettingsFlag is the flag --settings: before the action of a verb, the file sets the flags that the command line and the environment
// leave out.
func SettingsFlag() cli.Flag {
	return &cli.StringFlag{Name: console.SettingsFlag.Name, Usage: "`FILE` in YAML with a line NAME: VALUE for each flag; the command line and the environment override it"}
}

// Tell prints v with --json, and otherwise calls print. It returns the error of printing, or else err.
func Tell(c *cli.Context, v any, print func(io.Writer), err error) error {
	return gameset.Tell(c, v, print, err)
}

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error { return console.Usagef(format, args...) }

// Wrongf returns [Usagef] about a flag or a setting, with its name as the user has written it.
func Wrongf(c *cli.Context, name, format string, args ...any) error {
	return console.Wrongf(c, name, format, args...)
}

// CheckAddress returns a usage error unless the value of a flag, or each of its values, is HOST:PORT or one of some words.
func CheckAddress(c *cli.Context, name string, words ...string) error {
	return console.Address(words...)(c, name)
}

// TokenIn returns the token of a flag with the value TOKEN or @FILE.
func TokenIn(c *cli.Context, flag string) (string, error) { return console.TokenIn(c, flag) }

// FromEnvironment returns copies of flags that a variable of the environment sets if the command line leaves them out:
// SAMESTEP_TICK_RATE sets --tick-rate.
func FromEnvironment(flags []cli.Flag) []cli.Flag { return console.FromEnvironment(flags) }

// Interruptible returns a context that the first interrupt ends, so that a verb can still print its results. A second
// interrupt ends the program.
func Interruptible(c *cli.Context) (context.Context, context.CancelFunc) {
	return console.Interruptible(c)
}

// GameFlag is the flag --game, which [ChosenGame] looks at.
func GameFlag() cli.Flag { return gameset.GameFlag }

// IndexCommand returns the verb replay index, for an extension whose OpenStore needs further flags.
func IndexCommand() *cli.Command { return serving.ReplayIndexCommand() }

// ChosenGame returns the game of --game, or the program's first, and the maker of its bots.
func ChosenGame(c *cli.Context) (g *lockstep.Game, bot func(p lockstep.Player, seed uint64) lockstep.Bot, err error) {
	p, err := gameset.ChosenGame(c)
	if err != nil {
		return nil, nil, err
	}
	return p.Game, p.Bot, nil
}

// keeps reports whether the program has one of the usual verbs.
func keeps(x *serving.Extension, c *cli.Command) bool {
	return x.Keep == nil || c.Category == console.ForProgram || slices.Contains(x.Keep, c.Name) || slices.Contains(x.Verbs, c)
}

// A ClassError is a verdict on files, which decides the exit code.
type ClassError = console.ClassError

// An Extension is what a program has besides the verbs of this package.
type Extension = serving.Extension

// Hosting is what an [Extension] knows of the server that serve makes.
type Hosting = serving.Hosting

// Serving is the part of an [Extension] in a running server.
type Serving = serving.Serving
