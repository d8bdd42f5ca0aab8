//go:build !js

package serving

import (
	"log/slog"
	"net/http"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
)

// PageOver serves the game's page in front of next. The inspector page plays all games of the program.
func PageOver(g *gameset.Playable, c *cli.Context, next http.Handler, log *slog.Logger) http.Handler {
	list := gameset.Listed(c)
	if g.Page != nil {
		list = gameset.List{g}
	}
	var all []pageprogram.Game
	for _, g := range list {
		listed := pageprogram.Game{Game: g.Game, Config: g.Usual, Sized: g.Sized}
		if g.Module != nil {
			listed.Module = g.Module.Bytes
		}
		for _, bot := range g.Opponents {
			listed.Bots = append(listed.Bots, bot.Name)
		}
		for _, s := range g.Scenarios {
			listed.Scenarios = append(listed.Scenarios, pageprogram.Scenario{Name: s.Name, Players: s.Seats, Config: s.Usual})
		}
		all = append(all, listed)
	}
	p := *PageOrInspector(g)
	p.Made = pageprogram.Files(all...)
	h := NewPageHandler(c.Context, &p, next, log)
	h.also = datagramOrigins(c)
	return h
}

// PageOrInspector returns the game's own page, or else the inspector page.
func PageOrInspector(g *gameset.Playable) *gameset.WebPage {
	if g.Page != nil {
		return g.Page
	}
	return InspectorPage()
}
