//go:build !js

package mirror

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// inboxSize is the number of messages that wait for a match. Further senders block.
const inboxSize = 1024

// A Match is a match that a [Server] follows. Only its own goroutine uses the audience.
type Match struct {
	server *Server
	name   string
	logger atomic.Pointer[slog.Logger] // with the match's name, and its id as soon as it is known
	a      *audience.Audience
	feed   feed
	epoch  time.Time // time 0 of the audience's clock
	inbox  chan input
	done   chan struct{}

	conns   map[host.PeerID]*conn
	fed     []*conn // scratch
	next    lockstep.Time
	idle    time.Time // since when nobody is connected; zero while somebody is
	gap     gap
	known   bool // the log has the match's id
	stopped bool // by Shutdown
	over    bool
	refused error                  // why nobody may watch it here, so that it is remembered; nil if somebody may
	rules   string                 // SHA-256 of the module with the rules, or ""
	status  atomic.Pointer[Status] // updated every second
	counted audience.Stats         // that the metrics include
	assets  atomic.Pointer[[]lockstep.Asset]
}

// An input is an event for a match: a connection opened, closed, sent a message or has room for more; or a function to call.
type input struct {
	conn   *conn
	opened bool
	closed bool
	data   *buffer.Buffer
	do     func()
}

func newMatch(s *Server, name string) (*Match, error) {
	m := &Match{
		server: s, name: name, epoch: time.Now(), inbox: make(chan input, inboxSize), done: make(chan struct{}),
		conns: make(map[host.PeerID]*conn), idle: time.Now(),
	}
	m.know("")
	o := s.options.Audience
	if auth := s.options.Front.Authorizer; auth != nil {
		o.Authorize = func(token string) error {
			_, err := auth.Authorize(token, name)
			return err
		}
	}
	var err error
	if m.a, err = audience.New(o); err != nil {
		return nil, err
	}
	m.status.Store(&Status{Name: name, State: stateJoining})
	return m, nil
}

// know notes the match's id, "" for none yet, for the log.
func (m *Match) know(id string) { m.logger.Store(logged.Match(m.server.options.Log, m.name, id)) }

// log returns the log of the match.
func (m *Match) log() *slog.Logger { return m.logger.Load() }

// Status returns what the match looked like at most a second ago.
func (m *Match) Status() Status { return *m.status.Load() }

// post sends an input to the match. It waits while the inbox is full, and reports false if the match is over.
func (m *Match) post(in input) bool {
	select {
	case m.inbox <- in:
		return true
	case <-m.done:
		return false
	}
}

// now returns the time on the audience's clock.
func (m *Match) now() lockstep.Time { return lockstep.Time(time.Since(m.epoch).Microseconds()) }

