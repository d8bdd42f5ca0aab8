package host_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// joinLamps connects a client to a host and reads its messages.
func joinLamps(h *host.Host, token string) host.PeerID {
	id, ok := h.Connect(0, "")
	if !ok {
		panic("no room")
	}
	var w protocol.Writer
	auth := protocol.NewAuth(lockstep.MustGame(testgame.LampRules))
	auth.Token = token
	h.Receive(0, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: auth}))
	return id
}

// A host, and a client written by hand: it authenticates, is welcomed, and gets the state and then tick after tick. The
// owner of the host does the work of each Ready.
func ExampleHost() {
	h := testgame.NewLampHost(host.Options{
		Authorize: func(token string) (host.Grant, error) {
			if token != "ann" {
				return host.Grant{}, errors.New("no such token")
			}
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: "Ann"}, nil
		},
	})
	joinLamps(h, "stranger")
	var ann host.PeerID = joinLamps(h, "ann")
	log := record.Tee() // a replay.Writer, in earnest
	var messages protocol.Reader
	for now := lockstep.Time(0); h.Now() < 3; {
		h.Advance(now)
		var r *host.Ready
		for r = h.Ready(); !r.Empty(); r = h.Ready() {
			if err := r.AppendTo(log); err != nil {
				h.Fail(now, err)
			} else {
				h.Persisted(now, r.Position)
			}
			for _, e := range r.Events {
				fmt.Println("host:", e)
			}
			for _, id := range r.Peers { // the sockets to serve
				b := h.Send(id, nil, protocol.MaxServerMessage)
				if id == ann {
					printMessages(&messages, b)
				}
				if _, _, closed := h.Closed(id); closed {
					h.Disconnect(now, id)
				}
			}
		}
		now = r.Next
	}
	for _, p := range h.Info().Peers() {
		fmt.Println(p.Name, "is", p.State)
	}
	// Output:
	// host: tick 0: spectator refused refused: refused
	// host: tick 0: player 0 joined: Ann
	// host: tick 0: player 0 synced: joined
	// 48: seat 0
	// 37: ping
	// 49: 207 bytes of state
	// a record
	// a record
	// a record
	// a record
	// Ann is catching up
}

// printMessages prints the messages in a WebSocket message of a server.
func printMessages(r *protocol.Reader, b []byte) {
	var m protocol.Message
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			fmt.Println("a record") // the rest is for a Decoder
			return
		}
		rest, err := r.Read(&m, b)
		if err != nil {
			panic(err)
		}
		switch b = rest; m.Kind {
		case protocol.KindWelcome:
			fmt.Printf("%d: seat %d\n", m.Kind, m.Welcome.Seat)
		case protocol.KindStateSync:
			fmt.Printf("%d: %d bytes of state\n", m.Kind, m.Total)
		case protocol.KindPing:
			fmt.Printf("%d: ping\n", m.Kind)
		}
	}
}

// The policies of a classic lockstep match among friends: wait for each other, slow down for a slow machine, and let
// the input delay follow the connections. Each player may cost the others 20 s at once, and 20 s a minute; after that
// they can vote the player out.
func ExampleOptions() {
	o := host.Options{
		Start:    host.StartPolicy{Players: 2},
		Wait:     host.WaitPolicy{Bound: 20 * lockstep.Second},
		Slow:     host.SlowPolicy{Percent: 50},
		Delay:    host.DelayPolicy{Min: 2, Max: 10},
		Desync:   host.LogDesynced,
		VoteKick: true,
		Rates: host.Rates{
			Commands: host.Rate{N: 10, Per: lockstep.Second, Burst: 20},
			Pace:     host.Rate{N: int(20 * lockstep.Second), Per: 60 * lockstep.Second, Burst: int(20 * lockstep.Second)},
		},
	}
	h := testgame.NewLampHost(o)
	h.Advance(0)
	h.Advance(lockstep.Second)
	var s host.Stats = h.Stats()
	var parts host.MemoryParts = h.Info().MemoryParts()
	fmt.Println("accounts are in the sum:", parts.Accounts < h.Info().Memory())
	fmt.Printf("tick %d, input delay %d, at most %d KiB for connections\n", s.Tick, s.InputDelay, h.Info().MemoryBound(1<<10)>>10)
	var public host.PublicStats = s.Public(s.Tick) // what anybody may know
	fmt.Println(public.Players, "players")
	// Output:
	// accounts are in the sum: true
	// tick 0, input delay 2, at most 54830 KiB for connections
	// 0 players
}

// Evidence of a desync contains everything that explains it, so no player has to send files.
func ExampleEvidence() {
	h := testgame.NewLampHost(host.Options{Evidence: true})
	ann := joinLamps(h, "ann")
	var now lockstep.Time
	for h.Now() < 2 {
		h.Advance(now)
		now = h.Ready().Next
	}
	var w protocol.Writer
	h.Receive(now, ann, w.Append(nil, &protocol.Message{Kind: protocol.KindChecksum, Tick: 2, Hash: 12345}))
	none := protocol.Message{Kind: protocol.KindState, Tick: 2} // not kept
	h.Receive(now, ann, w.Append(nil, &none))
	for _, e := range h.Ready().Evidence {
		fmt.Println(&e.Report)
		var who host.Participant
		for _, who = range e.Participants {
			fmt.Printf("player %d: %s, build %s\n", who.Player, who.Name, who.Build)
		}
		var x host.Exhibit
		for _, x = range e.Exhibits {
			fmt.Printf("tick %d: %d bytes of the referee, %d of the player\n", x.Tick, len(x.Referee), len(x.Player))
		}
	}
	// Output:
	// desync at tick 2: player 0 differs, last agreed at tick 0
	// player 0: Ann, build 1
	// tick 2: 9 bytes of the referee, 0 of the player
}

