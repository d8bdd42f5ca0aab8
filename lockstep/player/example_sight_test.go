package player_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A client asks for views of a match that shows nothing else. It gives commands, and has no state.
func ExampleSight() {
	type lit struct{ Lamps uint8 }
	rules := testgame.LampRules
	rules.Validate, rules.View = nil, lockstep.View(func(w *testgame.Lamps, _ *testgame.Nobody, _ lockstep.Viewer, v *lit) error {
		for _, on := range w.On {
			if on {
				v.Lamps++
			}
		}
		return nil
	}, nil)
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := host.New(game, header, host.Options{
		Authorize: func(string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat}, nil
		},
		Random: func([]byte) {},
		Views:  host.ViewPolicy{Only: true, Every: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := &venue{host: h, client: player.New(game, player.Options{Token: "ann", Views: true})}
	v.handle = func(event any) {
		if e, ok := event.(player.Looking); ok {
			fmt.Println("looking as", e.Viewer)
		}
	}
	v.play(lockstep.Second)
	if _, err := v.client.Submit(&testgame.Press{Lamp: 3}); err != nil {
		fmt.Println(err)
	}
	var s player.Sight
	s, ok := v.client.Sight()
	fmt.Println("own commands that are not seen yet:", len(s.Own))
	v.play(lockstep.Second)
	s, ok = v.client.Sight()
	if !ok {
		fmt.Println("nothing is seen")
		return
	}
	var seen lit
	if err := lockstep.DecodeView(game, s.Current, &seen); err != nil {
		fmt.Println(err)
	}
	fmt.Println("sees", seen, "and has a state:", v.client.Simulation() != nil)
	// Output:
	// looking as player:0
	// own commands that are not seen yet: 1
	// sees {1} and has a state: false
}
