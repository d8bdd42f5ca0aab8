package lockstep_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// newLampHost hosts a match of lamps. Without Authorize, everybody is Ann.
func newLampHost(o lockstep.HostOptions) *lockstep.Host {
	game := lockstep.MustGame(lampRules)
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery = 2
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &nobody{})
	if err != nil {
		panic(err)
	}
	header.Platform = "any"
	o.Random = func(b []byte) { b[0] = 1 } // crypto/rand.Read, in earnest
	if o.Authorize == nil {
		o.Authorize = func(string) (lockstep.Grant, error) {
			return lockstep.Grant{Role: lockstep.Seated, Seat: lockstep.AnySeat, Name: "Ann"}, nil
		}
	}
	log := lockstep.NewRing(100, 1<<10) // a replay writer, in earnest
	h, err := lockstep.NewHost(game, header, log, o)
	if err != nil {
		panic(err)
	}
	return h
}

// joinLamps connects a client to a host and reads what it is sent.
func joinLamps(h *lockstep.Host, token string) lockstep.PeerID {
	id, ok := h.Connect(0, "")
	if !ok {
		panic("no room")
	}
	var w lockstep.MessageWriter
	auth := lockstep.MustGame(lampRules).Auth()
	auth.Token = token
	h.Receive(0, id, w.Append(nil, &lockstep.Message{Kind: lockstep.MessageAuth, Auth: auth}))
	return id
}

// A host, and a client written by hand: it says who it is, is welcomed, gets the
// state, and then tick after tick.
func ExampleHost() {
	h := newLampHost(lockstep.HostOptions{
		Observe: func(e lockstep.Event) { fmt.Println("host:", e) },
		Authorize: func(token string) (lockstep.Grant, error) {
			if token != "ann" {
				return lockstep.Grant{}, errors.New("no such token")
			}
			return lockstep.Grant{Role: lockstep.Seated, Seat: lockstep.AnySeat, Name: "Ann"}, nil
		},
	})
	joinLamps(h, "stranger")
	var ann lockstep.PeerID = joinLamps(h, "ann")
	var now lockstep.Time
	var r lockstep.MessageReader
	for h.Now() < 3 {
		h.Advance(now)
		for _, id := range h.Dirty(nil) { // the sockets to serve
			b := h.Send(id, nil, lockstep.MaxServerMessage)
			if id == ann {
				printMessages(&r, b)
			}
			if _, _, closed := h.Closed(id); closed {
				h.Disconnect(now, id)
			}
		}
		now = h.Next()
	}
	for _, p := range h.Peers() {
		fmt.Println(p.Name, "is", p.State)
	}
	// Output:
	// host: tick 0: spectator refused refused: refused
	// host: tick 0: player 0 joined: Ann
	// host: tick 0: player 0 synced: joined
	// 48: seat 0
	// 37: ping
	// 49: 202 bytes of state
	// a record
	// a record
	// a record
	// a record
	// Ann is catching up
}

// printMessages prints what a WebSocket message of a server holds.
func printMessages(r *lockstep.MessageReader, b []byte) {
	var m lockstep.Message
	for len(b) > 0 {
		if lockstep.IsRecord(b) {
			fmt.Println("a record") // the rest is for a Decoder
			return
		}
		rest, err := r.Read(&m, b)
		if err != nil {
			panic(err)
		}
		switch b = rest; m.Kind {
		case lockstep.MessageWelcome:
			fmt.Printf("%d: seat %d\n", m.Kind, m.Welcome.Seat)
		case lockstep.MessageStateSync:
			fmt.Printf("%d: %d bytes of state\n", m.Kind, m.Total)
		case lockstep.MessagePing:
			fmt.Printf("%d: ping\n", m.Kind)
		}
	}
}

// The policies of a classic lockstep match among friends: wait for each other,
// slow down for a slow machine, an input delay that follows the connections. Each
// may cost the others 20 s at once, and 20 s a minute; then they can vote it out.
func ExampleHostOptions() {
	o := lockstep.HostOptions{
		StartPlayers: 2,
		Wait:         lockstep.WaitPolicy{Bound: 20 * lockstep.Second},
		Slow:         lockstep.SlowPolicy{Percent: 50},
		Delay:        lockstep.DelayPolicy{Min: 2, Max: 10},
		Desync:       lockstep.LogDesynced,
		VoteKick:     true,
		Rates: lockstep.Rates{
			Commands: lockstep.Rate{N: 10, Per: lockstep.Second, Burst: 20},
			Pace:     lockstep.Rate{N: int(20 * lockstep.Second), Per: 60 * lockstep.Second, Burst: int(20 * lockstep.Second)},
		},
	}
	h := newLampHost(o)
	h.Advance(0)
	h.Advance(lockstep.Second)
	var s lockstep.Stats = h.Stats()
	fmt.Printf("tick %d, input delay %d, at most %d KiB for connections\n", s.Tick, s.InputDelay, h.MemoryBound(1<<10)>>10)
	// Output: tick 0, input delay 2, at most 52629 KiB for connections
}

