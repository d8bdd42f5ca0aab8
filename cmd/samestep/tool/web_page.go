//go:build !js

package tool

import (
	"log/slog"
	"net/http"

	"github.com/urfave/cli/v2"

	pageprogram "github.com/seed-49bee653/samestep/page/program"
)

// pageOver serves the game's page in front of next. The inspector page plays all games of the program.
func pageOver(g *playable, c *cli.Context, next http.Handler, log *slog.Logger) http.Handler {
	list := listed(c)
	if g.page != nil {
		list = gameList{g}
	}
	var all []pageprogram.Game
	for _, g := range list {
		listed := pageprogram.Game{Game: g.Game, Config: g.usual, Sized: g.sized}
		if g.module != nil {
			listed.Module = g.module.bytes
		}
		for _, bot := range g.opponents {
			listed.Bots = append(listed.Bots, bot.name)
		}
		for _, s := range g.scenarios {
			listed.Scenarios = append(listed.Scenarios, pageprogram.Scenario{Name: s.name, Players: s.seats, Config: s.usual})
		}
		all = append(all, listed)
	}
	p := *pageOrInspector(g)
	p.made = pageprogram.Files(all...)
	h := newPageHandler(c.Context, &p, next, log)
	h.also = datagramOrigins(c)
	return h
}

// pageOrInspector returns the game's own page, or else the inspector page.
func pageOrInspector(g *playable) *webPage {
	if g.page != nil {
		return g.page
	}
	return inspectorPage()
}
