package program

import (
	"encoding/json"
	"slices"
)

// A listed is what the lobby is told of a game.
type listed struct {
	Name  string `json:"name"`
	Sized bool   `json:"sized"` // whether a number of units chooses the size of a match

	Bots      []string   `json:"bots"` // names, the usual one first
	Scenarios []Scenario `json:"scenarios"`
}

// List returns what the lobby is told of the games, as JSON. A site has it as games.json, so that the lobby needs no
// program. The first of several builds of a game counts.
func List(games ...Game) []byte {
	list := []listed{}
	for _, g := range games {
		if !slices.ContainsFunc(list, func(l listed) bool { return l.Name == g.Name() }) {
			list = append(list, listed{g.Name(), g.Sized != nil, append([]string{}, g.Bots...), append([]Scenario{}, g.Scenarios...)})
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // names and flags
	}
	return b
}
