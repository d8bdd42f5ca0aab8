package player_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A game with a state of many chunks that can be made to panic.
type (
	wide struct {
		Tick uint32
		Pad  [12000]uint64
	}
	wideConfig struct{}
)

func wideRules(panicsAt uint32) lockstep.Rules[wide, wideConfig] {
	return lockstep.Rules[wide, wideConfig]{
		Name: "wide", Build: "1",
		New: func(w *wide, _ *lockstep.Settings, _ *wideConfig) error {
			for i := range w.Pad {
				w.Pad[i] = uint64(i) * 0x9e3779b97f4a7c15
			}
			return nil
		},
		Step: func(w *wide, _ *wideConfig, turn *lockstep.Turn) {
			w.Tick++
			if w.Tick == panicsAt {
				panic("fault")
			}
		},
	}
}

// wideMatch returns the messages of a server in a match of the wide game: the state as messages, and ticks.
func wideMatch(t *testing.T) (messages [][]byte, state []byte) {
	g := lockstep.MustGame(wideRules(0))
	settings := lockstep.DefaultSettings(1)
	settings.CheckEvery = 5
	h, err := g.NewHeader(lockstep.MatchID{1}, settings, &wideConfig{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	var e record.Encoder
	var w protocol.Writer
	messages = append(messages, w.Append(nil, &protocol.Message{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
		Role: protocol.Seated, Position: 1, AckEvery: 5, InputDelay: 2, SpeedPercent: 100,
	}}))
	b := bytes.Clone(e.Header(h))
	state = sim.AppendState(nil)
	b = append(b, e.Keyframe(0, sim.Hash(), nil, state)...)
	for from := 0; from < len(b); from += protocol.MaxChunk {
		messages = append(messages, w.Append(nil, &protocol.Message{
			Kind: protocol.KindStateSync, Position: 1, Offset: uint32(from), Total: uint32(len(b)),
			Bytes: b[from:min(len(b), from+protocol.MaxChunk)],
		}))
	}
	return append(messages, e.Empty(9)), state
}

// The states that a server requests are sent in chunks that fit into a message, and do not delay commands.
func TestClientAnswersStates(t *testing.T) {
	messages, start := wideMatch(t)
	c := player.New(lockstep.MustGame(wideRules(0)), player.Options{Pacing: player.PacingOptions{AsTheyCome: true}})
	c.Advance(0)
	c.Connected(0)
	var w protocol.Writer
	for _, tick := range []lockstep.Tick{0, 5, 7} {
		messages = append(messages, w.Append(nil, &protocol.Message{Kind: protocol.KindStateRequest, Tick: tick}))
	}
	for _, b := range messages {
		if err := c.Receive(0, b); err != nil {
			t.Fatal(err)
		}
		c.Advance(0)
	}
	states := map[lockstep.Tick][]byte{}
	var r protocol.Reader
	for {
		b := c.Send(nil)
		if len(b) == 0 {
			break
		}
		if len(b) > protocol.MaxClientMessage {
			t.Fatalf("got a message of %d bytes, want at most %d", len(b), protocol.MaxClientMessage)
		}
		for len(b) > 0 {
			var m protocol.Message
			var err error
			if b, err = r.Read(&m, b); err != nil {
				t.Fatal(err)
			}
			if m.Kind != protocol.KindState {
				continue
			}
			if int(m.Offset) != len(states[m.Tick]) {
				t.Fatalf("got a chunk at %d, want %d", m.Offset, len(states[m.Tick]))
			}
			states[m.Tick] = append(states[m.Tick], m.Bytes...)
			if m.Total == 0 {
				states[m.Tick] = []byte{}
			}
		}
	}
	if !bytes.Equal(states[0], start) || len(states[5]) != len(start) || bytes.Equal(states[5], start) {
		t.Errorf("got states of %d and %d bytes, want two different ones of %d", len(states[0]), len(states[5]), len(start))
	}
	if s, ok := states[7]; !ok || len(s) > 0 {
		t.Errorf("got a state of %d bytes of a tick that is not kept", len(s))
	}
}

// A game that panics in the client but not on the server ends the client with the reason. The program continues.
func TestClientGamePanics(t *testing.T) {
	messages, _ := wideMatch(t)
	var last any
	c := player.New(lockstep.MustGame(wideRules(4)), player.Options{
		Pacing: player.PacingOptions{AsTheyCome: true},
	})
	c.Advance(0)
	c.Connected(0)
	for _, b := range messages {
		if err := c.Receive(0, b); err != nil {
			t.Fatal(err)
		}
		c.Advance(0)
	}
	if c.Stage() != player.StageClosing {
		t.Fatalf("got %v, want it to hang up", c.Stage())
	}
	var words protocol.Reader
	var m protocol.Message
	if _, err := words.Read(&m, c.Send(nil)); err != nil || m.Kind != protocol.KindPanicked || m.Tick != 4 || m.Field != "Step" || m.Text == "" || !strings.Contains(m.Stack, "player_test") {
		t.Errorf("got %+v, %v, want that it says so", m, err)
	}
	if b := c.Send(nil); len(b) > 0 {
		t.Errorf("got %x, want that it says so once", b)
	}
	c.Disconnected(0, nil)
	for _, e := range c.Ready().Events {
		last = e
	}
	var fault *lockstep.PanicError
	if lost, ok := last.(player.LostForGood); !ok || !errors.As(lost.Err, &fault) || fault.Tick != 4 || c.Stage() != player.StageDone {
		t.Errorf("got %v as the last event, %v, want it lost for good by a panic at tick 4", last, c.Stage())
	}
}

// A listener may leave, or submit, at any event.
func TestClientLeavesAtAnyEvent(t *testing.T) {
	lost := 0
	for at := range 20 {
		var v *venue
		n, last := 0, any(nil)
		v = &venue{
			host: testgame.NewLampHost(host.Options{}), client: player.New(lockstep.MustGame(testgame.LampRules), player.Options{Token: "Ann"}),
			handle: func(e any) {
				switch e.(type) {
				case player.ConnectionLost:
					if n == at {
						lost++
					}
				case player.Dialing, player.Connected:
					if n > at {
						t.Errorf("left at event %d, and then %T", at, e)
					}
				}
				if _, answer := e.(lockstep.Receipt); n == at {
					v.client.Leave("")
				} else if !answer {
					if _, err := v.client.Submit(&testgame.Press{Lamp: 1}); err != nil && !errors.Is(err, player.ErrNotPlaying) {
						t.Errorf("event %d, %T: %v", n, e, err)
					}
				}
				n, last = n+1, e
			},
		}
		for range 3 {
			v.play(lockstep.Second)
			if v.client.Stage() != player.StageDone {
				v.cut(errors.New("cut"))
			}
		}
		if n <= at {
			t.Fatalf("there were only %d events", n)
		}
		if v.client.Stage() != player.StageDone || v.client.Err() != nil {
			t.Errorf("left at event %d, %T: got %v, %v", at, last, v.client.Stage(), v.client.Err())
		}
	}
	if lost == 0 {
		t.Error("it never left as the connection was lost")
	}
}

// BenchmarkClientTick compares a client's tick with a tick of the simulation alone.
func BenchmarkClientTick(b *testing.B) {
	b.Run("simulation", func(b *testing.B) {
		g, h := testgame.NewBankMatch(b, 2)
		sim, err := g.NewSimulation(h)
		if err != nil {
			b.Fatal(err)
		}
		f := &lockstep.Frame{}
		for b.Loop() {
			f.Tick++
			if err := sim.Step(f); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, o := range map[string]player.Options{
		"plain": {}, "as they come": {Pacing: player.PacingOptions{AsTheyCome: true}},
		"interpolated": {Interpolate: true}, "predicted": {Predict: 8},
	} {
		b.Run(name, func(b *testing.B) {
			f := newFeed(b, o)
			f.play(20, func(int) lockstep.Time { return 0 })
			tick := []byte{0x92, 4, 1}
			for b.Loop() {
				f.ran = f.ran[:0]
				f.now += feedPeriod
				if err := f.client.Receive(f.now, tick); err != nil {
					b.Fatal(err)
				}
				f.client.Advance(f.now)
				f.out = f.client.Send(f.out[:0])
			}
		})
	}
}
