package maps

import (
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Scenario is a match that people choose by its name.
type Scenario struct {
	Name    string
	Players int // at most, 0: as many as skirmish allows
	Config  func(players int) skirmish.Config
}

// Scenarios returns the scenarios that come with skirmish, besides the usual match on a random map: the maps of this package,
// on which matches begin small, and a battle of large armies on a random map.
func Scenarios() []Scenario {
	return []Scenario{
		onMap("duel", 2), onMap("crossroads", 4), onMap("ring", 8),
		{"battle", 0, func(players int) skirmish.Config { return skirmish.Sized(players, 1000) }},
	}
}

// onMap returns a match that begins small on a map of this package with some bases.
func onMap(name string, bases int) Scenario {
	return Scenario{name, bases, func(players int) skirmish.Config {
		content, layout := mustRead(name + ".map")
		c := skirmish.Opening(players)
		asset, err := record.NewAsset(name+".map", content)
		if err != nil {
			panic(err) // the files are small, and have good names
		}
		c.Map, c.Size = []lockstep.Asset{asset}, layout.Map.Size
		return c
	}}
}

// mustRead returns the content of a map of this package.
func mustRead(name string) ([]byte, *skirmish.Layout) {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // a test reads all of them
	}
	layout, err := skirmish.ParseMap(slices.Clone(content))
	if err != nil {
		panic(err)
	}
	return content, layout
}
