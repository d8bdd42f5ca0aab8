package host_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A bot plays for a player who has gone or gives no commands, until the player is back. The host's program commands for itself
// in a seat whose bot returns nothing.
func ExampleHost_Submit() {
	var action host.InactiveAction = host.TakeOverInactive
	h := testgame.NewLampHost(host.Options{
		Authorize: func(string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: 0, Name: "Ann"}, nil
		},
		Bots:     []lockstep.Bot{1: func(*lockstep.Simulation) []any { return nil }},
		Grace:    lockstep.Second / 10,
		Inactive: host.InactivePolicy{After: 300 * lockstep.Second, Then: action},
		Substitute: func(lockstep.Player) lockstep.Bot {
			return func(s *lockstep.Simulation) []any { return []any{&testgame.Press{Lamp: uint8(s.Tick() % 3)}} }
		},
	})
	id := joinLamps(h, "ann")
	h.Advance(0)
	h.Disconnect(0, id)
	log := record.Tee()
	for h.Now() < 5 {
		r := h.Ready()
		if err := r.AppendTo(log); err != nil {
			fmt.Println(err)
		}
		h.Persisted(r.Next, r.Position)
		for _, e := range r.Events {
			fmt.Println(e)
		}
		h.Advance(r.Next)
	}
	receipt, err := h.Submit(1, &testgame.Press{Lamp: 2})
	fmt.Println("seat 1:", receipt, err)
	receipt, _ = h.Submit(0, &testgame.Press{Lamp: 2})
	fmt.Println("seat 0: command", receipt.Sequence)

	joinLamps(h, "ann")
	_, err = h.Submit(0, &testgame.Press{Lamp: 1})
	fmt.Println(errors.Is(err, coordinator.ErrSeat), err)
	// Output:
	// tick 0: player 0 joined: Ann
	// tick 0: player 0 synced: joined
	// tick 0: player 0 lost: the connection ended
	// tick 2: player 0 taken over: did not come back
	// seat 1: accepted for tick 6 <nil>
	// seat 0: command 4
	// true lockstep: wrong seat: player 0 is not played by the host
}
