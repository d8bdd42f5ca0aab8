package player_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// servedBytes are the messages of a real server in a short match: welcome, state, records, receipts, requests.
func servedBytes(tb testing.TB) [][]byte {
	var all [][]byte
	var w protocol.Writer
	add := func(m protocol.Message) { all = append(all, w.Append(nil, &m)) }
	g, log := testgame.SampleLog(tb)
	_ = g
	add(protocol.Message{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
		Role: protocol.Seated, Session: protocol.SessionToken{1}, Position: 1, AckEvery: 5, InputDelay: 2, SpeedPercent: 100,
	}})
	state := append(bytes.Clone(log[0].Bytes), log[1].Bytes...)
	for from := 0; from < len(state); from += 200 {
		add(protocol.Message{
			Kind: protocol.KindStateSync, Position: 1, Offset: uint32(from), Total: uint32(len(state)),
			Bytes: state[from:min(len(state), from+200)],
		})
	}
	for _, r := range log[2:] {
		if r.Name != "keyframe" {
			all = append(all, r.Bytes)
		}
	}
	add(protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: 1, Tick: 2})
	add(protocol.Message{Kind: protocol.KindCommandRejected, Sequence: 2, Reason: lockstep.Refused, Text: "no"})
	add(protocol.Message{Kind: protocol.KindStateRequest, Tick: 5})
	add(protocol.Message{Kind: protocol.KindResimulate, From: 0, Tick: 5})
	add(protocol.Message{Kind: protocol.KindResimulate, From: 5, Tick: 10, State: true})
	add(protocol.Message{Kind: protocol.KindDesyncReport, Tick: 5, Agreed: 0, Field: "Piles"})
	add(protocol.Message{Kind: protocol.KindPing, Nonce: 3})
	add(protocol.Message{Kind: protocol.KindPong, Nonce: 1, Tick: 5})
	add(protocol.Message{Kind: protocol.KindError, Code: 6, Text: "x"})
	add(protocol.Message{Kind: protocol.KindClosing, Code: 8, Text: "x", RetryMS: 5})
	return all
}

// hostile is a client that receives arbitrary messages over several connections.
type hostile struct {
	tb     testing.TB
	client *player.Client
	now    lockstep.Time
	state  int
	errors int
	steps  int // ticks that were simulated, also to predict and to compare
	dials  int
	events []any // of some kinds
}

// hostileSteps is the number of ticks that one call of a hostile client may simulate: due ticks, or those that explain
// a desync, predicted ones and late ones, and those that are computed again.
const hostileSteps = 32 + 4 + 4 + 1 + 4

func newHostile(tb testing.TB) *hostile {
	return newHostileWith(tb, player.Options{Reconnect: player.ReconnectPolicy{Attempts: 1 << 20, Total: 1 << 50}})
}

func newHostileWith(tb testing.TB, o player.Options) *hostile {
	h := &hostile{tb: tb}
	rules := testgame.BankRules()
	rules.Step = func(w *testgame.Bank, config *testgame.BankConfig, t *lockstep.Turn) {
		h.steps++
		testgame.StepBank(w, config, t)
	}
	o.Predict, o.PredictLate, o.Interpolate, o.MaxBacklog, o.MaxState, o.KeepStates = 4, 4, true, 256, 4<<10, 2
	h.client = player.New(lockstep.MustGame(rules), o)
	h.advance(0)
	return h
}

// take records the client's events, and returns when the client has to be called again.
func (h *hostile) take() lockstep.Time {
	r := h.client.Ready()
	for _, e := range r.Events {
		switch e.(type) {
		case player.Dialing:
			h.dials++
		case player.LostForGood, player.ConnectionLost, player.Explained:
			h.events = append(h.events, e)
		}
	}
	return r.Next
}

// bounded fails the test if f simulates more ticks than one call may.
func (h *hostile) bounded(what string, f func()) {
	h.tb.Helper()
	before := h.steps
	f()
	if n := h.steps - before; n > hostileSteps {
		h.tb.Fatalf("%s simulated %d ticks at once, want at most %d", what, n, hostileSteps)
	}
}

