// Package games lists the example games for the programs of this repository.
package games

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
)

// All returns the example games.
func All() []tool.Game {
	rts := []tool.Option{
		tool.NamedBot("normal", skirmish.Normal.NewPlayer), tool.NamedBot("easy", skirmish.Easy.NewPlayer), tool.NamedBot("hard", skirmish.Hard.NewPlayer),
		tool.Config(skirmish.Opening), tool.Units(skirmish.Sized), tool.Assets(maps.Read), tool.Score(skirmish.Score),
	}
	for _, s := range maps.Scenarios() {
		rts = append(rts, tool.Scenario(s.Name, s.Players, s.Config))
	}
	page := tool.Page(web.Page, map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"})
	return []tool.Game{
		tool.New(skirmish.Rules(), append(rts, page)...),
		tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)),
		tool.New(platforms.Rules(), append(compatible(), tool.Bot(platforms.NewBot), tool.Config(platforms.Usual), tool.Draw(platforms.Draw), tool.Input(platforms.NewInput()))...),
	}
}
