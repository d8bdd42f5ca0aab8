//go:build !js

package frontend_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// A view has what a player may see of the match.
type view struct {
	Dots []seen
}

type seen struct {
	Player uint8 `feed:"id"`
	At     fixed.Vec2
	Coins  uint32
}

func see(w *minimal.World, _ *minimal.Config, _ lockstep.Viewer, v *view) error {
	for p, dot := range w.Dots {
		v.Dots = append(v.Dots, seen{uint8(p), dot.At, dot.Coins})
	}
	return nil
}

// Ada has the state, so the game's events reach her. Bob has views, and hears of a coin because a number in his view grows.
func Example_views() {
	rules := minimal.Rules()
	rules.View = lockstep.View(see, nil)
	game := lockstep.MustGame(rules)
	url, stop := serve(game)
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	var adaHeard, bobHeard, bobSaw int
	ada := client.Dial(ctx, url, game, client.Options{
		Options: player.Options{Token: "ada-has-the-first-seat", Observer: func(lockstep.Tick, any) { adaHeard++ }},
		Sample: func(c *player.Client) {
			if c.Submit(&minimal.Go{X: 20, Y: 20}); adaHeard > 2 {
				c.Leave("")
			}
		},
	})
	bob := client.Dial(ctx, url, game, client.Options{
		Options: player.Options{Token: "bob-has-the-second-seat", Views: true, Observer: func(lockstep.Tick, any) { bobHeard++ }},
		Sample: func(c *player.Client) {
			sight, _ := c.Sight()
			var before, now view
			if lockstep.DecodeView(game, sight.Previous, &before) != nil || lockstep.DecodeView(game, sight.Current, &now) != nil {
				return
			}
			for i := range min(len(before.Dots), len(now.Dots)) {
				if now.Dots[i].Coins > before.Dots[i].Coins {
					bobSaw++ // play the sound
				}
			}
			if bobSaw > 2 {
				c.Leave("")
			}
		},
	})
	fmt.Println(ada.Wait(), bob.Wait())
	fmt.Println("ada has heard of coins:", adaHeard > 2)
	fmt.Println("bob has heard of", bobHeard, "and has seen some:", bobSaw > 2)
	// Output:
	// <nil> <nil>
	// ada has heard of coins: true
	// bob has heard of 0 and has seen some: true
}

// serve hosts a match with many coins.
func serve(game *lockstep.Game) (url string, stop func()) {
	tokens, err := server.ReadTokens(strings.NewReader("player 0 ada duel ada-has-the-first-seat\nplayer 1 bob duel bob-has-the-second-seat"))
	if err != nil {
		panic(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	settings := lockstep.DefaultSettings(2)
	settings.TickMicros = lockstep.TickPeriod(100)
	if _, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &minimal.Config{Size: 30, Coins: 600}}); err != nil {
		panic(err)
	}
	web := httptest.NewServer(s)
	return "ws" + strings.TrimPrefix(web.URL, "http") + "/matches/duel/play", func() {
		s.Shutdown(context.Background())
		web.Close()
	}
}
