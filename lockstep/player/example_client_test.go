package player_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A venue is a host and a client on a perfect network, in one goroutine.
type venue struct {
	host   *host.Host
	client *player.Client
	id     host.PeerID
	now    lockstep.Time
	handle func(event any) // or nil
}

// play advances the time.
func (v *venue) play(d lockstep.Time) {
	for end := v.now + d; v.now < end && v.client.Stage() != player.StageDone; v.now += 10 * lockstep.Millisecond {
		v.host.Advance(v.now)
		v.client.Advance(v.now)
		v.events()
		if v.client.Stage() == player.StageDialing {
			v.id, _ = v.host.Connect(v.now, "")
			v.client.Connected(v.now)
			v.events()
		}
		for b := v.client.Send(nil); len(b) > 0; b = v.client.Send(nil) {
			v.host.Receive(v.now, v.id, b)
		}
		v.host.Persisted(v.now, v.host.Ready().Position) // there is no log
		for b := v.host.Send(v.id, nil, protocol.MaxServerMessage); len(b) > 0; b = v.host.Send(v.id, nil, protocol.MaxServerMessage) {
			if err := v.client.Receive(v.now, b); err != nil {
				fmt.Println(err)
			}
			v.events()
		}
		if v.client.Stage() == player.StageClosing {
			v.cut(nil)
		}
	}
}

func (v *venue) cut(err error) {
	v.host.Disconnect(v.now, v.id)
	v.client.Disconnected(v.now, err)
	v.events()
}

// events handles events until no more follow.
func (v *venue) events() {
	for r := v.client.Ready(); len(r.Events) > 0; r = v.client.Ready() {
		for _, e := range r.Events {
			if v.handle != nil {
				v.handle(e)
			}
		}
	}
}

// A client without a connection requests one at once; its owner dials.
func ExampleReady() {
	client := player.New(lockstep.MustGame(testgame.LampRules), player.Options{})
	client.Advance(0)
	var ready *player.Ready = client.Ready()
	for _, e := range ready.Events {
		fmt.Printf("%T, %v\n", e, client.Stage())
	}
	fmt.Println("call again after", ready.Next.Milliseconds(), "ms")
	// Output:
	// player.Dialing, dialing
	// call again after 1000 ms
}

// A player joins, gives a command, and leaves. Everything that happens is an event.
func ExampleClient() {
	host := testgame.NewLampHost(host.Options{})
	client := player.New(lockstep.MustGame(testgame.LampRules), player.Options{Token: "Ann"})
	v := &venue{
		host: host, client: client,
		handle: func(e any) {
			switch e := e.(type) {
			case player.Dialing:
				fmt.Println("dialing, attempt", e.Attempt)
			case player.Welcomed:
				fmt.Println("seat", e.Seat)
			case player.Synced:
				if _, err := client.Submit(&testgame.Press{Lamp: 2}); err != nil {
					fmt.Println(err)
				}
			case lockstep.Receipt:
				fmt.Println("command", e.Sequence, e)
			case player.Refused: // this game refuses none when it runs
				fmt.Println("command", e.Sequence, "came to nothing in tick", e.Tick, e.Reason)
			case player.SeatChanged:
				var before, now player.Presence = e.Before.Presence, e.Presence
				fmt.Println("seat", e.Player, "was", before, "and is", now)
			case player.HostEvent:
				fmt.Println("player", e.Player, e.Event, e.Text)
			case player.Ended:
				fmt.Println("over:", e.Reason)
			}
		},
	}
	v.play(2 * lockstep.Second)

	var status player.Status = client.Status()
	fmt.Println(status.Stage, "with", status.Agreed, "checksums agreed")
	checks := client.Checks()
	var last player.Check = checks[len(checks)-1]
	var differing []player.Differing = last.Differing
	fmt.Println("the last", len(checks), "checks; the latest agreed:", last.Ours == last.Match, len(differing))
	fmt.Println(lockstep.World[testgame.Lamps](client.Simulation()).On)

	client.Leave("dinner is ready")
	v.play(lockstep.Second)
	var stage player.Stage = client.Stage()
	fmt.Println(stage)
	// Output:
	// dialing, attempt 0
	// seat 0
	// command 1 accepted for tick 2
	// seat 0 was vacant and is here
	// live with 19 checksums agreed
	// the last 8 checks; the latest agreed: true 0
	// [false false true false]
	// done
}

