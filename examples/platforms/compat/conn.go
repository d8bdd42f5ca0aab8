//go:build !js

package compat

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// shared is what all connections of a Bridge use.
type shared struct {
	options Options
	game    *lockstep.Game
	http    *http.Client // dials the server
	ledgers *ledgers
}

// A conn is the connection of another engine's client, with a client of the match behind it. The reader's goroutine takes
// messages, the session's goroutine makes the answers, and the writer's goroutine sends them.
type conn struct {
	*shared
	ws      *websocket.Conn
	match   string
	remote  string
	log     *slog.Logger // with the match and the session
	session string
	out     *outbox
	seat    seat // used by the session's goroutine only

	syncs *rate.Limiter // of state_sync_request; used by the reader only
	last  int64         // the highest sequence; used by the reader only

	mu      sync.Mutex
	status  websocket.StatusCode // of the close frame, 0 until the connection is to end
	reason  string
	notices [][]byte // for everybody in the match, in front of the next frame
}

// serve reads and writes until the connection ends.
func (c *conn) serve() {
	defer c.ws.CloseNow()
	token, ok := c.authenticate()
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.session = protocol.SessionID(rand.Uint64())
	c.log = c.options.Log.With("match", c.match, "session", c.session, "address", c.remote)
	c.out, c.syncs = newOutbox(), rate.NewLimiter(2, 4)
	c.seat = seat{line: c, ledger: c.ledgers.join(c.match, c)}
	defer c.ledgers.part(c.match, c)
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
		cancel() // and the reader ends
	}()
	s, refused := c.dial(token)
	if refused && token != "" && c.options.Strangers {
		s, refused = c.dial("")
	}
	if refused {
		c.end(websocket.StatusNormalClosure, "")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-s.Done()
		c.end(websocket.StatusGoingAway, "the match is gone")
	}()
	c.read(ctx, s)
	c.end(websocket.StatusNormalClosure, "")
	s.Close()
	<-ended
	<-written
}

// authenticate returns the token in the first message.
func (c *conn) authenticate() (token string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), authTimeout)
	defer cancel()
	kind, b, err := c.ws.Read(ctx)
	if err != nil {
		return "", false
	}
	m, err := parse(b)
	if kind != websocket.MessageBinary || err != nil || m.kind != kindAuth {
		c.ws.Close(websocket.StatusPolicyViolation, "want auth first")
		return "", false
	}
	return m.token, true
}

// dial begins the client of the match, and waits until it is let in or turned away.
func (c *conn) dial(token string) (s *client.Session, refused bool) {
	c.seat.begin()
	s = client.Dial(context.Background(), "ws://localhost/matches/"+c.match+"/play", c.game, client.Options{
		Options: player.Options{
			Token: token, Reconnect: player.ReconnectPolicy{Attempts: -1}, Pacing: player.PacingOptions{AsTheyCome: true},
			Observer: c.seat.observe,
		},
		ID: c.session, Sample: c.seat.sample, Handle: c.seat.handle, HTTP: c.http,
	})
	select {
	case <-c.seat.welcomed:
		return s, false
	case <-s.Done():
		return s, c.seat.refused
	}
}

// read handles messages until the connection ends.
func (c *conn) read(ctx context.Context, s *client.Session) {
	messages := c.options.Messages
	limit := rate.NewLimiter(rate.Limit(messages), messages*int(bucketDepth/time.Second))
	for {
		kind, b, err := c.ws.Read(ctx)
		switch {
		case err != nil:
			return
		case kind != websocket.MessageBinary:
			c.end(websocket.StatusUnsupportedData, "want binary messages")
			return
		case !limit.Allow():
			c.log.Warn("compat: a client sends too many messages")
			c.end(websocket.StatusPolicyViolation, "too many messages")
			return
		}
		m, err := parse(b)
		if err == nil {
			err = c.take(m, s)
		}
		if err != nil {
			s.Do(func(*player.Client) { c.send(errorMessage(err.Error())) })
		}
	}
}

// take acts on a message of the client. The reader's goroutine calls it.
func (c *conn) take(m *message, s *client.Session) error {
	switch m.kind {
	case kindAuth:
		return errKind
	case kindSync:
		if !c.syncs.Allow() {
			return errSyncs
		}
		s.Do(func(*player.Client) { c.seat.sync() })
	case kindCommand:
		if m.command.sequence <= c.last {
			return fmt.Errorf("%w: got %d, want more than %d", errSequence, m.command.sequence, c.last)
		}
		c.last = m.command.sequence
		var err error
		s.Do(func(p *player.Client) { err = c.seat.submit(p, m.command) })
		return err
	case kindChecksum:
		s.Do(func(*player.Client) { c.seat.check(m) })
	}
	return nil
}

// write sends messages until the outbox is closed and empty, and then closes the connection.
func (c *conn) write() {
	for list := c.out.take(); list != nil; list = c.out.take() {
		for _, m := range list {
			ctx, cancel := context.WithTimeout(context.Background(), c.options.Patience)
			err := c.ws.Write(ctx, websocket.MessageBinary, m)
			cancel()
			if err != nil {
				c.out.close()
				c.ws.CloseNow()
				return
			}
		}
	}
	c.mu.Lock()
	status, reason := c.status, c.reason
	c.mu.Unlock()
	c.ws.Close(status, reason)
}

// joined notes in the log which connection has a seat, since the match knows only the client in between.
func (c *conn) joined(p lockstep.Player) {
	c.log.Info("compat: joined", "player", uint8(p), "watches", p == lockstep.System)
}

// send queues a message. The session's goroutine calls it.
func (c *conn) send(m []byte) {
	if !c.out.put(m, c.options.Patience) {
		c.end(websocket.StatusPolicyViolation, "the client does not read")
	}
}

// notify keeps a message for the session's goroutine. Beyond some that wait, the client is too slow to need it.
func (c *conn) notify(m []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notices) < ledgerTicks {
		c.notices = append(c.notices, m)
	}
}

// sendNotices queues what notify has kept.
func (c *conn) sendNotices() {
	c.mu.Lock()
	list := c.notices
	c.notices = nil
	c.mu.Unlock()
	for _, m := range list {
		c.send(m)
	}
}

// end closes the connection after what is queued. Only the first call counts.
func (c *conn) end(status websocket.StatusCode, reason string) {
	c.mu.Lock()
	if c.status == 0 {
		c.status, c.reason = status, clip(reason)
	}
	c.mu.Unlock()
	c.out.close()
}

// maxReason is the number of bytes of the reason in a close frame.
const maxReason = 120

// clip shortens a reason to what a close frame holds.
func clip(reason string) string { return strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "") }
