//go:build !js

package server_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// A raw is a client that sends arbitrary messages and follows no rule.
type raw struct {
	t      *testing.T
	s      *stage
	ws     *websocket.Conn
	send   func([]byte) // in place of ws, if not nil
	writer protocol.Writer
	reader protocol.Reader

	err     error       // that ended reading
	over    atomic.Bool // it has ended
	welcome *protocol.Welcome
	closing *protocol.Message // the last message, if it was one
	counts  map[protocol.Kind]int
	errors  map[protocol.ErrorCode]int
	reasons map[lockstep.Reason]int

	field string // of the last error

	sync      []byte
	stream    record.Decoder
	streaming bool
	position  protocol.Position
	tick      lockstep.Tick

	chats    []string
	commands map[lockstep.Player]int // in frames
	sums     map[lockstep.Tick]uint64
}

var errRefused = errors.New("refused")

func (s *stage) newRaw(t *testing.T) *raw {
	return &raw{
		t: t, s: s, counts: map[protocol.Kind]int{}, errors: map[protocol.ErrorCode]int{},
		reasons: map[lockstep.Reason]int{}, sums: map[lockstep.Tick]uint64{},
		commands: map[lockstep.Player]int{},
	}
}

// connect opens a WebSocket and sends nothing.
func (s *stage) connect(t *testing.T) (*raw, error) {
	r := s.newRaw(t)
	ws, resp, err := websocket.Dial(t.Context(), s.url(), &websocket.DialOptions{
		HTTPClient: s.client, Subprotocols: []string{server.Subprotocol},
	})
	if err != nil {
		if resp != nil {
			return nil, fmt.Errorf("%w: %s", errRefused, resp.Status)
		}
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	r.ws = ws
	t.Cleanup(func() { ws.CloseNow() })
	return r, nil
}

// raw opens a WebSocket and authenticates.
func (s *stage) raw(t *testing.T, token string, session protocol.SessionToken, position protocol.Position) *raw {
	t.Helper()
	r, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	a := protocol.NewAuth(s.game)
	a.Token, a.Session, a.Position = token, session, position
	r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
	return r
}

// say sends a message. The reader notices a closed connection.
func (r *raw) say(m *protocol.Message) { r.bytes(r.writer.Append(nil, m)) }

func (r *raw) bytes(b []byte) {
	if r.send != nil {
		r.send(b)
		return
	}
	r.ws.Write(context.Background(), websocket.MessageBinary, b)
}

// read handles messages until done reports true, the connection is closed, or nothing comes for a while. It reports
// whether done reported true.
func (r *raw) read(done func() bool) bool {
	for !done() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		_, b, err := r.ws.Read(ctx)
		cancel()
		if r.err = err; err != nil {
			r.over.Store(true)
			return false
		}
		r.take(b)
	}
	return true
}

// end reads to the end of the connection and returns its close code, or 0.
func (r *raw) end() protocol.CloseCode {
	r.read(func() bool { return false })
	if r.closing == nil {
		return 0
	}
	return protocol.CloseCode(r.closing.Code)
}

// welcomed reads until the server has welcomed the client.
func (r *raw) welcomed() *raw {
	r.t.Helper()
	if !r.read(func() bool { return r.welcome != nil }) {
		r.t.Fatalf("no welcome: errors %v, closing %+v", r.errors, r.closing)
	}
	return r
}

// live reads until the stream has caught up with the match.
func (r *raw) live() *raw {
	r.t.Helper()
	r.welcomed()
	if !r.read(func() bool { return r.streaming && r.tick >= r.welcome.Tick }) {
		r.t.Fatalf("no stream: errors %v, closing %+v", r.errors, r.closing)
	}
	r.ack()
	return r
}

func (r *raw) ack() {
	r.say(&protocol.Message{Kind: protocol.KindAck, Position: r.position, Tick: r.tick})
}

func (r *raw) take(b []byte) {
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			b = r.record(b)
			continue
		}
		var m protocol.Message
		rest, err := r.reader.Read(&m, b)
		if err != nil {
			r.t.Errorf("the server sent %x: %v", b[:min(len(b), 20)], err)
			return
		}
		b = rest
		r.counts[m.Kind]++
		switch m.Kind {
		case protocol.KindWelcome:
			r.welcome = m.Welcome
			if m.Welcome.Resumed {
				r.position = m.Welcome.Position
			}
		case protocol.KindStateSync:
			r.chunk(&m)
		case protocol.KindError:
			r.errors[protocol.ErrorCode(m.Code)]++
			r.field = m.Field
		case protocol.KindCommandRejected:
			r.reasons[m.Reason]++
		case protocol.KindClosing:
			r.closing = &m
		case protocol.KindPing:
			r.say(&protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: r.tick})
		}
	}
}

// chunk handles a part of a state.
func (r *raw) chunk(m *protocol.Message) {
	if m.Offset == 0 {
		r.sync = r.sync[:0]
	}
	if r.sync = append(r.sync, m.Bytes...); len(r.sync) < int(m.Total) {
		return
	}
	r.stream = record.Decoder{}
	for b := r.sync; len(b) > 0; {
		_, rest, err := r.stream.Decode(b)
		if err != nil {
			r.t.Errorf("a state sync: %v", err)
			return
		}
		b = rest
	}
	r.streaming, r.position, r.tick = true, m.Position, m.Tick
}

// record handles a record of the stream. A client that resumed has no decoder, and counts nothing.
func (r *raw) record(b []byte) []byte {
	if !r.streaming {
		return nil
	}
	rec, rest, err := r.stream.Decode(b)
	if err != nil {
		r.t.Errorf("record %d: %v", r.position, err)
		return nil
	}
	r.position++
	switch rec.Kind {
	case record.KindFrame:
		r.tick = rec.Frame.Tick
		for _, c := range rec.Frame.Commands {
			r.commands[c.Player]++
		}
	case record.KindEmpty:
		r.tick += lockstep.Tick(rec.Empty)
	case record.KindChecksum:
		r.sums[rec.Tick] = rec.Hash
	case record.KindNote:
		if rec.Topic == record.TopicChat {
			r.chats = append(r.chats, rec.Text)
		}
	}
	return rest
}
