package attack

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A peer is a client without rules of its own: an attack decides what it sends.
type peer struct {
	ws     *websocket.Conn
	writer protocol.Writer
	reader protocol.Reader

	welcome *protocol.Welcome

	sync     []byte // a state that is arriving
	synced   int    // states that have arrived
	pings    int    // that were answered
	dec      *record.Decoder
	position protocol.Position
	tick     lockstep.Tick
	checks   []check // of the stream; the attack takes them out
	marks    []mark  // the same
}

// A check is a checksum of the match.
type check struct {
	tick lockstep.Tick
	hash uint64
}

// A mark is the position in the stream at which a tick ends.
type mark struct {
	tick     lockstep.Tick
	position protocol.Position
}

// A refusal is the server's reason to refuse or close a connection.
type refusal struct{ why string }

func (e *refusal) Error() string { return "refused: " + e.why }

func randomText() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// openPeer opens a WebSocket of a match. Honest clients show their token with the request.
func openPeer(ctx context.Context, c *http.Client, server, match string, shown ...string) (*peer, error) {
	ws, resp, err := websocket.Dial(ctx, server+"/matches/"+match+"/play", dialOptions(c, shown))
	if err != nil {
		if resp != nil {
			return nil, &refusal{resp.Status}
		}
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	return &peer{ws: ws}, nil
}

// join authenticates with a token or a session and waits for the welcome. It closes the
// connection if none comes.
func (p *peer) join(ctx context.Context, g *lockstep.Game, token string, session protocol.SessionToken) error {
	a := protocol.NewAuth(g)
	a.Token, a.Session = token, session
	err := p.say(ctx, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
	for err == nil && p.welcome == nil {
		err = p.read(ctx)
	}
	if err != nil {
		p.ws.CloseNow()
	}
	return err
}

func (p *peer) say(ctx context.Context, m *protocol.Message) error {
	return p.ws.Write(ctx, websocket.MessageBinary, p.writer.Append(nil, m))
}

// leave gives up the seat. It waits for the server to close the connection: a reset
// would lose the last messages.
func (p *peer) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	err := p.say(ctx, &protocol.Message{Kind: protocol.KindLeave})
	for err == nil {
		err = p.read(ctx)
	}
	p.ws.CloseNow()
}

// lastWords is how long the server may take to close a connection after a leave.
const lastWords = 5 * time.Second

// read reads one WebSocket message.
func (p *peer) read(ctx context.Context) error {
	_, b, err := p.ws.Read(ctx)
	if err != nil {
		return err
	}
	return p.take(ctx, b)
}

// take handles the records and messages of one WebSocket message.
func (p *peer) take(ctx context.Context, b []byte) (err error) {
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			if b, err = p.record(b); err != nil {
				return err
			}
			continue
		}
		var m protocol.Message
		rest, err := p.reader.Read(&m, b)
		if err != nil {
			return err
		}
		b = rest
		if err := p.message(ctx, &m); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) message(ctx context.Context, m *protocol.Message) error {
	switch m.Kind {
	case protocol.KindWelcome:
		w := *m.Welcome
		p.welcome, p.position, p.tick = &w, w.Position, w.Tick
	case protocol.KindStateSync:
		return p.chunk(m)
	case protocol.KindPing:
		p.pings++
		return p.say(ctx, &protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: p.tick})
	case protocol.KindError:
		if p.welcome == nil {
			return &refusal{fmt.Sprintf("error %d", m.Code)}
		}
	case protocol.KindClosing:
		return &refusal{fmt.Sprintf("closing %d", m.Code)}
	}
	return nil
}

// chunk handles a part of a state.
func (p *peer) chunk(m *protocol.Message) error {
	if m.Offset == 0 {
		p.sync = p.sync[:0]
	}
	if p.sync = append(p.sync, m.Bytes...); len(p.sync) < int(m.Total) {
		return nil
	}
	p.dec = &record.Decoder{}
	for b := p.sync; len(b) > 0; {
		_, rest, err := p.dec.Decode(b)
		if err != nil {
			return err
		}
		b = rest
	}
	p.synced++
	p.position, p.tick = m.Position, m.Tick
	return nil
}

// record handles a record of the stream. It decodes none before there is a state.
func (p *peer) record(b []byte) (rest []byte, err error) {
	if p.dec == nil {
		return nil, nil
	}
	r, rest, err := p.dec.Decode(b)
	if err != nil {
		return nil, err
	}
	p.position++
	if r.Ticks() > 0 {
		p.tick = r.Tick
		p.marks = append(p.marks, mark{p.tick, p.position})
	}
	if r.Kind == record.KindChecksum {
		p.checks = append(p.checks, check{r.Tick, r.Hash})
	}
	return rest, nil
}

// acknowledge sends an ack of all that has arrived.
func (p *peer) acknowledge(ctx context.Context) error {
	return p.say(ctx, &protocol.Message{Kind: protocol.KindAck, Position: p.position, Tick: p.tick})
}
