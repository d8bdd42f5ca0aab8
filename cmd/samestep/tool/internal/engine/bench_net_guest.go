//go:build !js

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A loadGuest is a cheap client: it follows the stream without simulating it.
type loadGuest struct {
	ws     *websocket.Conn
	period time.Duration
	every  lockstep.Tick // between two commands

	kind     lockstep.Kind
	payload  []byte
	writer   protocol.Writer
	reader   protocol.Reader
	received protocol.Message
	dec      *record.Decoder
	blob     []byte // the received part of a state
	welcome  protocol.Welcome
	next     protocol.Position
	tick     lockstep.Tick
	acked    lockstep.Tick
	given    lockstep.Tick
	checked  lockstep.Tick // whose checksum is to be reported; 0 for none
	checksum uint64        // that the log has for it
	seq      lockstep.Sequence
	view     protocol.Message // that acknowledges a view; Kind 0 if none is due
	sent     time.Time        // the command that awaits its receipt; zero if none does

	mu        sync.Mutex
	measuring bool
	over      bool // the time in which frames are due that are measured
	arrivals  []arrival
	answers   []time.Duration
	commands  int
	accepted  int
	bytes     int
	views     int
	ended     bool // the match
	err       error
}

var errNotWelcome = errors.New("not welcome")

func newLoadGuest(ctx context.Context, url string, auth *protocol.Auth, order *lockstep.Command, rate int, every time.Duration) (*loadGuest, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	g := &loadGuest{ws: ws, period: time.Second / time.Duration(rate), every: lockstep.Tick(max(1, every*time.Duration(rate)/time.Second))}
	g.kind, g.payload = order.Kind, order.Payload
	if auth.Can(protocol.Views) {
		dec := record.DecoderAt(0)
		g.dec = &dec
	}
	if err := g.send(&protocol.Message{Kind: protocol.KindAuth, Auth: auth}); err != nil {
		return nil, err
	}
	for g.welcome.AckEvery == 0 {
		_, b, err := ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		if err := g.take(b); err != nil {
			return nil, err
		}
	}
	go g.run()
	return g, nil
}

func (g *loadGuest) send(m *protocol.Message) error {
	return g.ws.Write(context.Background(), websocket.MessageBinary, g.writer.Append(nil, m))
}

func (g *loadGuest) measure() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = true
}

// lasts returns an error if the match of the guest has ended.
func (g *loadGuest) lasts() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		return nil
	}
	cure := "a --config whose matches last"
	if g.period < time.Second {
		cure = "a lower --tick-rate, or " + cure
	}
	if time.Duration(len(g.arrivals))*g.period > shortestBench {
		cure = "a shorter --time, " + cure
	}
	return fmt.Errorf("the rules ended the match at tick %d, and a server without a match has no figures: try %s", g.tick, cure)
}

// stop ends the time of the measurement, but notes the frames that arrive until it is closed.
func (g *loadGuest) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}

func (g *loadGuest) run() {
	for {
		_, b, err := g.ws.Read(context.Background())
		if err == nil {
			err = g.take(b)
		}
		if err == nil {
			err = g.play()
		}
		if err != nil {
			g.mu.Lock()
			if g.measuring {
				g.err = err
			}
			g.mu.Unlock()
			return
		}
	}
}

func (g *loadGuest) take(b []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.measuring && !g.over {
		g.bytes += len(b)
	}
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			r, rest, err := g.dec.Decode(b)
			if err != nil {
				return err
			}
			b = rest
			g.record(r)
			continue
		}
		rest, err := g.reader.Read(&g.received, b)
		if err != nil {
			return err
		}
		b = rest
		if err := g.message(&g.received); err != nil {
			return err
		}
	}
	return nil
}

func (g *loadGuest) record(r *record.Record) {
	g.next++
	if r.Kind == record.KindChecksum {
		g.checked, g.checksum = r.Tick, r.Hash
	}
	g.ended = g.ended || r.Kind == record.KindEnd
	if r.Ticks() == 0 {
		return
	}
	g.tick = r.Tick
	if g.measuring {
		g.arrivals = append(g.arrivals, arrival{r.Tick, time.Now()})
	}
}

func (g *loadGuest) message(m *protocol.Message) error {
	switch m.Kind {
	case protocol.KindWelcome:
		g.welcome = *m.Welcome
		g.seq = m.Welcome.LastSequence
	case protocol.KindStateSync:
		if g.blob = append(g.blob[:m.Offset], m.Bytes...); uint32(len(g.blob)) == m.Total {
			g.next = m.Position
			return g.begin()
		}
	case protocol.KindViewDelta:
		if m.Offset+uint32(len(m.Bytes)) == m.Total {
			g.view = protocol.Message{Kind: protocol.KindViewAck, View: m.View, Tick: m.Tick}
			if g.measuring {
				g.views++
			}
		}
	case protocol.KindPing:
		return g.send(&protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: g.tick})
	case protocol.KindCommandAccepted, protocol.KindCommandRejected:
		if g.measuring && !g.over && !g.sent.IsZero() {
			g.answers = append(g.answers, time.Since(g.sent))
			if m.Kind == protocol.KindCommandAccepted {
				g.accepted++
			}
		}
		g.sent = time.Time{}
	case protocol.KindError, protocol.KindClosing:
		return fmt.Errorf("%w: %s", errNotWelcome, m.Text)
	}
	return nil
}

// begin starts the stream with the header and the keyframe that have arrived.
func (g *loadGuest) begin() error {
	g.dec = &record.Decoder{}
	for b := g.blob; len(b) > 0; {
		r, rest, err := g.dec.Decode(b)
		if err != nil {
			return err
		}
		g.tick, b = r.Tick, rest
	}
	g.given = g.tick
	return nil
}

// play sends acknowledgements, checksums and commands that are due. The checksums are those of the log, as of a player who
// agrees.
func (g *loadGuest) play() error {
	if g.tick >= g.acked+lockstep.Tick(g.welcome.AckEvery) {
		g.acked = g.tick
		if err := g.send(&protocol.Message{Kind: protocol.KindAck, Position: g.next, Tick: g.tick}); err != nil {
			return err
		}
	}
	if g.view.Kind != 0 {
		ack := g.view
		g.view.Kind = 0
		if err := g.send(&ack); err != nil {
			return err
		}
	}
	if g.welcome.Role == protocol.Spectator {
		return nil
	}
	if t := g.checked; t > 0 {
		g.checked = 0
		if err := g.send(&protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: g.checksum}); err != nil {
			return err
		}
	}
	if g.tick < g.given+g.every {
		return nil
	}
	g.given = g.tick
	g.seq++
	g.mu.Lock()
	g.sent = time.Now()
	if g.measuring && !g.over {
		g.commands++
	}
	g.mu.Unlock()
	return g.send(&protocol.Message{Kind: protocol.KindCommand, Sequence: g.seq, Command: g.kind, Bytes: g.payload})
}

const shortestBench = time.Second // --time
