//go:build !js

// Package gameset has the games of a program, and what a verb simulates with them: their configurations, bots and assets, the modules of
// rules that it was given or has found, and the files of matches that it opens.
package gameset

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// GameFlag chooses one of several games.
var GameFlag = &cli.StringFlag{Name: "game", Usage: "`NAME` of the game; the default is the program's first, also of several builds"}

// ChosenGame returns the game of --game.
func ChosenGame(c *cli.Context) (*Playable, error) {
	list := Listed(c)
	if !c.IsSet(GameFlag.Name) {
		return list[0], nil
	}
	return GameNamed(c, c.String(GameFlag.Name), "")
}

// GameNamed returns the game with a name and, unless build is "", with a build: of the program or of a module.
func GameNamed(c *cli.Context, name, build string) (*Playable, error) {
	wanted := func(g *Playable) bool { return g.Name() == name && (build == "" || g.Build() == build) }
	list := Listed(c)
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return list[i], nil
	}
	if m := ModulesOf(c); m != nil && build == "" {
		if g, err := m.named(name); g != nil || err != nil {
			return g, err
		}
	} else if m != nil {
		if g, err := m.Find(wanted); g != nil || err != nil {
			return g, err
		}
	}
	return list.Named(name)
}

// Hosted returns the games of a server: all of the program, or all builds of that of --game.
func Hosted(c *cli.Context) (List, error) {
	if !c.IsSet(GameFlag.Name) {
		return Listed(c), nil
	}
	g, err := ChosenGame(c)
	if err != nil {
		return nil, err
	}
	return Listed(c).Builds(g.Name()), nil // ChosenGame has added the game of a folder to the list
}

// PlayTurn submits the commands of a bot, which may be nil.
func PlayTurn(c *player.Client, bot lockstep.Bot) {
	if bot == nil || c.Stage() != player.StageLive {
		return
	}
	for _, v := range bot(c.Simulation()) {
		if _, err := c.Submit(v); err != nil {
			return // the match is over, or too many commands await a receipt
		}
	}
}

// SizeOf returns units, or nothing for a game that does not scale with it.
func (g *Playable) SizeOf(units uint) uint16 {
	if g.Sized == nil {
		return 0
	}
	return uint16(units)
}

// MaxRoom is the largest number of seats of a match that a verb plays by itself.
const MaxRoom = 16

// Seats returns the value of --players. The default is what the game accepts, see [Playable.MostSeats].
func (g *Playable) Seats(c *cli.Context, units uint, override []byte) (uint, error) {
	n := c.Uint("players")
	if c.IsSet("players") {
		return n, nil
	}
	seats := g.MostSeats(uint8(n), MaxRoom, uint16(units), override)
	_, err := g.Configure(seats, uint16(units), override)
	return uint(seats), err
}

// Match returns the seats and configuration of a match that a verb plays itself, by --players and --config, with units unless --config has them.
func (g *Playable) Match(c *cli.Context, units uint16) (players uint8, config any, err error) {
	override, err := g.Override(c)
	if err != nil {
		return 0, nil, err
	}
	override = g.WithUnits(override, units)
	seats, err := g.Seats(c, 0, override)
	if err != nil {
		return 0, nil, err
	}
	config, err = g.Configure(uint8(seats), 0, override)
	return uint8(seats), config, err
}

// MostSeats returns the largest number of seats, up to most, that the game accepts, or the smallest up to limit, or most if it accepts none.
func (g *Playable) MostSeats(most, limit uint8, units uint16, override []byte) uint8 {
	for seats := most; seats > 0; seats-- {
		if g.SeatsFit(seats, units, override) {
			return seats
		}
	}
	for seats := most + 1; seats <= limit; seats++ {
		if g.SeatsFit(seats, units, override) {
			return seats
		}
	}
	return most
}

// SeatsFit reports whether the game accepts a number of seats.
func (g *Playable) SeatsFit(seats uint8, units uint16, override []byte) bool {
	config, err := g.Configure(seats, units, override)
	return err == nil && g.Accepts(seats, 1, config) == nil
}

// SectionOf returns the first step of a path.
func SectionOf(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
