package lockstep_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Each player sees the lamp of its own number, and spectators see how many are lit.
func ExampleView() {
	type sight struct {
		Mine bool
		Lit  uint8
	}
	var view lockstep.ViewType = lockstep.View(func(w *testgame.Lamps, _ *testgame.Nobody, viewer lockstep.Viewer, v *sight) error {
		switch viewer.As {
		case lockstep.AsPlayer:
			v.Mine = w.On[viewer.Number]
		case lockstep.AsSpectator:
			for _, on := range w.On {
				if on {
					v.Lit++
				}
			}
		default:
			return errors.New("players and spectators look")
		}
		return nil
	}, nil)
	rules := testgame.LampRules
	rules.Validate, rules.View = nil, view
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"player:1", "spectator", "team:0"} {
		viewer, err := lockstep.ParseViewer(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		b, err := sim.AppendView(nil, viewer)
		if err != nil {
			fmt.Println(err)
			continue
		}
		var v sight
		if err := lockstep.DecodeView(game, b, &v); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%v sees %+v\n", viewer, v)
	}
	// Output:
	// player:1 sees {Mine:false Lit:0}
	// spectator sees {Mine:false Lit:0}
	// lockstep: lamps: view for team:0: players and spectators look
}
