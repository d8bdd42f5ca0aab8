//go:build !js

package tool

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

// A gameList has the games of a program.
type gameList []*playable

// listed returns the games of the program that runs a command, and those of its modules.
func listed(c *cli.Context) gameList {
	if m := modulesOf(c); m != nil {
		return m.games()
	}
	return c.App.Metadata[gamesKey].(gameList)
}

// Keys of a program's metadata.
const (
	gamesKey   = "games"   // a gameList
	modulesKey = "modules" // a *moduleSet, while a command runs
)

// modulesOf returns the modules of a command, or nil for one that does not simulate.
func modulesOf(c *cli.Context) *moduleSet {
	m, _ := c.App.Metadata[modulesKey].(*moduleSet)
	return m
}

// gameFlag chooses one of several games.
var gameFlag = &cli.StringFlag{Name: "game", Usage: "`NAME` of the game; the default is the program's first, also of several builds"}

// chosenGame returns the game of --game.
func chosenGame(c *cli.Context) (*playable, error) {
	list := listed(c)
	if !c.IsSet(gameFlag.Name) {
		return list[0], nil
	}
	return gameNamed(c, c.String(gameFlag.Name), "")
}

// gameNamed returns the game with a name and, unless build is "", with a build: of the program or of a module.
func gameNamed(c *cli.Context, name, build string) (*playable, error) {
	wanted := func(g *playable) bool { return g.Name() == name && (build == "" || g.Build() == build) }
	list := listed(c)
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return list[i], nil
	}
	if m := modulesOf(c); m != nil && build == "" {
		if g, err := m.named(name); g != nil || err != nil {
			return g, err
		}
	} else if m != nil {
		if g, err := m.find(wanted); g != nil || err != nil {
			return g, err
		}
	}
	return list.named(name)
}

// hosted returns the games of a server: all of the program, or all builds of that of --game.
func hosted(c *cli.Context) (gameList, error) {
	if !c.IsSet(gameFlag.Name) {
		return listed(c), nil
	}
	g, err := chosenGame(c)
	if err != nil {
		return nil, err
	}
	return listed(c).builds(g.Name()), nil // chosenGame has added the game of a folder to the list
}

// builds returns all builds of a game.
func (l gameList) builds(name string) gameList {
	return slices.DeleteFunc(slices.Clone(l), func(other *playable) bool { return other.Name() != name })
}

func (l gameList) named(name string) (*playable, error) {
	for _, g := range l {
		if g.Name() == name {
			return g, nil
		}
	}
	return nil, console.Usagef("unknown game %.128q, want %s", name, l.names())
}

// names returns the names of all games, for people.
func (l gameList) names() string {
	var names []string
	for _, g := range l {
		if !slices.Contains(names, g.Name()) {
			names = append(names, g.Name())
		}
	}
	return strings.Join(names, " or ")
}

// gamesOf returns the games whose matches the program can simulate.
func gamesOf(c *cli.Context) replay.Games { return listed(c).games() }

// of returns the game of a match, see [replay.Games.Of].
func (l gameList) of(h *lockstep.Header) (*playable, error) {
	g, err := l.games().Of(h)
	if err != nil {
		return nil, err
	}
	return l[slices.IndexFunc(l, func(p *playable) bool { return p.Game == g })], nil
}

func (l gameList) games() (all replay.Games) {
	for _, g := range l {
		all = append(all, g.Game)
	}
	return all
}

// playTurn submits the commands of a bot, which may be nil.
func playTurn(c *player.Client, bot lockstep.Bot) {
	if bot == nil || c.Stage() != player.StageLive {
		return
	}
	for _, v := range bot(c.Simulation()) {
		if _, err := c.Submit(v); err != nil {
			return // the match is over, or too many commands await a receipt
		}
	}
}

// sizeOf returns units, or nothing for a game that does not scale with it.
func (g *playable) sizeOf(units uint) uint16 {
	if g.sized == nil {
		return 0
	}
	return uint16(units)
}

// maxRoom is the largest number of seats of a match that a verb plays by itself.
const maxRoom = 16

// seats returns the value of --players. The default is what the game accepts, see [playable.mostSeats].
func (g *playable) seats(c *cli.Context, units uint, override []byte) (uint, error) {
	n := c.Uint("players")
	if c.IsSet("players") {
		return n, nil
	}
	seats := g.mostSeats(uint8(n), maxRoom, uint16(units), override)
	_, err := g.configure(seats, uint16(units), override)
	return uint(seats), err
}

// mostSeats returns the largest number of seats, up to most, that the game accepts, or else the smallest up to limit. If it
// accepts none, that is most: the game says what is wrong.
func (g *playable) mostSeats(most, limit uint8, units uint16, override []byte) uint8 {
	for seats := most; seats > 0; seats-- {
		if g.seatsFit(seats, units, override) {
			return seats
		}
	}
	for seats := most + 1; seats <= limit; seats++ {
		if g.seatsFit(seats, units, override) {
			return seats
		}
	}
	return most
}

// seatsFit reports whether the game accepts a number of seats.
func (g *playable) seatsFit(seats uint8, units uint16, override []byte) bool {
	config, err := g.configure(seats, units, override)
	return err == nil && g.accepts(seats, 1, config) == nil
}

// sectionOf returns the first step of a path.
func sectionOf(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
