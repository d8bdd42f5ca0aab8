// Command wasm is the program of the page: it joins and simulates matches, and gives the page frames to draw. It is
// compiled for GOOS=js GOARCH=wasm.
package main

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/program"
)

func main() {
	f := program.Functions{}
	var scenarios []program.Scenario
	for _, s := range maps.Scenarios() {
		scenarios = append(scenarios, program.Scenario{Name: s.Name, Players: s.Players, Config: func(players uint8) any { c := s.Config(int(players)); return &c }})
	}
	f.Lobby(program.Game{
		Game:   lockstep.MustGame(skirmish.Rules()),
		Config: func(players uint8) any { c := skirmish.Opening(int(players)); return &c },
		Sized:  func(players uint8, units uint16) any { c := skirmish.Sized(int(players), int(units)); return &c },
		Bots:   []string{"normal", "easy", "hard"}, Scenarios: scenarios,
	})
	addLive(f)
	addWatch(f)
	f.Serve()
}