// Evidence of a desync has what is needed to explain it, without asking anybody
// for files.
func ExampleEvidence() {
	h := newLampHost(lockstep.HostOptions{
		Evidence: func(e *lockstep.Evidence) {
			fmt.Println(&e.Report)
			var who lockstep.Participant
			for _, who = range e.Participants {
				fmt.Printf("player %d: %s, build %s\n", who.Player, who.Name, who.Build)
			}
			var x lockstep.Exhibit
			for _, x = range e.Exhibits {
				fmt.Printf("tick %d: %d bytes of the referee, %d of the player\n", x.Tick, len(x.Referee), len(x.Player))
			}
		},
	})
	ann := joinLamps(h, "ann")
	var now lockstep.Time
	for h.Now() < 2 {
		h.Advance(now)
		now = h.Next()
	}
	var w lockstep.MessageWriter
	h.Receive(now, ann, w.Append(nil, &lockstep.Message{Kind: lockstep.MessageChecksum, Tick: 2, Root: 12345}))
	none := lockstep.Message{Kind: lockstep.MessageState, Tick: 2} // not kept
	h.Receive(now, ann, w.Append(nil, &none))
	// Output:
	// desync at tick 2: player 0 differs, last agreed at tick 0
	// player 0: Ann, build 1
	// tick 2: 9 bytes of the referee, 0 of the player
}

// Readers at different places share the records of one ring.
func ExampleRing() {
	var enc lockstep.Encoder
	ring := lockstep.NewRing(16, 0)
	game := lockstep.MustGame(lampRules)
	header, _ := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &nobody{})
	for _, record := range [][]byte{enc.Header(header), enc.Keyframe(0, 0, nil, nil)} {
		_ = ring.Append(record) // only a record too large for a message is an error
	}
	for range 20 {
		_ = ring.Append(enc.Empty(1))
	}
	var slow, quick lockstep.Position = 2, 15
	_, next := ring.AppendFrom(nil, quick, ring.Next(), 1<<10)
	fmt.Println("kept:", ring.First(), "to", ring.Next()-1)
	fmt.Println("quick goes on to", next, "and slow can not go on:", !ring.Has(slow))
	// Output:
	// kept: 4 to 19
	// quick goes on to 20 and slow can not go on: true
}

// Codes have names, the same in the log of a server and in the protocol.
func ExampleCloseCode() {
	var code lockstep.CloseCode = lockstep.CloseSlow
	var wrong lockstep.ErrorCode = lockstep.ErrorIdentity
	fmt.Println(code, wrong, lockstep.CloseCode(200))
	// Output: slow identity code 200
}

// A resuming client's auth carries the session of the latest welcome, and what
// it does not have yet.
func ExampleAuth() {
	auth := lockstep.MustGame(lampRules).Auth()
	auth.Session = lockstep.SessionToken{1, 2, 3}
	auth.Position = 4711
	auth.Build = "2"
	err := lockstep.MustGame(lampRules).CheckAuth(auth)
	fmt.Println(err)
	// Output: lockstep: other build: got 2, want 1
}

// A message is one small array; which of its fields are set depends on its kind.
func ExampleMessage() {
	var w lockstep.MessageWriter
	var kind lockstep.MessageKind = lockstep.MessageWelcome
	welcome := lockstep.Welcome{Role: lockstep.Spectator, Seat: lockstep.System, Tick: 100, AckEvery: 10, SpeedPercent: 100}
	var role lockstep.Role = welcome.Role
	fmt.Printf("%x, role %d\n", w.Append(nil, &lockstep.Message{Kind: kind, Welcome: &welcome}), role)
	// Output: 9b30ccff00c4006400c2000a0064, role 0
}

// An event is one line, for a log.
func ExampleEvent() {
	var kind lockstep.EventKind = lockstep.PeerTakenOver
	fmt.Println(lockstep.Event{Kind: kind, Tick: 5, Player: 1})
	var policy lockstep.DesyncPolicy = lockstep.RemoveDesynced
	if policy == lockstep.RemoveDesynced {
		fmt.Println(lockstep.Event{Kind: lockstep.PeerClosed, Tick: 9, Player: 2, Code: lockstep.CloseKicked, Text: "its checksum differs"})
	}
	// Output:
	// tick 5: player 1 taken over
	// tick 9: player 2 closed kicked: its checksum differs
}

// A counter is text in JSON, so that no reader rounds it.
func ExampleCounter() {
	var rejected lockstep.Counter = 1<<53 + 1
	b, err := json.Marshal(rejected)
	fmt.Printf("%s %v\n", b, err)
	// Output: "9007199254740993" <nil>
}

// A connection goes through these states, and some of them again.
func ExamplePeerState() {
	for state := range lockstep.Closed + 1 {
		info := lockstep.PeerInfo{ID: 7, State: state}
		var now lockstep.PeerState = info.State
		fmt.Println(now)
	}
	// Output:
	// connecting
	// syncing
	// catching up
	// live
	// closed
}

// A ban ends what its subject has in the match, and keeps it out.
func ExampleHost_Ban() {
	h := newLampHost(lockstep.HostOptions{
		Observe: func(e lockstep.Event) {
			if e.Code == lockstep.CloseBanned {
				fmt.Println(e)
			}
		},
		Authorize: func(token string) (lockstep.Grant, error) {
			return lockstep.Grant{Role: lockstep.Seated, Seat: lockstep.AnySeat, Subject: token}, nil
		},
	})
	joinLamps(h, "ann")
	err := h.Ban(0, lockstep.Ban{Subject: "ann", Until: 90 * lockstep.Second, Reason: "bad manners"})
	fmt.Println(err)
	joinLamps(h, "ann")
	fmt.Println(len(h.Bans(0)), len(h.Bans(90*lockstep.Second)))
	fmt.Println(errors.Is(h.Ban(0, lockstep.Ban{}), lockstep.ErrBan))
	// Output:
	// tick 0: player 0 left banned
	// tick 0: player 0 closed banned: banned for 90 s: bad manners
	// <nil>
	// tick 0: spectator refused banned: banned for 90 s: bad manners
	// 1 0
	// true
}