// run is the match's goroutine.
func (m *Match) run(follow func(*Match) feed) {
	defer close(m.done)
	defer m.server.forget(m)
	m.feed = follow(m)
	defer func() { m.feed.close() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	publishedAt := time.Time{}
	for !m.finished() {
		select {
		case in := <-m.inbox:
			m.take(in)
		case <-timer.C:
		}
		for range len(m.inbox) {
			m.take(<-m.inbox)
		}
		m.step()
		if wall := time.Now(); wall.Sub(publishedAt) >= time.Second {
			publishedAt = wall
			m.publish()
		}
		next := min(m.next, m.feed.next(), m.now()+lockstep.Second)
		timer.Reset(time.Duration(max(next-m.now(), 0)) * time.Microsecond)
	}
	for _, c := range m.conns {
		c.End(gone)
	}
	m.publish()
}

// step lets the feed and the audience do their work, and feeds the connections.
func (m *Match) step() {
	m.feed.act()
	m.lookForGap()
	if m.now() >= m.next {
		m.a.Advance(m.now())
	}
	for {
		r := m.a.Ready()
		if h := m.a.Header(); h != nil && !m.known {
			m.known = true
			m.know(h.Match.String())
		}
		m.next = r.Next
		if r.Keyframe {
			m.feed.refresh()
		}
		for _, id := range r.Welcomed {
			if c := m.conns[id]; c != nil {
				c.ws.SetReadLimit(protocol.MaxClientMessage)
				c.joined = true
				c.log().Info("match", "event", "joined", "tick", uint32(m.a.Stats().Shown))
			}
		}
		for _, d := range r.Desynced {
			if c := m.conns[d.Peer]; c != nil {
				c.log().Warn("desync", "tick", uint32(d.Tick), "build", m.a.Header().Build, "platform", d.Platform, "transport", "websocket", "client", c.agent)
			}
		}
		if len(r.Peers) == 0 {
			return
		}
		m.fed = m.fed[:0]
		for _, id := range r.Peers {
			if c := m.conns[id]; c != nil {
				m.fed = append(m.fed, c)
			}
		}
		for _, c := range m.fed {
			c.feed()
		}
	}
}

func (m *Match) take(in input) {
	c := in.conn
	switch {
	case in.do != nil:
		in.do()
	case in.opened:
		id, ok := m.a.Connect(m.now(), c.addr.String())
		if !ok {
			c.End("the match is full")
			return
		}
		c.id, m.idle = id, time.Time{}
		m.conns[id] = c
	case c.id == 0: // it found no room
	case in.closed:
		if _, reason, _ := m.a.Closed(c.id); c.joined {
			c.log().Info("match", "event", "left", "text", reason)
		}
		m.a.Disconnect(m.now(), c.id)
		delete(m.conns, c.id)
		if len(m.conns) == 0 {
			m.idle = time.Now()
		}
	case in.data != nil:
		m.a.Receive(m.now(), c.id, in.data.Bytes)
		buffers.Put(in.data)
	default:
		c.feed()
	}
}

// shutdown sends all spectators away, because the mirror stops.
func (m *Match) shutdown() {
	m.stopped = true
	m.a.Close(m.now(), protocol.CloseShutdown, "the mirror stops", lockstep.Second)
}

// finished reports whether the match is followed no more: it is over for everybody, or nobody has watched it for a time.
func (m *Match) finished() bool {
	if len(m.conns) > 0 || m.gap.dark && !m.stopped && !m.over {
		return false
	}
	return m.stopped || m.over && m.refused == nil || !m.idle.IsZero() && time.Since(m.idle) > m.server.options.Idle
}

// giveUp says that the source cannot be followed, for a reason. The spectators may come back, and find out what is there then.
func (m *Match) giveUp(err error) {
	if m.over {
		return
	}
	m.over = true
	if m.refused = refusal(err); m.refused != nil {
		m.log().Warn("mirror: refused", "err", err)
		m.a.Close(m.now(), protocol.CloseRefused, m.refused.Error(), 0)
	} else if err != nil {
		m.log().Warn("mirror", "err", err)
		m.a.Close(m.now(), protocol.CloseBusy, "the mirror cannot watch the match", 5*lockstep.Second)
	}
}

// refusal returns why nobody may watch a match at a mirror, and nil for an error that is no such reason.
func refusal(err error) error {
	switch {
	case errors.Is(err, disclosure.ErrViews):
		return errors.New("this match is sent as views, which a mirror cannot make: watch it at its server")
	case errors.Is(err, disclosure.ErrUnknown), errors.Is(err, disclosure.ErrMalformed):
		return errors.New("the log does not say to this mirror who may see the match: watch it at its server")
	}
	return nil
}

// A Status is the public description of a match.
type Status struct {
	Name          string            `json:"name"`
	Protocol      uint32            `json:"protocol"`
	Engine        string            `json:"engine"`
	Game          string            `json:"game"`
	Build         string            `json:"build"`
	StateSchema   uint64            `json:"state_schema,string"`
	CommandSchema uint64            `json:"command_schema,string"`
	SelfTest      []string          `json:"self_test"`
	Rules         string            `json:"rules,omitempty"` // SHA-256 of the module with the rules, if the upstream has one
	Match         string            `json:"match"`
	Settings      lockstep.Settings `json:"settings"`
	State         string            `json:"state"` // joining, playing, held or ended
	Tick          lockstep.Tick     `json:"tick"`  // the last one that spectators may see
	Spectators    int               `json:"spectators"`
	Delay         lockstep.Tick     `json:"delay"` // ticks
	Lag           lockstep.Tick     `json:"lag"`   // ticks that the owner has, as it says, and the mirror has not
	Memory        int               `json:"-"`     // bytes that all spectators share, and their queues; they tell of states that the delay hides

	header  *lockstep.Header
	refused error         // why nobody may watch it here
	figures bool          // everybody may know Memory
	behind  time.Duration // since when the mirror lacks what the owner has stored
	dark    bool          // and gets nothing of it
}

// States of a match.
const (
	stateJoining = "joining"
	statePlaying = "playing"
	stateHeld    = "held"
	stateEnded   = "ended"
)

// publish updates the status and the metrics.
func (m *Match) publish() {
	x, h := m.a.Stats(), m.a.Header()
	v := &Status{Name: m.name, State: stateJoining, Tick: x.Shown, Spectators: x.Spectators, Delay: m.a.Delay(), Lag: m.feed.lag(), Memory: x.Memory, header: h, refused: m.refused, figures: m.a.Figures(), behind: m.gap.lasts(time.Now()), dark: m.gap.dark}
	m.server.metrics.count(&x, &m.counted)
	if h == nil {
		m.status.Store(v)
		return
	}
	id := protocol.AuthOf(h)
	v.Protocol, v.Engine, v.Game, v.Build, v.StateSchema, v.CommandSchema = id.Protocol, id.Engine, id.Game, id.Build, id.StateSchema, id.CommandSchema
	for _, p := range id.SelfTest.Parts() {
		v.SelfTest = append(v.SelfTest, strconv.FormatUint(*p.Sum, 10))
	}
	v.Rules = m.rules
	v.Match, v.Settings = h.Match.String(), m.a.Settings()
	switch v.State = statePlaying; {
	case m.a.Ended():
		v.State = stateEnded
	case m.a.Held() != "":
		v.State = stateHeld
	}
	m.status.Store(v)
}

// darkText is what spectators of such a match are told.
const darkText = "this mirror receives nothing of the match: use another mirror"

// A gap is what a match lacks of what its owner has stored.
type gap struct {
	since time.Time // when the mirror last had all of it; zero while it has
	still time.Time // when something last came since then
	at    uint64    // what came then
	dark  bool      // nothing has come for Options.darkAfter
}

// lasts returns for how long there has been a gap.
func (g *gap) lasts(now time.Time) time.Duration {
	if g.since.IsZero() {
		return 0
	}
	return now.Sub(g.since)
}

// look notes where the mirror is, and whether it lacks something. It reports whether the match has become dark, or is so no longer.
func (g *gap) look(now time.Time, at uint64, behind bool, darkAfter time.Duration) (changed bool) {
	was := g.dark
	switch {
	case !behind:
		*g = gap{}
	case g.since.IsZero():
		g.since, g.still, g.at = now, now, at
	case at != g.at:
		g.still, g.at, g.dark = now, at, false
	case now.Sub(g.still) >= darkAfter:
		g.dark = true
	}
	return g.dark != was
}

// lookForGap looks whether the source gives what the owner of the match has stored. If it gives nothing, or is away, the spectators do
// better at another mirror. The mirror goes on trying.
func (m *Match) lookForGap() {
	if m.over || m.stopped {
		return
	}
	at, behind := m.feed.progress()
	behind = behind || m.server.options.Source.away() != ""
	if !m.gap.look(time.Now(), at, behind, m.server.options.darkAfter) {
		return
	}
	if m.gap.dark {
		m.log().Warn("mirror: no data for a match", "away", m.server.options.Source.away(), "seconds", m.gap.lasts(time.Now()).Seconds(), "tick", uint32(m.a.Stats().Tick), "lag", uint32(m.feed.lag()))
		m.a.Close(m.now(), protocol.CloseBusy, darkText, lockstep.Second)
	} else {
		m.log().Info("mirror: the match is no longer dark")
		m.a.Reopen(m.now())
	}
	m.publish()
}

// darkMatches returns the names of the matches that are dark.
func (s *Server) darkMatches() (names []string) {
	for _, m := range s.all() {
		if m.Status().dark {
			names = append(names, m.name)
		}
	}
	slices.Sort(names)
	return names
}

const (
	// keepBuffer is the memory that a connection keeps for its next message, in bytes.
	keepBuffer = 1 << 10

	// maxQueued is the number of messages that wait for a socket, besides the one being written. Others stay in the ring.
	maxQueued = 2

	// gone is what spectators are told by a match without a goroutine.
	gone = "the mirror no longer follows the match"
)

// buffers reuses the memory of messages between a socket and its match.
var buffers = buffer.Pool{Keep: 4 << 10}

// A conn is the WebSocket of a spectator.
type conn struct {
	*wsmatch.Conn
	match *Match
	ws    *websocket.Conn
	id    host.PeerID // used by the match's goroutine only
	addr  netip.Prefix

	remote  string // its address, for the log
	session string // its id
	agent   string // the name that the client's program gives itself
	joined  bool   // it was welcomed; used by the match's goroutine only
}

// log returns the log of the connection.
func (c *conn) log() *slog.Logger {
	return logged.Session(c.match.log(), c.session).With("address", c.remote)
}

// Received implements [wsmatch.Match].
func (c *conn) Received(b *buffer.Buffer) bool { return c.match.post(input{conn: c, data: b}) }

// More implements [wsmatch.Match].
func (c *conn) More() bool { return c.match.post(input{conn: c}) }

// Closed implements [wsmatch.Match].
func (c *conn) Closed() bool { return c.match.post(input{conn: c, closed: true}) }

// Next implements [wsmatch.Match].
func (c *conn) Next(dst []byte) []byte { return c.match.a.Send(c.id, dst) }

// feed moves messages from the audience to the socket. The match's goroutine calls it.
func (c *conn) feed() {
	c.Feed()
	if _, reason, closed := c.match.a.Closed(c.id); closed {
		c.Finish(reason)
	}
}

// serve reads and writes until the socket is closed.
func (c *conn) serve() {
	if !c.match.post(input{conn: c, opened: true}) {
		c.ws.Close(websocket.StatusGoingAway, gone)
		return
	}
	c.Serve()
}
