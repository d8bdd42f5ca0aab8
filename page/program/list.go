package program

import (
	"encoding/json"
	"slices"

	"github.com/seed-49bee653/samestep/replay"
)

// A listed is what the lobby is told of a game.
type listed struct {
	Name  string `json:"name"`
	Build string `json:"build"` // of new matches
	Sized bool   `json:"sized"` // whether a number of units chooses the size of a match

	Bots      []string   `json:"bots"` // names, the usual one first
	Scenarios []Scenario `json:"scenarios"`

	Rules []listedModule `json:"rules,omitempty"` // the modules with its rules
}

// A listedModule has the rules of a build of a game.
type listedModule struct {
	Build string          `json:"build"`
	Sum   replay.RulesSum `json:"sum"` // the module is in rules/SUM.wasm, relative to the list
}

// gamesFile is the name of the list of a site's games.
const gamesFile = "games.json"

// Files returns the files of a site that depend on its games: the list, and the modules of rules.
func Files(games ...Game) map[string][]byte {
	files := map[string][]byte{gamesFile: List(games...)}
	for _, g := range games {
		if g.Module != nil {
			files["rules/"+replay.SumRules(g.Module).String()+".wasm"] = g.Module
		}
	}
	return files
}

// List returns what the lobby is told of the games, as JSON. A site has it as games.json, so that the lobby needs no
// program. The first of several builds of a game counts.
func List(games ...Game) []byte {
	list := []*listed{}
	for _, g := range games {
		at := slices.IndexFunc(list, func(l *listed) bool { return l.Name == g.Name() })
		if at < 0 {
			at = len(list)
			list = append(list, &listed{
				Name: g.Name(), Build: g.Build(), Sized: g.Sized != nil, Bots: append([]string{}, g.Bots...), Scenarios: append([]Scenario{}, g.Scenarios...),
			})
		}
		if g.Module != nil {
			list[at].Rules = append(list[at].Rules, listedModule{g.Build(), replay.SumRules(g.Module)})
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // names and flags
	}
	return b
}
