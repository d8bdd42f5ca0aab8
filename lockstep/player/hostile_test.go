package player_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// seated returns the welcome to a seat.
func seated(seat lockstep.Player) []byte {
	return testgame.Welcome(func(w *protocol.Welcome) { w.Seat = seat })
}

// stateAt returns the state of a match of two players at a tick, as one message.
func stateAt(tb testing.TB, tick lockstep.Tick, change func(*lockstep.Header)) []byte {
	g, h := testgame.NewBankMatch(tb, 2)
	if change != nil {
		change(h)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	var enc record.Encoder
	b := append([]byte(nil), enc.Header(h)...)
	b = append(b, enc.Keyframe(tick, sim.Hash(), nil, sim.AppendState(nil))...)
	return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Tick: tick, Total: uint32(len(b)), Bytes: b})
}

// emptyTicks returns one message with N runs of the maximum number of empty ticks.
func emptyTicks(runs int) (b []byte) {
	for range runs {
		b = append(b, 0x92, byte(record.KindEmpty), 0xce, 0, 1, 0, 0)
	}
	return b
}

// A server reports a desync, sends a billion ticks, and then a state after them. The client gives up comparing the two.
func TestClientExplainWork(t *testing.T) {
	h := newHostile(t)
	h.receive(seated(0))
	h.receive(stateAt(t, 0, nil))
	h.receive(testgame.Message(&protocol.Message{Kind: protocol.KindDesyncReport, Tick: 1, Field: "Piles"}))
	h.receive(emptyTicks(1))
	h.receive(stateAt(t, 65_000, nil))
	if h.steps == 0 || h.client.Tick() < 65_000 {
		t.Errorf("%d ticks were simulated, and the client is at tick %d", h.steps, h.client.Tick())
	}
}

// A client buffers at most some minutes of ticks, however few bytes they take. Beyond that it requests a state instead,
// a limited number of times.
func TestClientBillionTicks(t *testing.T) {
	h := newHostile(t)
	h.receive(seated(0))
	h.receive(stateAt(t, 0, nil))
	for range 30 {
		h.receive(emptyTicks(20))
		if n := h.client.Status().Backlog; n > player.MaxWaiting {
			t.Fatalf("%d ticks wait, want at most %d", n, player.MaxWaiting)
		}
		h.receive(stateAt(t, 0, nil))
	}
	if err := h.client.Err(); !errors.Is(err, player.ErrNoSync) {
		t.Errorf("got %v, want %v", err, player.ErrNoSync)
	}
}

// A client can leave without running the remaining ticks after the end of a match.
func TestClientLeavesDraining(t *testing.T) {
	h := newHostile(t)
	h.receive(seated(0))
	h.receive(stateAt(t, 0, nil))
	h.receive(append(emptyTicks(1), 0x92, byte(record.KindEnd), 0xa0))
	if stage := h.client.Stage(); stage == player.StageDone {
		t.Fatalf("got stage %v, want ticks that are left", stage)
	}
	h.client.Leave("")
	h.advance(0)
	if stage := h.client.Stage(); stage != player.StageDone {
		t.Errorf("got stage %v, want %v", stage, player.StageDone)
	}
}

// A client disconnects from a server that only pings, or sends a state byte by byte, as from a silent one.
func TestClientSlowServer(t *testing.T) {
	ping := testgame.Message(&protocol.Message{Kind: protocol.KindPing, Nonce: 1})
	for _, row := range []struct {
		name   string
		before [][]byte
		again  func(n int) []byte
	}{
		{"no welcome", nil, func(int) []byte { return ping }},
		{"no state", [][]byte{seated(0)}, func(int) []byte { return ping }},
		{"a state byte by byte", [][]byte{seated(0)}, func(n int) []byte {
			return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Offset: uint32(n), Total: 4000, Bytes: []byte{0x9c}})
		}},
		{"a state again and again", [][]byte{seated(0)}, func(n int) []byte {
			return testgame.Message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: 4000, Bytes: make([]byte, 2000)})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHostile(t)
			for _, b := range row.before {
				h.receive(b)
			}
			for n := range 200 {
				h.receive(row.again(n))
				h.advance(lockstep.Second / 2)
				if len(h.events) > 0 {
					break
				}
			}
			if len(h.events) != 1 || !errors.Is(h.events[0].(player.ConnectionLost).Err, player.ErrNoSync) {
				t.Errorf("got %v, want one loss with %v", h.events, player.ErrNoSync)
			}
		})
	}
}

