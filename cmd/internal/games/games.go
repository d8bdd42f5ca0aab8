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
	page := tool.Page(web.Page, map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"})
	return []tool.Game{
		tool.New(skirmish.Rules(), tool.Bot(skirmish.NewPlayer), tool.Config(skirmish.Usual), tool.Units(skirmish.Sized), tool.Assets(maps.Read), page),
		tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)),
		tool.New(platforms.Rules(), append(compatible(), tool.Bot(platforms.NewBot), tool.Config(platforms.Usual))...),
	}
}
