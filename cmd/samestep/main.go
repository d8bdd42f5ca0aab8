// Samestep is the engine's command line: it plays demonstration matches, hosts and joins live matches, and inspects and
// verifies replays. It has the example games. A program for another game is as short: see package tool.
//
//	samestep demo
//	samestep serve
//	samestep replay verify match.ssr
package main

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
)

func main() {
	page := tool.Page(web.Page, map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"})
	tool.Main(
		tool.New(skirmish.Rules(), tool.Bot(skirmish.NewPlayer), tool.Config(skirmish.Usual), tool.Units(skirmish.Sized), tool.Assets(maps.Read), page),
		tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)),
		tool.New(platforms.Rules(), append(compatible(), tool.Bot(platforms.NewBot), tool.Config(platforms.Usual))...),
	)
}
