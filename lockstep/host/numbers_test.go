package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A limited number is a number in a message, with its possible values.
type limited struct {
	name      string
	low, high uint64
	most      uint64                       // that its bytes can hold; 0: 32 bits
	message   func(n uint64) []byte        // that has it, of a server
	system    func(n uint64) lockstep.Kind // or the kind of a command of System
}

func kindOf(k lockstep.Kind) func(uint64) lockstep.Kind {
	return func(uint64) lockstep.Kind { return k }
}

// limitedNumbers are all numbers from a server that are used to divide, multiply, schedule, count or allocate. (Nonces,
// checksums and codes are only compared.)
var limitedNumbers = []limited{
	{name: "welcome seat", high: lockstep.MaxPlayers - 1, most: 254, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.Seat = lockstep.Player(n) })
	}},
	{name: "welcome tick", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.Tick = lockstep.Tick(n) })
	}},
	{name: "welcome position", high: math.MaxUint64, most: math.MaxUint64, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.Position = protocol.Position(n) })
	}},
	{name: "welcome last sequence", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.LastSequence = lockstep.Sequence(n) })
	}},
	{name: "welcome ack every", low: 1, high: math.MaxUint16, most: math.MaxUint16, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.AckEvery = uint16(n) })
	}},
	{name: "welcome input delay", high: record.MaxInputDelay, most: math.MaxUint16, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.InputDelay = uint16(n) })
	}},
	{name: "welcome speed", low: 10, high: 1000, most: math.MaxUint16, message: func(n uint64) []byte {
		return testgame.Welcome(func(w *protocol.Welcome) { w.SpeedPercent = uint16(n) })
	}},
	{name: "state sync position", low: 1, high: math.MaxUint64, most: math.MaxUint64, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: protocol.Position(n), Total: 2, Bytes: []byte{1}})
	}},
	{name: "state sync tick", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Tick: lockstep.Tick(n), Total: 2, Bytes: []byte{1}})
	}},
	{name: "state sync total", low: 1, high: lockstep.MaxStateSize + protocol.MaxServerMessage, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: uint32(n), Bytes: []byte{1}[:min(n, 1)]})
	}},
	{name: "accepted sequence", low: 1, high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: lockstep.Sequence(n), Tick: 1})
	}},
	{name: "accepted tick", low: 1, high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: 1, Tick: lockstep.Tick(n)})
	}},
	{name: "rejected sequence", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindCommandRejected, Sequence: lockstep.Sequence(n), Reason: lockstep.Refused})
	}},
	{name: "state request tick", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindStateRequest, Tick: lockstep.Tick(n)})
	}},
	{name: "desync tick", low: 1, high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindDesyncReport, Tick: lockstep.Tick(n)})
	}},
	{name: "desync agreed", high: 19, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindDesyncReport, Tick: 20, Agreed: lockstep.Tick(n)})
	}},
	{name: "pong tick", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindPong, Tick: lockstep.Tick(n)})
	}},
	{name: "closing retry", high: math.MaxUint32, message: func(n uint64) []byte {
		return testgame.Message(&protocol.Message{Kind: protocol.KindClosing, Code: uint8(protocol.CloseShutdown), RetryMS: uint32(n)})
	}},
	{name: "empty ticks", low: 1, high: record.MaxEmptyRun, message: func(n uint64) []byte {
		return append([]byte{0x92, byte(record.KindEmpty)}, number(n)...)
	}},
	{name: "checksum of ticks ago", high: 0, message: func(n uint64) []byte {
		return append(append([]byte{0x93, byte(record.KindChecksum)}, number(n)...), 1)
	}},
	{name: "command step", low: 1, high: math.MaxUint32, message: func(n uint64) []byte {
		b := append([]byte{0x95, byte(record.KindFrame), 0}, number(n)...)
		return append(b, 1, 0xc4, 2, 1, 0)
	}},
	{name: "speed set", low: 10, high: 1000, most: math.MaxUint16, system: kindOf(7)},
	{name: "input delay set", low: 1, high: record.MaxInputDelay, most: math.MaxUint16, system: kindOf(8)},
	// Of a match of two seats:
	{name: "joined player", high: 1, most: 255, system: kindOf(1)},
	{name: "left player", high: 1, most: 255, system: kindOf(2)},
	{name: "lost player", high: 1, most: 255, system: kindOf(3)},
	{name: "taken over player", high: 1, most: 255, system: kindOf(4)},
	{name: "paused player", high: 1, most: 255, system: kindOf(5)},
	{name: "resumed player", high: 1, most: 254, system: kindOf(6)},
}

