package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrMatchOver is what is answered to whoever asks something of a match that is
// not there any more.
var ErrMatchOver = errors.New("server: the match is over")

// inboxSize is how many messages wait for a match. Who posts more waits.
const inboxSize = 256

// lastCall is how long after a match's end newcomers are still told of it. Those
// who come later are turned away, or a match that people ask for would never go.
const lastCall = 10 * time.Second

// A Match is one match on a Server. Its goroutine alone touches the host.
type Match struct {
	server *Server
	spec   MatchSpec
	path   string // of the replay; "" if there is none
	file   file
	writer *replay.Writer
	disk   disk
	host   *host.Host
	epoch  time.Time // when the host's clock shows 0
	inbox  chan input
	done   chan struct{} // closed when the match is over and its file written

	conns         map[host.PeerID]*conn
	dirty         []host.PeerID
	entering      []*conn // of conns, those that are not welcomed, the oldest first
	maxConnecting int     // of them
	maxSpectators int
	history       int                                    // states of the past that the referee keeps
	memoryBound   atomic.Int64                           // see Server.MemoryBound
	idle          time.Time                              // since when nobody is connected; zero while somebody is
	ended         time.Time                              // when the end was noticed; zero before
	bundles       map[lockstep.Player]int                // written, by whom they are about
	bundleBytes   int64                                  // of all these, about
	writing       sync.WaitGroup                         // bundles
	counted       [lockstep.RateLimited + 1]host.Counter // of Stats.Rejected, in the metrics already

	granted *host.Grant                     // for the token in the message that is being received, or nil
	owners  map[lockstep.Player]*host.Grant // of the seats

	view atomic.Pointer[View] // what others may know, renewed every second
}

// An input is something that happened to a match: a connection came, spoke,
// can take more, or is gone; or somebody wants something done.
type input struct {
	conn *conn
	came bool
	gone bool
	data *buffer.Buffer
	do   func()
}

// Name returns the match's name.
func (m *Match) Name() string { return m.spec.Name }

// Done is closed when the match is over and its replay is complete.
func (m *Match) Done() <-chan struct{} { return m.done }

// ReplayPath returns the path of the match's replay, or nothing if none is
// written.
func (m *Match) ReplayPath() string { return m.path }

// post gives an input to the match. It waits while the inbox is full, and
// reports false if the match is over.
func (m *Match) post(in input) bool {
	select {
	case m.inbox <- in:
		return true
	case <-m.done:
		return false
	}
}