func (h *hostile) advance(d lockstep.Time) {
	h.now += d
	c := h.client
	h.bounded("Advance", func() { c.Advance(h.now) })
	if c.Stage() == player.StageDialing {
		c.Connected(h.now)
		h.bounded("Advance", func() { c.Advance(h.now) })
	}
	if _, err := c.Submit(&testgame.Earn{Coins: 1}); err == nil && h.now%3 == 0 {
		_ = c.Chat("x")
	}
	for range 4 {
		if b := c.Send(nil); len(b) > protocol.MaxClientMessage {
			h.tb.Fatalf("the client sent %d bytes in one message", len(b))
		}
	}
	if c.Stage() == player.StageClosing {
		c.Disconnected(h.now, nil)
	}
	if s := c.Simulation(); s != nil {
		h.state = max(h.state, len(s.AppendState(nil)))
	}
	if got, want := c.Memory(), c.MemoryBound(h.state); got > want {
		h.tb.Fatalf("got %d bytes of memory, want at most %d", got, want)
	}
	if most := 2 + int(h.now/(100*lockstep.Millisecond)); h.dials > most {
		h.tb.Fatalf("dialed %d times in %d ms, want at most %d", h.dials, h.now.Milliseconds(), most)
	}
	if next := h.take(); next < h.now {
		h.tb.Fatalf("the next call is due %d µs ago", h.now-next)
	}
	_ = c.Status()
	_ = c.Render(func(player.Interpolation) {})
}

func (h *hostile) receive(b []byte) {
	h.bounded("Receive", func() {
		if h.client.Receive(h.now, b) != nil {
			h.errors++
		}
	})
	h.advance(50 * lockstep.Millisecond)
}

// FuzzClient gives a client arbitrary messages before, between and after those of a real server. The first byte of each
// is its size.
func FuzzClient(f *testing.F) {
	served := servedBytes(f)
	var all []byte
	for _, b := range served {
		all = append(append(all, byte(len(b))), b...)
	}
	f.Add(all, uint8(0))
	f.Add(all, uint8(len(served)))
	for i, b := range served {
		f.Add(append([]byte{byte(len(b))}, b...), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, real uint8) {
		h := newHostile(t)
		for i := range min(int(real), len(served)) {
			h.receive(served[i])
		}
		for len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			h.receive(b[1 : 1+n])
			b = b[1+n:]
		}
	})
}

// Real messages that are changed, repeated, cut and out of order.
func TestClientHostileServer(t *testing.T) {
	served := servedBytes(t)
	random := rand.New(rand.NewPCG(3, 4))
	synced, refused, clients := 0, 0, 300
	if testenv.Small(t) {
		clients = 60
	}
	for range clients {
		h := newHostile(t)
		for range 60 {
			i := random.IntN(len(served))
			if random.IntN(3) > 0 { // mostly in order
				for i = range len(served) {
					if random.IntN(8) == 0 {
						continue
					}
					h.receive(served[i])
				}
			}
			b := bytes.Clone(served[i])
			switch random.IntN(4) {
			case 0:
				b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			case 1:
				b = b[:random.IntN(len(b))]
			case 2:
				b = append(b, served[random.IntN(len(served))]...)
			}
			h.receive(b)
		}
		if h.client.Simulation() != nil {
			synced++
		}
		if h.errors > 0 {
			refused++
		}
	}
	if synced < clients/3 || refused < clients/3 {
		t.Errorf("got %d clients with a state and %d that refused something, want many of both", synced, refused)
	}
}

// A server that sends ticks without end, as runs or one by one, cannot make the client keep more than its limit, nor
// run more than its budget in one call.
func TestClientFlood(t *testing.T) {
	served := servedBytes(t)
	for name, record := range map[string][]byte{"runs": {0x92, 4, 0xcd, 1, 0xfc}, "ticks": {0x92, 4, 1}} {
		h := newHostile(t)
		for _, b := range served {
			h.receive(b)
			if h.client.Stage() == player.StageLive {
				break
			}
		}
		flood := bytes.Repeat(record, 60)
		for range 300 {
			before := h.client.Tick()
			h.receive(flood)
			if got := h.client.Tick() - before; got > 64 { // Receive and Advance, twice at most
				t.Fatalf("%s: ran %d ticks in one go", name, got)
			}
		}
		if h.client.Tick() == 0 {
			t.Errorf("%s: nothing was run", name)
		}
	}
}