// number returns a number in MessagePack's smallest form.
func number(n uint64) []byte {
	return testgame.Message(&protocol.Message{Kind: protocol.KindPing, Nonce: n})[2:]
}

// values returns the values of a number to try: the limits, and values beyond them.
func (l *limited) values() (all []uint64) {
	most := l.most
	if most == 0 {
		most = math.MaxUint32
	}
	for _, n := range []uint64{0, 1, l.low - 1, l.low, l.low + 1, l.high - 1, l.high, l.high + 1, most / 2, most - 1, most} {
		if n <= most {
			all = append(all, n)
		}
	}
	return all
}

// systemFrame returns the frame of a tick with one command of System.
func systemFrame(t lockstep.Tick, kind lockstep.Kind, n uint64) *lockstep.Frame {
	payload := []byte{byte(n)} // a player
	if kind >= 7 {
		payload = append(payload, byte(n>>8)) // percent, or ticks
	}
	return &lockstep.Frame{Tick: t, Commands: []lockstep.Command{{
		Tick: t, Player: lockstep.System, Sequence: 1, Kind: kind, Payload: payload,
	}}}
}

// For all numbers that a server sends, the client accepts them or closes the connection, and never becomes due at once
// without doing anything.
func TestNumbersOfAServer(t *testing.T) {
	for i := range limitedNumbers {
		l := &limitedNumbers[i]
		for _, n := range l.values() {
			t.Run(fmt.Sprint(l.name, " ", n), func(t *testing.T) {
				v := newVictim(t)
				b := v.bytes(l, n)
				v.receive(b)
				v.progress()
				if want := n < l.low || n > l.high; v.refused != want {
					t.Errorf("refused %t, want %t for %d to %d", v.refused, want, l.low, l.high)
				}
			})
		}
	}
}

// A victim is a client of a server that sends anything.
type victim struct {
	t       *testing.T
	game    *lockstep.Game
	header  *lockstep.Header
	enc     record.Encoder
	client  *player.Client
	now     lockstep.Time
	refused bool
}

func newVictim(t *testing.T) *victim {
	g, h := testgame.NewBankMatch(t, 2)
	v := &victim{t: t, game: g, header: h, now: 5 * lockstep.Second}
	v.client = player.New(g, player.Options{Predict: 4, Interpolate: true})
	v.client.Advance(v.now)
	v.client.Connected(v.now)
	return v
}

// bytes brings the client to a state in which a number can be sent, and returns the message.
func (v *victim) bytes(l *limited, n uint64) []byte {
	b := []byte(nil)
	if l.message != nil {
		b = l.message(n)
		if b[1] == byte(protocol.KindWelcome) {
			return b
		}
	}
	v.receive(testgame.Welcome(func(*protocol.Welcome) {}))
	sim, err := v.game.NewSimulation(v.header)
	if err != nil {
		v.t.Fatal(err)
	}
	state := bytes.Clone(v.enc.Header(v.header))
	state = append(state, v.enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
	v.receive(testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: uint32(len(state)), Bytes: state}))
	if _, err := v.client.Submit(&testgame.Earn{Coins: 1}); err != nil {
		v.t.Fatal(err)
	}
	v.client.Advance(v.now)
	for len(v.client.Send(nil)) > 0 {
	}
	if l.system != nil {
		b = bytes.Clone(v.enc.Frame(systemFrame(1, l.system(n), n)))
		for t := lockstep.Tick(2); t < 50; t++ {
			b = append(b, v.enc.Empty(1)...)
		}
	}
	return b
}

func (v *victim) receive(b []byte) {
	if err := v.client.Receive(v.now, b); errors.Is(err, record.ErrMalformed) || errors.Is(err, record.ErrContent) {
		v.refused = true
	} else if err != nil && !errors.Is(err, player.ErrClosed) {
		v.t.Errorf("got error %v, want ErrMalformed or ErrContent", err)
	}
}