// Do calls f in the match's goroutine and waits for it. f may use the host, and
// must not keep it.
func (m *Match) Do(ctx context.Context, f func(*host.Host)) error {
	ran := make(chan struct{})
	select {
	case m.inbox <- input{do: func() { f(m.host); close(ran) }}:
	case <-m.done:
		return ErrMatchOver
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-ran:
		return nil
	case <-m.done:
		select {
		case <-ran: // before we looked: it was f that ended the match
			return nil
		default:
			return ErrMatchOver
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End ends the match: whoever is connected is told the reason.
func (m *Match) End(ctx context.Context, reason string) error {
	var err error
	if gone := m.Do(ctx, func(h *host.Host) { err = h.End(m.now(), reason) }); gone != nil {
		return gone
	}
	return err
}

// now returns the time on the host's clock.
func (m *Match) now() lockstep.Time { return lockstep.Time(time.Since(m.epoch).Microseconds()) }

// run is the match's goroutine.
func (m *Match) run() {
	defer close(m.done)
	defer m.server.forget(m)
	defer m.finish()
	defer m.survive()
	timer := time.NewTimer(0)
	defer timer.Stop()
	viewAt := time.Now()
	m.idle = viewAt
	for !m.over() {
		select {
		case in := <-m.inbox:
			m.take(in)
		case <-m.disk.synced:
		case <-timer.C:
		}
		m.drain()
		now := m.now()
		if next := m.host.Next(); now >= next {
			m.server.metrics.lateness.Observe(float64(now-next) / float64(lockstep.Second))
			m.host.Advance(now)
		}
		m.tend()
		m.feed()
		if m.ended.IsZero() && m.host.Err() != nil {
			m.ended = time.Now()
		}
		if wall := time.Now(); wall.Sub(viewAt) >= time.Second {
			viewAt = wall
			m.publish()
			m.endIfIdle(wall)
		}
		timer.Reset(m.untilNext())
	}
	m.publish()
}

// untilNext returns how long the host has nothing to do. It may say for ever,
// which no Duration can hold.
func (m *Match) untilNext() time.Duration {
	wait := m.host.Next() - m.now()
	return time.Duration(min(max(wait, 0), 60*lockstep.Second)) * time.Microsecond
}

// survive keeps a panic of this match from the others. The game's own panics
// are the host's to handle: this is one of our code, or of what the server was
// given.
func (m *Match) survive() {
	v := recover()
	if v == nil {
		return
	}
	m.server.metrics.panics.Inc()
	m.server.log.Error("panic", "match", m.spec.Name, "panic", v, "stack", string(debug.Stack()))
	for _, c := range m.conns {
		c.end("the match has failed")
	}
	last := *m.view.Load()
	last.Ended = "the match has failed"
	m.view.Store(&last)
}

// drain takes what else has come, up to a bound, so that a flood does not hold
// up the tick.
func (m *Match) drain() {
	for range inboxSize {
		select {
		case in := <-m.inbox:
			m.take(in)
		default:
			return
		}
	}
}

func (m *Match) take(in input) {
	c := in.conn
	if in.gone {
		m.server.watchers.leave(c) // after its welcome, which may come after its socket was closed
	}
	switch {
	case in.do != nil:
		in.do()
	case in.came:
		if !m.ended.IsZero() && time.Since(m.ended) > lastCall {
			c.end("the match is over")
			return
		}
		m.letIn(c)
		m.idle = time.Time{}
	case c.id == 0: // it was turned away
	case in.gone:
		m.host.Disconnect(m.now(), c.id)
		delete(m.conns, c.id)
		m.entering = without(m.entering, c)
		if len(m.conns) == 0 {
			m.idle = time.Now()
		}
	case in.data != nil:
		m.granted = nil
		m.host.Receive(m.now(), c.id, in.data.Bytes)
	default:
		c.feed(m.host)
	}
	if in.data != nil {
		buffers.Put(in.data)
	}
}

// feed gives the connections what the host has for them.
func (m *Match) feed() {
	m.dirty = m.host.Dirty(m.dirty[:0])
	for _, id := range m.dirty {
		if c := m.conns[id]; c != nil {
			c.feed(m.host)
		}
	}
}

// endIfIdle ends a match that nobody has been connected to for long.
func (m *Match) endIfIdle(now time.Time) {
	limit := m.server.options.IdleMatch
	if limit > 0 && !m.idle.IsZero() && now.Sub(m.idle) > limit && m.host.Err() == nil {
		m.host.End(m.now(), fmt.Sprintf("nobody was connected for %v", limit))
	}
}

// over reports whether the match has ended and everybody is gone.
func (m *Match) over() bool { return m.host.Err() != nil && len(m.conns) == 0 }

// finish completes the replay.
func (m *Match) finish() {
	m.writing.Wait()
	if m.writer == nil {
		return
	}
	if err := m.closeReplay(); err != nil {
		m.server.metrics.failures.Inc()
		m.server.log.Error("replay", "match", m.spec.Name, "path", m.path, "err", err)
		return
	}
	if !m.server.options.KeepOpen && m.host.Err() != nil { // else our own code failed, and there is no end to it
		m.server.seal(m.spec.Name, m.path)
	}
}

// closeReplay closes the replay's file, and ends its writer's goroutine.
func (m *Match) closeReplay() error {
	err := m.writer.Close()
	if cerr := m.file.Close(); err == nil {
		err = cerr
	}
	m.server.recordings.written(filepath.Base(m.path), false)
	return err
}

// subjectOf returns for whom a connection is that was just welcomed; "" if nobody vouches
// for its subject. A session is for the seat's owner.
func (m *Match) subjectOf(seat lockstep.Player) string {
	g := m.granted
	switch {
	case seat == lockstep.System:
	case g == nil:
		g = m.owners[seat]
	default:
		m.owners[seat] = g
	}
	if g == nil || g.Guest {
		return ""
	}
	return g.Subject
}

// observe logs what happens in the match.
func (m *Match) observe(e host.Event) {
	if c := m.conns[e.Peer]; c != nil {
		switch {
		case e.Kind == host.PeerJoined || e.Kind == host.PeerResumed:
			c.welcomed(e.Player, m.subjectOf(e.Player))
			m.entering = without(m.entering, c)
		case e.Kind == host.PeerRefused && e.Code == protocol.CloseRefused && e.Text == "refused": // a token, not for lack of room
			m.server.guessed(c.addr)
		}
	}
	about := subject(e.Kind)
	m.server.metrics.events.WithLabelValues(about, e.Kind.String()).Inc()
	m.server.log.Info("match", "match", m.spec.Name, "tick", uint32(e.Tick), "subject", about, "event", e.Kind.String(), "peer", uint64(e.Peer), "player", int(e.Player), "number", e.Number, "text", e.Text)
}