// A client that can is asked to compute the ticks again. This one says the same twice, so it is not its memory.
func ExampleResimulation() {
	h := testgame.NewLampHost(host.Options{Evidence: true})
	id, _ := h.Connect(0, "")
	var w protocol.Writer
	auth := protocol.NewAuth(lockstep.MustGame(testgame.LampRules))
	auth.Token, auth.Capabilities = "ann", []string{protocol.Resimulate}
	h.Receive(0, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: auth}))
	var now lockstep.Time
	for h.Now() < 2 {
		h.Advance(now)
		now = h.Ready().Next
	}
	h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindChecksum, Tick: 2, Hash: 12345}))
	h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindState, Tick: 2})) // not kept
	for range 2 {
		h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindResimulated, Tick: 1, Hash: 678}))
		h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindResimulated, Tick: 2, First: 12345, Hash: 12345}))
	}
	h.Advance(now) // the host compares, and asks for the state of the first wrong tick
	h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindPhases, Tick: 1, Names: []string{"light"}, Sections: []uint64{9}}))
	h.Receive(now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindState, Tick: 1}))
	for _, e := range h.Ready().Evidence {
		var r *host.Resimulation = e.Resimulation
		fmt.Printf("%v from tick %d on, in %d runs\n", r.Outcome, r.First, len(r.Runs))
		var phase host.PhaseSum = r.Phases[0]
		fmt.Println(phase)
	}
	// Output:
	// wrong in the same way from tick 1 on, in 2 runs
	// {light 9}
}

// A peer may do three things at once, and then one a second.
func ExampleBucket() {
	rate := host.Rate{N: 1, Per: lockstep.Second, Burst: 3}
	var used host.Bucket
	for range 4 {
		fmt.Println(used.Take(0, rate, 1))
	}
	fmt.Println(used.Room(2*lockstep.Second, rate))
	// Output:
	// true
	// true
	// true
	// false
	// 2
}

// An event is one line, for a log.
func ExampleEvent() {
	var kind host.EventKind = host.PeerTakenOver
	fmt.Println(host.Event{Kind: kind, Tick: 5, Player: 1})
	var policy host.DesyncPolicy = host.RemoveDesynced
	if policy == host.RemoveDesynced {
		fmt.Println(host.Event{Kind: host.PeerClosed, Tick: 9, Player: 2, Code: protocol.CloseKicked, Text: "its checksum differs"})
	}
	// Output:
	// tick 5: player 1 taken over
	// tick 9: player 2 closed kicked: its checksum differs
}

// A counter is text in JSON, so that no reader rounds it.
func ExampleCounter() {
	var rejected host.Counter = 1<<53 + 1
	b, err := json.Marshal(rejected)
	fmt.Printf("%s %v\n", b, err)
	// Output: "9007199254740993" <nil>
}

// The states of a connection.
func ExamplePeerState() {
	for state := range host.Closed + 1 {
		info := host.PeerInfo{ID: 7, State: state}
		var now host.PeerState = info.State
		fmt.Println(now)
	}
	// Output:
	// connecting
	// syncing
	// catching up
	// live
	// closed
}

// A ban ends the connections and seats of its subject, and keeps it out.
func ExampleBans() {
	h := testgame.NewLampHost(host.Options{
		Authorize: func(token string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: token}, nil
		},
	})
	joinLamps(h, "ann")
	var ended host.Ended
	ended, err := h.Bans().Add(0, host.Ban{Subject: "ann", Until: 90 * lockstep.Second, Reason: "bad manners"})
	fmt.Println(ended.Seats, ended.Connections, err)
	joinLamps(h, "ann")
	for _, e := range h.Ready().Events {
		if e.Code == protocol.CloseBanned {
			fmt.Println(e)
		}
	}
	fmt.Println(len(h.Bans().List(0)), len(h.Bans().List(90*lockstep.Second)))
	_, err = h.Bans().Add(0, host.Ban{})
	fmt.Println(errors.Is(err, host.ErrBan))
	// Output:
	// 1 1 <nil>
	// tick 0: player 0 left banned: banned for 90 s: bad manners
	// tick 0: player 0 closed banned: banned for 90 s: bad manners
	// tick 0: spectator refused banned: banned for 90 s: bad manners
	// 1 0
	// true
}

// An operator sees who has each connection, and what is spent of the budgets.
func ExampleInfo_Connections() {
	h := testgame.NewLampHost(host.Options{
		Authorize: func(token string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: token}, nil
		},
	})
	joinLamps(h, "ann")
	show := func(c host.Connection) { fmt.Println(c.Subject, c.Seat, c.Spent["returns"], "%") }
	for _, c := range h.Info().Connections(0) {
		show(c)
	}
	// Output:
	// ann 0 5 %
}

// The seats that somebody has, for a list of players.
func ExampleInfo_Seats() {
	h := testgame.NewLampHost(host.Options{
		Authorize: func(token string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: token}, nil
		},
	})
	joinLamps(h, "Ann")
	var all []host.SeatInfo = h.Info().Seats()
	for _, s := range all {
		var state host.SeatState = s.State
		fmt.Println(s.Seat, s.Name, state)
	}
	// Output: 0 Ann joining
}

// An operator lets fewer people watch a match that runs.
func ExampleAdmin_SetLimits() {
	o := host.Options{MaxSpectators: 100}
	h := testgame.NewLampHost(o)
	var l = host.Limits{MaxSpectators: 10, InactiveGuests: lockstep.Second}
	fmt.Println(h.Admin().SetLimits(0, l))
	l.SetIn(&o) // for the next match
	fmt.Println(o.MaxSpectators)
	// Output:
	// <nil>
	// 10
}