// progress lets half a minute pass, as a caller does.
func (v *victim) progress() {
	idle := 0
	for end := v.now + 30*lockstep.Second; v.now < end; {
		before, stage := v.client.Tick(), v.client.Stage()
		v.client.Advance(v.now)
		for len(v.client.Send(nil)) > 0 {
		}
		switch v.client.Stage() {
		case player.StageDialing, player.StageClosing:
			v.client.Disconnected(v.now, nil)
		}
		next := v.client.Ready().Next
		if idle++; next > v.now || v.client.Tick() != before || v.client.Stage() != stage {
			idle = 0
		}
		if idle > 1 {
			v.t.Fatalf("Ready.Next is now for ever, at tick %d, %v", v.client.Tick(), v.client.Stage())
		}
		v.now = max(v.now, min(next, end))
		if v.client.Stage() == player.StageGreeting || v.client.Stage() == player.StageDone {
			break
		}
	}
}

// Each reader of a log refuses a command of System with an invalid number: a follower, and a server that continues the
// match.
func TestNumbersOfSystem(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 2)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range limitedNumbers {
		l := &limitedNumbers[i]
		if l.system == nil {
			continue
		}
		for _, n := range l.values() {
			for name, log := range map[string]lockstep.Log{
				"follower": g.NewFollower(lockstep.FollowerOptions{}), "resumption": host.NewRecovery(g),
			} {
				var e record.Encoder
				err := log.Append(e.Header(h))
				if err == nil {
					err = log.Append(e.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
				}
				if err != nil {
					t.Fatal(err)
				}
				err = log.Append(e.Frame(systemFrame(1, l.system(n), n)))
				if want := n < l.low || n > l.high; errors.Is(err, record.ErrContent) != want {
					t.Errorf("%s %d: %s: got %v", l.name, n, name, err)
				}
			}
		}
	}
}

// For all numbers that a client sends, only its own connection suffers, and the host never becomes due at once without
// doing anything.
func TestNumbersOfAClient(t *testing.T) {
	extremes := []uint64{0, 1, 255, 256, math.MaxUint16, 1 << 31, uint64(record.MaxTick), uint64(record.MaxTick) + 1, math.MaxUint32, math.MaxInt64, math.MaxUint64}
	for name, send := range map[string]func(n uint64) protocol.Message{
		"ack position": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindAck, Position: protocol.Position(n), Tick: 1}
		},
		"ack tick": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindAck, Position: 1, Tick: lockstep.Tick(n)}
		},
		"checksum tick": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindChecksum, Tick: lockstep.Tick(n)}
		},
		"state tick": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindState, Tick: lockstep.Tick(n), Total: 1, Bytes: []byte{1}}
		},
		"state offset": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindState, Tick: 5, Offset: uint32(n), Total: math.MaxUint32, Bytes: []byte{1}}
		},
		"state total": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindState, Tick: 5, Total: uint32(n)}
		},
		"sequence": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindCommand, Sequence: lockstep.Sequence(n), Command: 1, Bytes: []byte{1, 0}}
		},
		"kind": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindCommand, Sequence: 1, Command: lockstep.Kind(n), Bytes: []byte{1, 0}}
		},
		"nonce": func(n uint64) protocol.Message { return protocol.Message{Kind: protocol.KindPing, Nonce: n} },
		"pong": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindPong, Nonce: n, Tick: 1}
		},
		"pong tick": func(n uint64) protocol.Message {
			return protocol.Message{Kind: protocol.KindPong, Nonce: 1, Tick: lockstep.Tick(n)}
		},
	} {
		for _, n := range extremes {
			p := newParty(t, nil, nil)
			a, b := p.join("a", "p0"), p.join("b", "p1")
			p.pass(lockstep.Second)
			m := send(n)
			a.send(&m)
			a.position = protocol.Position(n)
			a.auth.Session, a.auth.Position = a.welcome.Session, a.position
			if a.id != 0 {
				a.cut()
			}
			a.connect()
			for range 100 {
				p.now = max(p.now, p.next())
				p.h.Advance(p.now)
				if next := p.next(); next <= p.now {
					t.Fatalf("%s %d: Next is %v at %v, after Advance", name, n, next, p.now)
				}
				p.deliver()
			}
			if err := p.h.Info().CheckBounds(1 << 10); err != nil {
				t.Errorf("%s %d: %v", name, n, err)
			}
			if b.id == 0 || b.follower.Tick()+1 < p.h.Now() {
				t.Errorf("%s %d: another client suffers", name, n)
			}
		}
	}
}
