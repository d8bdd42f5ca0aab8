//go:build !js

package live

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
)

// DemoCommand returns the verb demo.
func DemoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "play a match of bots, record it, verify it, and find a planted desync",
		Description: `Plays a match of the game as fast as this machine can, in one process: a
coordinator, a copy of the simulation for each player, and bots in the seats. Halfway
through somebody joins late. Later one field of one player's copy is changed behind
the engine's back, one that is still changed at the next check. The demo then prints
how the engine has handled all that, and explains the bundle of the desync (see
desync explain). It exits with 0 only if everything worked.`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "seconds", Value: 20, Usage: "length of the match, 2 to 36000: 20 ticks for each; the default is less for a game whose rules end it before"},
			&cli.UintFlag{Name: "players", Value: 4, Usage: "bots that play, 2 to 16; the default is less for a game with fewer seats"},
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag, gameset.ScenarioFlag, gameset.BotFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the map, the match and the bots"},
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for the replay and the bundle; the default is a new private folder in the temporary folder"},
			&cli.BoolFlag{Name: "network", Usage: "play in real time over real sockets and bad links, with a lost connection, a slow spectator and a late one"},
			&cli.BoolFlag{Name: "web", Usage: "serve a page on which you play against the bots in a browser, until interrupted"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on, with --web"},
			console.JSONFlag,
		},
		Action: demo,
	}
}

func demo(c *cli.Context) error {
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(console.Between[uint](c, "seconds", 2, 36000), console.Between[uint](c, "players", 2, mostDemoPlayers)); err != nil {
		return err
	}
	if g, err = g.InScenario(c); err != nil {
		return err
	}
	if g, err = g.AgainstBots(c); err != nil {
		return err
	}
	o := demoOptions{Program: c.App.Name, Game: g, Rate: demoTickRate, Length: lockstep.Tick(c.Uint("seconds") * demoTickRate), Seed: c.Uint64("seed"), Dir: c.String("dir")}
	if o.override, err = g.Override(c); err != nil {
		return err
	}
	o.units = uint(g.UnitsIn(o.override))
	if o.Players, err = g.Seats(c, o.units, o.override); err != nil {
		return err
	}
	if c.Bool("web") {
		return webDemo(c, o)
	}
	if !c.IsSet("seconds") || c.Bool("network") {
		if err := o.fit(c.IsSet("seconds")); err != nil {
			return err
		}
	}
	if c.IsSet("listen") {
		return console.Usagef("--listen is for --web only")
	}
	bar := console.NewProgress(c.App.ErrWriter, int64(o.Length), "ticks")
	if c.Bool("network") {
		s, err := runNetworkDemo(c.Context, o, bar)
		if err != nil {
			return err
		}
		return gameset.Tell(c, s, s.print, s.Failure())
	}
	s, err := runDemo(o, bar)
	if err != nil {
		return err
	}
	return gameset.Tell(c, s, s.print, s.Failure())
}

const (
	// demoTickRate is the tick rate of the match of demo.
	demoTickRate    = 20
	mostDemoPlayers = 16
	shortestDemo    = 16 // ticks of a match that its rules end
	fewestSeconds   = 8  // in which it is played in real time
)

// fit makes the match shorter than one that the rules end before, unless the length was given.
func (o *demoOptions) fit(given bool) error {
	config, err := o.configure(o.Players)
	if err != nil {
		return err
	}
	end, err := o.Game.Length(uint8(o.Players), o.Seed, config, o.Length+1)
	if err != nil || end > o.Length {
		return err
	}
	switch {
	case given:
		return endsBefore(end, o.Length)
	case end < shortestDemo:
		return endsBefore(end, shortestDemo)
	}
	o.Length = end * 3 / 4 // the demo's bots give their commands later
	o.Rate = max(1, min(o.Rate, uint16(o.Length/fewestSeconds)))
	return nil
}

// runDemo plays the match, verifies its replay and finds the planted desync.
func runDemo(o demoOptions, bar *console.Progress) (*demoStory, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, o.Game.Name()+".ssr")
	var m *demoMatch
	var broken error
	from := time.Now()
	if err := files.Replace(path, func(f *os.File) (err error) {
		if m, err = newDemoMatch(o, f); err != nil {
			return err
		}
		from = time.Now()
		if broken = m.play(bar); breaks(broken) {
			return m.writer.Close()
		}
		return broken
	}); err != nil {
		return nil, err
	}
	if broken != nil {
		return nil, m.broken(path, broken)
	}
	bar.Done()
	s := m.story(time.Since(from))
	if err := s.readReplay(path); err != nil {
		return nil, err
	}
	if m.evidence == nil {
		return s, nil // the story says that the desync was not detected
	}
	s.Explained.Bundle = fmt.Sprintf("%s-desync-%d-player%d.zip", strings.TrimSuffix(path, ".ssr"), m.report.Tick, m.report.Player)
	if err := writeBundle(s.Explained.Bundle, path, m.coordinator.Referee().Header(), m.evidence, o.Game); err != nil {
		return nil, err
	}
	return s, s.Explain()
}