// The memory of a client is altered. It is asked to compute the ticks again, and is right this time.
func ExampleResimulated() {
	host := testgame.NewLampHost(host.Options{Evidence: true})
	client := player.New(lockstep.MustGame(testgame.LampRules), player.Options{Token: "Ann"})
	v := &venue{
		host: host, client: client,
		handle: func(e any) {
			if e, ok := e.(player.Resimulated); ok {
				var r player.Resimulated = e
				fmt.Println(r.To-r.From, "ticks:", r.Outcome)
			}
		},
	}
	v.play(2 * lockstep.Second)
	lockstep.World[testgame.Lamps](client.Simulation()).On[1] = true
	v.play(2 * lockstep.Second)
	// Output: 2 ticks: right this time
}

// A client that loses its connection reconnects with growing waits. Each attempt is an event, and so is its result.
func ExampleReconnectPolicy() {
	host := testgame.NewLampHost(host.Options{})
	client := player.New(lockstep.MustGame(testgame.LampRules), player.Options{
		Token:     "Ann",
		Reconnect: player.ReconnectPolicy{First: 100 * lockstep.Millisecond, Attempts: 3},
	})
	v := &venue{
		host: host, client: client,
		handle: func(e any) {
			switch e := e.(type) {
			case player.Connected:
				fmt.Println("connected")
			case player.ConnectFailed:
				fmt.Println("no connection:", e.Err)
			case player.ConnectionLost:
				fmt.Println("lost:", e.Err)
			case player.Retrying:
				fmt.Println("attempt", e.Attempt, "is due")
			case player.StreamResumed:
				fmt.Println("resumed after tick", e.Tick)
			case player.Renumbered:
				fmt.Println("command", e.From, "is command", e.To)
			case player.SyncProgress:
				fmt.Println("a state,", e.Bytes, "of", e.TotalBytes, "bytes")
			case player.LostForGood:
				fmt.Println(e.Err)
			case player.Note:
				fmt.Println("player", e.Player, "is", e.Text)
			case player.Ended:
				fmt.Println("over:", e.Reason)
			case player.ServerClosing:
				fmt.Println("closing:", e.Code)
			case player.Mismatch:
				var first player.Reporters = e.Groups[0]
				fmt.Println(e, "and the match has", first.Hash)
			case player.ServerError, player.Desynced, player.Explained, player.Healed:
				fmt.Println("trouble:", e)
			}
		},
	}
	v.play(lockstep.Second)
	v.cut(errors.New("cable unplugged"))
	v.play(lockstep.Second)
	if err := host.Admin().End(v.now, "nobody presses any more"); err != nil {
		fmt.Println(err)
	}
	v.play(lockstep.Second)
	// Output:
	// connected
	// a state, 207 of 207 bytes
	// player 0 is Ann
	// lost: cable unplugged
	// attempt 1 is due
	// connected
	// resumed after tick 19
	// closing: ended
	// over: nobody presses any more
}

// A frame is drawn between two ticks: the game interpolates or snaps each field.
func ExampleClient_Interpolation() {
	host := testgame.NewLampHost(host.Options{})
	client := player.New(lockstep.MustGame(testgame.LampRules), player.Options{
		Token: "Ann", Interpolate: true, Predict: 8,
		Pacing: player.PacingOptions{MaxDelay: 200 * lockstep.Millisecond},
	})
	v := &venue{host: host, client: client}
	v.play(lockstep.Second + 20*lockstep.Millisecond)

	view, ok := client.Interpolation()
	previous, current := lockstep.World[testgame.Lamps](view.Previous), lockstep.World[testgame.Lamps](view.Current)
	presses := player.Lerp(int32(previous.Presses), int32(current.Presses), view.Fraction) // linear
	fmt.Println(ok, view.Predicted, presses, current.On)                                   // snap
	fmt.Println(view.Current.Tick()-view.Previous.Tick(), view.Fraction < player.One)
	// Output:
	// true true 0 [false false false false]
	// 1 true
}

func ExampleLerp() {
	var half player.Fraction = player.One / 2
	fmt.Println(player.Lerp(int64(10), 20, half), player.Lerp(int64(20), -20, half))
	// A turn has 256 parts here: the shorter way from 250 to 10 goes through 0.
	fmt.Println(player.LerpTurn(uint8(250), 10, half))
	// Output:
	// 15 0
	// 2
}
