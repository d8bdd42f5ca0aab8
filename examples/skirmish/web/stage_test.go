//go:build !js && !wasip1

package web_test

import (
	"cmp"
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/server"
)

// programs are the sources of the page's WebAssembly.
var programs = map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"}

// program is the path of the page's WebAssembly, which all tests share.
var program = sync.OnceValues(func() (*site.Site, error) {
	files, err := site.Build(context.Background(), site.BuildOptions{Packages: programs, Quality: 5})
	if err != nil {
		return nil, err
	}
	list := pageprogram.List(pageprogram.Game{Game: game, Sized: func(uint8, uint16) any { return nil }})
	return site.NewWith(map[string][]byte{"games.json": list}, web.Page(), page.Parts(), files)
})

// A stage is a server with the page and a match of skirmish.
type stage struct{ *browser.Stage }

// A setup configures a stage. The zero value has two seats, 100 units, 20 ticks and four checksums a second.
type setup struct {
	players    uint8
	units      uint16
	teams      uint8 // 0: each player has its own
	checkEvery uint16
	host       host.Options
	guests     bool
	rules      func(*lockstep.Rules[skirmish.World, skirmish.Config])
	site       func() (*site.Site, error) // nil for the page

	noDatagrams        bool
	datagramsElsewhere bool
}

var game = lockstep.MustGame(skirmish.Rules())

func newStage(t *testing.T, x setup) *stage {
	t.Helper()
	if x.players == 0 {
		x.players = 2
	}
	if x.units == 0 {
		x.units = 100
	}
	if x.checkEvery == 0 {
		x.checkEvery = 5
	}
	if x.site == nil {
		x.site = program
	}
	g := game
	if x.rules != nil {
		rules := skirmish.Rules()
		x.rules(&rules)
		g = lockstep.MustGame(rules)
	}
	settings := lockstep.DefaultSettings(x.players)
	settings.Seed = 1
	settings.CheckEvery = x.checkEvery
	config := skirmish.Defaults(x.players, x.units)
	config.Teams = cmp.Or(x.teams, config.Teams)
	return &stage{browser.NewStage(t, browser.StageOptions{
		Site: x.site, Match: server.MatchSpec{Game: g, Settings: settings, Config: &config}, Host: x.host, Guests: x.guests, NoDatagrams: x.noDatagrams, DatagramsElsewhere: x.datagramsElsewhere, NewMatch: browser.Requested(game, func(players uint8, units uint16) any {
			c := skirmish.Sized(int(players), int(cmp.Or(units, 400)))
			return &c
		}),
	})}
}

// until waits until the match's own state satisfies a condition.
func (s *stage) until(what string, f func(w *skirmish.World) bool) {
	browser.UntilWorld(s.Stage, what, f)
}

// bot lets a bot play a seat until the test ends.
func (s *stage) bot(p lockstep.Player) *client.Session {
	bot := skirmish.NewBot(p, 7)
	return s.Seat(game, p, func(c *player.Client) {
		for _, o := range bot.Think(lockstep.World[skirmish.World](c.Simulation())) {
			if _, err := c.Submit(o.Value); err != nil {
				return // too many wait for an answer
			}
		}
	})
}

// recorded puts a golden replay into the server's folder.
func (s *stage) recorded(name string) {
	s.Recorded(filepath.Join("..", "..", "..", "testdata", "replays", name))
}
