//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A hostileServer takes the place of the match's server, and sends arbitrary bytes.
type hostileServer struct {
	state  []byte // header and keyframe
	writer protocol.Writer
	enc    record.Encoder
}

func newHostileServer(t *testing.T) *hostileServer {
	config := skirmish.Defaults(2, 100)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	s := &hostileServer{}
	s.state = append(s.state, s.enc.Header(h)...)
	s.state = append(s.state, s.enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
	return s
}

// attack lets serve answer all connections of a stage.
func (h *hostileServer) attack(s *stage, serve func(say func(messages ...[]byte) bool)) {
	s.Instead = func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{client.Subprotocol}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { // CloseRead would close the connection when the client says something
			defer cancel()
			for err := error(nil); err == nil; {
				_, _, err = c.Read(ctx)
			}
		}()
		serve(func(messages ...[]byte) bool {
			for _, b := range messages {
				if c.Write(ctx, websocket.MessageBinary, b) != nil {
					return false
				}
			}
			return true
		})
	}
}

func (h *hostileServer) message(m *protocol.Message) []byte { return h.writer.Append(nil, m) }

// begin returns the messages that make a client live.
func (h *hostileServer) begin() [][]byte {
	all := [][]byte{h.message(&protocol.Message{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
		Role: protocol.Seated, Session: protocol.SessionToken{1}, Position: 1, AckEvery: 5, InputDelay: 2, SpeedPercent: 100,
	}})}
	for at := 0; at < len(h.state); at += protocol.MaxChunk {
		all = append(all, h.message(&protocol.Message{
			Kind: protocol.KindStateSync, Position: 1, Offset: uint32(at), Total: uint32(len(h.state)), Bytes: h.state[at:min(len(h.state), at+protocol.MaxChunk)],
		}))
	}
	return all
}

// emptyTicks returns a message of n empty ticks; n is at most 65,536.
func emptyTicks(n int) []byte {
	if n < 1<<16 { // the smallest form
		return []byte{0x92, byte(record.KindEmpty), 0xcd, byte(n >> 8), byte(n)}
	}
	return []byte{0x92, byte(record.KindEmpty), 0xce, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

// counting makes a page count its animation frames.
const counting = `(globalThis.drawings = 0, (function draw() { drawings++; requestAnimationFrame(draw); })(), true)`

// A page that catches up with hours of a match is still drawn. The test counts frames between two ticks, not time.
func TestPageCatchesUp(t *testing.T) {
	s := newStage(t, setup{})
	h := newHostileServer(t)
	h.attack(s, func(say func(...[]byte) bool) {
		say(h.begin()...)
		say(emptyTicks(65_536), emptyTicks(60_000))
		for say(h.message(&protocol.Message{Kind: protocol.KindPing})) {
			time.Sleep(time.Second)
		}
	})
	b := browser.Open(t, s.URL, "WebSocket connection to") // it may be left while it connects
	browser.Value[bool](b, counting)
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(`page.state?.net.tick > 100`)
	before, from := browser.Value[int](b, "drawings"), browser.Value[int](b, "page.state.net.tick")
	b.Until(fmt.Sprintf(`page.state.net.tick >= %d`, from+4000))
	drawn, ticks := browser.Value[int](b, "drawings")-before, browser.Value[int](b, "page.state.net.tick")-from
	t.Logf("%d frames in %d ticks", drawn, ticks)
	if drawn < ticks/1000 {
		t.Errorf("the page was drawn %d times in %d ticks, want once in 1,000 at least", drawn, ticks)
	}
	browser.Value[bool](b, `(location.hash = "#/", true)`)
	b.Until(`!document.getElementById("lobby").hidden`)
}

// markup is a hostile text.
const markup = "<img src=x onerror=\"document.body.dataset.hurt=1\"><script>document.body.dataset.hurt=1</script>\u202e\u2066\x1b[2J\x00"

// A page whose server floods it with right and wrong messages is still drawn, stays small, and can be left.
func TestPageUnderFuzzedServer(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	h := newHostileServer(t)
	long := strings.Repeat(markup, 1000)
	note := func(p lockstep.Player, topic, text string) []byte { return bytes.Clone(h.enc.Note(p, topic, text)) }
	texts := [][]byte{
		note(0, "chat", long[:900]), note(1, "name", long[:900]), note(255, "a b\"><c", markup), note(200, "", ""), note(1, markup[:90], "x"),
		h.message(&protocol.Message{Kind: protocol.KindHeld, Text: long[:900], Seats: []byte{0, 1, 249}, SinceMS: 1<<32 - 1, UntilMS: 1<<32 - 1}),
		h.message(&protocol.Message{Kind: protocol.KindError, Code: uint8(protocol.ErrorLimit), Text: markup, Field: markup[:90]}),
		h.message(&protocol.Message{Kind: protocol.KindDesyncReport, Tick: 5, Field: markup[:90]}),
		h.message(&protocol.Message{Kind: protocol.KindCommandRejected, Sequence: 1, Reason: 200, Text: markup}),
	}
	others := [][]byte{
		h.message(&protocol.Message{Kind: protocol.KindPing, Nonce: 1}), h.message(&protocol.Message{Kind: protocol.KindPong, Tick: 1<<32 - 1}),
		h.message(&protocol.Message{Kind: protocol.KindStateRequest, Tick: 0}), {0x93, byte(record.KindChecksum), 0, 0},
		emptyTicks(1), emptyTicks(30_000), {},
	}
	random := rand.New(rand.NewPCG(1, 2))
	h.attack(s, func(say func(...[]byte) bool) {
		for n := 0; say(h.begin()...); n++ {
			for range 2000 {
				from := texts
				if random.IntN(2) == 0 {
					from = others
				}
				b := bytes.Clone(from[random.IntN(len(from))])
				if n%4 == 3 && len(b) > 0 && random.IntN(100) == 0 {
					b[random.IntN(len(b))] ^= 1 << random.IntN(8) // the client may hang up
				}
				if !say(b) {
					return
				}
			}
		}
	})
	b := browser.Open(t, s.URL, "WebSocket connection to") // it may be left while it connects
	browser.Value[bool](b, counting)
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(`page.state?.net.total_in > 0`)
	b.Until(`page.state.link.losses >= 1 || page.state.link.state === "failed" || page.state.net.total_in > 20e6`)
	before := browser.Value[int](b, "drawings")
	b.Until(fmt.Sprintf(`drawings > %d`, before+20))
	if n := browser.Value[int](b, `document.querySelectorAll("*").length`); n > 2000 {
		t.Errorf("the page has %d elements", n)
	}
	if browser.Value[bool](b, `"hurt" in document.body.dataset || !document.getElementById("loading").hidden`) {
		t.Error("a text of the server's did something")
	}
	b.Shot("fuzzed")
	browser.Value[bool](b, `(location.hash = "#/", true)`)
	b.Until(`!document.getElementById("lobby").hidden`)
}
