// Wasm is the program of the page: it plays the match, and gives the page what to draw and what to tell.
package main

import (
	"context"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/live"
	"github.com/seed-49bee653/samestep/page/program"
)

func main() {
	var match *live.Match
	f := program.Functions{"join": func(a program.Arguments) any { // url, token
		match = live.Join(context.Background(), a[0].String(), a[1].String(), lockstep.MustGame(minimal.Rules()), live.Options{
			Observe: func(_ *player.Client, event any) { // not in a match that is seen by views
				if e, ok := event.(minimal.Collected); ok {
					match.Tell("coin", e.Player, fmt.Sprintf("Player %d has taken a coin.", e.Player))
				}
			},
		})
		return nil
	}}
	f.When(func() bool { return match != nil }, program.Functions{
		"go": func(a program.Arguments) any { // x, y
			match.Submit(&minimal.Go{X: uint16(a.Int(0)), Y: uint16(a.Int(1))})
			return nil
		},
		"dots": func(program.Arguments) any { // x and y of each dot, in cells
			places := []any{}
			match.See(func(_ *player.Client, v player.Interpolation) {
				before, now := lockstep.World[minimal.World](v.Previous), lockstep.World[minimal.World](v.Current)
				for i, dot := range now.Dots {
					was := before.Dots[i].At
					places = append(places, cells(player.Lerp(was.X, dot.At.X, v.Fraction)), cells(player.Lerp(was.Y, dot.At.Y, v.Fraction)))
				}
			})
			return places
		},
		"news": func(program.Arguments) any { // lines since the last call
			lines := []any{}
			if status, ok := match.Status(); ok {
				for _, line := range status.Lines {
					lines = append(lines, line.Text)
				}
			}
			return lines
		},
	})
	f.Serve()
}

func cells(q fixed.Q) float64 { return float64(q) / float64(fixed.One) }