// The client rejects a seat that the match does not have, since the application would use it as an index.
func TestClientSeatOutOfRange(t *testing.T) {
	for _, row := range []struct {
		name     string
		messages func() [][]byte
	}{
		{"before the header", func() [][]byte { return [][]byte{seated(2), stateAt(t, 0, nil)} }},
		{"after it", func() [][]byte {
			return [][]byte{seated(1), stateAt(t, 0, nil), testgame.Message(&protocol.Message{Kind: protocol.KindClosing, Code: 8, RetryMS: 1}), nil, nil, nil, seated(2)}
		}},
		{"fewer seats than before", func() [][]byte {
			return [][]byte{seated(1), stateAt(t, 0, nil), stateAt(t, 0, func(h *lockstep.Header) { h.Settings.Players = 1 })}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHostile(t)
			for _, b := range row.messages() {
				h.receive(b)
				if b == nil {
					h.advance(5 * lockstep.Second)
				}
			}
			seat, header := h.client.Status().Seat, h.client.Header()
			if header != nil && int(seat) >= int(header.Settings.Players) {
				t.Errorf("plays in seat %d of %d", seat, header.Settings.Players)
			}
		})
	}
}

// A retry delay of days ends the client.
func TestClientRetryAfter(t *testing.T) {
	for _, row := range []struct {
		ms   uint32
		done bool
	}{{1, false}, {3_600_000, false}, {3_600_001, true}, {1<<32 - 1, true}} {
		h := newHostile(t)
		h.receive(seated(0))
		h.receive(testgame.Message(&protocol.Message{Kind: protocol.KindClosing, Code: 8, Text: "later", RetryMS: row.ms}))
		err := h.client.Err()
		if done := h.client.Stage() == player.StageDone; done != row.done || row.done && !strings.Contains(err.Error(), "later") {
			t.Errorf("retry after %d ms: got stage %v and error %v", row.ms, h.client.Stage(), err)
		}
	}
}

// A server that ends each connection is dialed at a bounded rate, whatever it sends.
func TestClientDialRate(t *testing.T) {
	for _, live := range []bool{false, true} {
		h := newHostileWith(t, player.Options{})
		const seconds = 660
		for h.now < seconds*lockstep.Second && h.client.Stage() != player.StageDone {
			h.receive(seated(0))
			if live {
				h.receive(stateAt(t, 0, nil))
				for range 30 {
					h.receive([]byte{0x92, byte(record.KindEmpty), 1})
				}
			}
			h.receive(testgame.Message(&protocol.Message{Kind: protocol.KindClosing, Code: 8, RetryMS: 1}))
			h.advance(h.take() - h.now)
		}
		if most := 8 + 600/4; !live && (h.dials > most || h.client.Err() == nil) {
			t.Errorf("dialed %d times in %d s, and gave up with %v; want at most %d times", h.dials, seconds, h.client.Err(), most)
		}
		if live && (h.dials < 100 || h.dials > seconds) {
			t.Errorf("dialed %d times in %d s, want at most once a second", h.dials, seconds)
		}
	}
}

// A server cannot make a client keep more events than its memory limit allows, and no event is lost: a client with many
// events runs no more records until the next call.
func TestClientEventsBounded(t *testing.T) {
	const notes = 5000
	messages, _ := wideMatch(t)
	c := player.New(lockstep.MustGame(wideRules(0)), player.Options{})
	c.Advance(0)
	c.Connected(0)
	var e record.Encoder
	e.Header(&lockstep.Header{Settings: lockstep.DefaultSettings(1)})
	e.Keyframe(0, 0, nil, nil)
	var flood []byte
	for range notes {
		flood = append(flood, e.Note(1, record.TopicChat, "x")...)
	}
	for _, b := range append(messages, flood, bytes.Repeat(testgame.Message(&protocol.Message{Kind: protocol.KindError, Code: 200}), 20_000)) {
		if err := c.Receive(0, b); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := c.Memory(), c.MemoryBound(0); got > want {
		t.Errorf("got %d bytes of memory, want at most %d", got, want)
	}
	seen := map[string]int{}
	var now lockstep.Time
	for range 20 {
		c.Advance(now)
		r := c.Ready()
		n := 0
		for _, e := range r.Events {
			seen[fmt.Sprintf("%T", e)]++
			if _, ok := e.(player.Note); ok {
				n++
			}
		}
		if n > 1024 {
			t.Errorf("one call of Advance made %d events", n)
		}
		if n == 1024 && r.Next > now {
			t.Error("records wait, and Next does not say so")
		}
		now = r.Next
	}
	if seen["player.Note"] != notes || seen["player.ServerError"] != 20_000 {
		t.Errorf("got %v, want %d notes and 20000 errors", seen, notes)
	}
}
