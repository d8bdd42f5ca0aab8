package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/bundles"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
	"github.com/seed-49bee653/samestep/server/internal/guests"
	"github.com/seed-49bee653/samestep/server/internal/hold"
	"github.com/seed-49bee653/samestep/server/internal/livelog"
	"github.com/seed-49bee653/samestep/server/internal/owners"
)

// ErrMatchOver is the error of calls to a match that is over.
var ErrMatchOver = errors.New("server: the match is over")

// ErrHung: the match does not go on, because its rules loop in a tick, and not because a disk is slow. What plays it stays behind, and
// takes a processor until the process ends.
var ErrHung = errors.New("server: the rules have not computed the next tick in time")

// inboxSize is the number of messages that wait for a match. Further senders block.
const inboxSize = 256

// joinAfterEnd is the time after a match's end in which new connections are still told of it. Later ones are refused,
// or a popular match would never be removed.
const joinAfterEnd = 10 * time.Second

// A Match is a match on a Server. Only its own goroutine uses the host.
type Match struct {
	server  *services
	logger  *slog.Logger // with the match's name and id
	spec    MatchSpec
	game    *lockstep.Game   // of the spec, without the server's assets
	header  *lockstep.Header // does not change while the match runs
	assets  []lockstep.Asset // held in the server's store
	path    string           // of the log; "" for none
	log     livelog.Log
	bundles *bundles.Bundles
	owners  *owners.Owners
	holds   hold.Hold
	host    *host.Host
	epoch   time.Time // time 0 of the host's clock
	inbox   chan input
	done    chan struct{} // closed when the match is over and its replay is complete

	conns         map[host.PeerID]*conn
	due           []*conn       // that the host may have something for
	fed           []*conn       // scratch
	next          lockstep.Time // when the host has work to do
	connecting    []*conn       // conns that are not authenticated, the oldest first
	maxConnecting int
	maxSpectators int
	limits        *host.Limits             // of the server, that the host has; or nil
	history       int                      // past states that the referee keeps
	heavy         bool                     // it is compared with twins
	memoryBound   atomic.Int64             // see Server.MemoryBound
	sealed        atomic.Uint32            // the last tick before the rules were last called in Step
	idle          time.Time                // start of the time without connections; zero while there is one
	ended         time.Time                // when the match noticed its end; zero before
	suspended     bool                     // by Server.Shutdown
	banChanges    uint64                   // of the bans that are kept, see host.Bans.Changes
	bansKept      bool                     // there may be some
	bans          []byte                   // that a recovery has read, until it has restored them
	failure       error                    // our own code panicked in the match; or nil
	counted       host.Stats               // that the metrics include
	stacks        map[lockstep.Player]bool // of bots that panicked, which are in the server's log

	invitations []Invitation
	invited     map[string]lockstep.Player // hashes of invitations; does not change while the match runs

	finished atomic.Bool            // the replay is where the sealer has put it
	status   atomic.Pointer[Status] // updated every second
	load     load
}

// An input is an event for a match: a connection opened, closed, sent a message or a datagram, or has room for more; or
// a function to call.
type input struct {
	conn   *conn
	opened bool
	closed bool
	data   *buffer.Buffer
	do     func()

	datagram []byte
	ended    *path // brings no more datagrams
}

// Name returns the match's name.
func (m *Match) Name() string { return m.spec.Name }

// Done is closed when the match is over and its replay is complete.
func (m *Match) Done() <-chan struct{} { return m.done }

// ReplayPath returns the path of the match's replay, or "" if it has none. It changes when the match is over.
func (m *Match) ReplayPath() string {
	if m.finished.Load() {
		return m.server.replays.archived(m.path)
	}
	return m.path
}

// post sends an input to the match. It waits while the inbox is full, and reports false if the match is over.
func (m *Match) post(in input) bool {
	select {
	case m.inbox <- in:
		return true
	case <-m.done:
		return false
	}
}

// Do calls f in the match's goroutine and waits for it. f must not keep the host. The error is [ErrMatchOver] or ctx's.
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
		case <-ran: // f ended the match
			return nil
		default:
			return ErrMatchOver
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End ends the match, and tells the reason to all connections. With a [Replicator] it waits a short time until the end is
// stored. If it is not, the error wraps [ErrStorage], and the match may go on at another server.
func (m *Match) End(ctx context.Context, reason string) error {
	var err error
	if gone := m.Do(ctx, func(h *host.Host) { err = h.Admin().End(m.now(), reason) }); gone != nil {
		return gone
	}
	if err == nil {
		err = storageFailed(m.log.Stored())
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
	defer m.recoverPanic()
	timer := time.NewTimer(0)
	defer timer.Stop()
	viewAt := time.Now()
	m.idle = viewAt
	for !m.over() {
		select {
		case in := <-m.inbox:
			m.load.mark(byWaiting, m.now())
			m.take(in)
		case <-m.log.Synced():
			m.load.mark(byWaiting, m.now())
		case <-timer.C:
			m.load.mark(byWaiting, m.now())
		}
		m.drain()
		now := m.now()
		m.load.mark(byReceiving, now)
		if now >= m.next {
			m.load.begin(now - m.next)
			m.server.metrics.lateness.Observe(float64(now-m.next) / float64(lockstep.Second))
			m.host.Advance(now)
			m.process()
			m.load.mark(byHosting, m.now())
		}
		m.maintainReplay()
		m.hold()
		if err := m.log.FlushLate(time.Now(), m.stands(), m.host.Err() != nil); err != nil {
			m.logFailed(err)
		}
		m.load.mark(byWriting, m.now())
		m.feed()
		m.load.mark(bySending, m.now())
		if m.ended.IsZero() && m.host.Err() != nil {
			m.ended = time.Now()
			m.notePanic(m.host.Err())
			m.publish() // the result at once
		}
		if wall := time.Now(); wall.Sub(viewAt) >= time.Second {
			viewAt = wall
			m.publish()
			if m.log.Lost() {
				m.server.metrics.failures.Inc()
				m.logger.Error("the log of a running match is gone", "path", m.path)
			}
			m.endIfIdle(wall)
		}
		timer.Reset(m.untilNext())
	}
	m.process()
	m.publish()
}

// untilNext returns the time until the host has work to do, at most a minute. The host may say for ever, which no
// Duration can hold.
func (m *Match) untilNext() time.Duration {
	next := m.holds.Wake(m.next)
	return m.log.Wake(time.Now(), time.Duration(min(max(next-m.now(), 0), 60*lockstep.Second))*time.Microsecond)
}

// recoverPanic keeps a panic of this match from the other matches. The host handles panics of the game; this one is of
// our own code, or of a function in the server's options.
func (m *Match) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	m.server.metrics.panics.Inc()
	m.failure = fmt.Errorf("server: panic: %v", v)
	m.logger.Error("panic", "panic", v, "stack", string(debug.Stack()))
	for _, c := range m.conns {
		c.End("the match has failed")
		c.path.close()
	}
	last := *m.status.Load()
	last.Ended, last.State = "the match has failed", matchEnded.String()
	m.status.Store(&last)
}

// hungTime is how long the rules may take for a tick. In a log that is found after up to twice that time.
const hungTime = 20 * time.Second

// notePanic reports an error that is a panic of the rules.
func (m *Match) notePanic(err error) {
	if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
		m.server.metrics.panics.Inc()
		m.logger.Error("panic", "err", fault, "stack", string(fault.Stack))
	}
}

// hang reports that the rules do not come back from a tick, and lets another server try. If they do later, the next view of the match
// says so.
func (m *Match) hang() {
	before := m.status.Load()
	if before == nil {
		return
	}
	v := *before
	v.Tick = max(v.Tick, lockstep.Tick(m.sealed.Load())) // the status is up to a second old
	v.hung, v.State, v.Failure = true, matchFailed.String(), ErrHung.Error()
	if m.status.CompareAndSwap(before, &v) {
		m.logger.Error("the match hangs", "after_tick", uint32(v.Tick), "err", ErrHung)
		m.log.Release(ErrHung)
	}
}

// hangs reports whether the rules do not come back from a tick, so that nothing can ask the match.
func (m *Match) hangs() bool {
	v := m.status.Load()
	return v != nil && v.hung
}

// drain handles further inputs, up to a limit, so that a flood does not delay the tick.
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
	if in.closed {
		m.server.gates.spectators.Remove(c) // again, because its welcome may come after its socket was closed
		c.path.close()
	}
	switch {
	case in.do != nil:
		in.do()
	case in.opened:
		if !m.ended.IsZero() && !m.host.Status().Lingers && time.Since(m.ended) > joinAfterEnd {
			c.End("the match is over")
			return
		}
		m.connect(c)
		m.idle = time.Time{}
	case c.id == 0: // it was refused or evicted
	case in.closed:
		m.host.Disconnect(m.now(), c.id)
		m.process()
		delete(m.conns, c.id)
		m.connecting = crowd.Without(m.connecting, c)
		if len(m.conns) == 0 {
			m.idle = time.Now()
		}
	case in.ended != nil:
		if c.path == in.ended { // and has no other one
			c.path = nil // the stream goes on alone
		}
	case in.datagram != nil:
		m.host.ReceiveDatagram(m.now(), c.id, in.datagram)
	case in.data != nil:
		m.owners.Receive()
		m.host.Receive(m.now(), c.id, in.data.Bytes)
	default:
		c.feed()
	}
	m.process()
	if in.data != nil {
		buffers.Put(in.data)
	}
}

// endIfIdle ends a match that has had no connection for Options.IdleMatch.
func (m *Match) endIfIdle(now time.Time) {
	limit := m.server.gates.limits.Load().IdleMatch
	if limit > 0 && !m.idle.IsZero() && now.Sub(m.idle) > limit && m.host.Err() == nil {
		m.host.Admin().End(m.now(), fmt.Sprintf("nobody was connected for %v", limit))
	}
}

// over reports whether the match has ended or is suspended, and all connections have closed. After an end by the rules it
// also waits for players who come back to see it, unless the server is shut down.
func (m *Match) over() bool {
	return (m.suspended || m.host.Err() != nil) && len(m.conns) == 0 && !m.host.Status().Lingers
}

// services are what the matches of a server share.
type services struct {
	options Options // its limits are those of the beginning, see gates
	log     *slog.Logger
	metrics *metrics

	gates    *gates
	turned   *turned
	access   *access
	registry *registry
	guests   *guests.Quota
	keeper   *keeper
	assets   *assetStore

	replays    *replayFolder
	sealer     *sealer
	operations operations
	newFile    func(path string) (file, error) // for a replay
}

// forget releases what a match has held that is over, or that did not start.
func (sv *services) forget(m *Match) {
	sv.assets.release(m.assets)
	sv.registry.remove(m)
	sv.guests.Release(m.spec.guest)
}

// pause pauses or resumes the match for an admin, who needs no seat. Either ends the wait for players to come back.
// Resuming also ends or cancels the pause of a player. A pause outlives a restart of the server.
func (m *Match) pause(on bool) error {
	if m.host.Err() != nil {
		return m.host.Err()
	}
	before := m.holds.Wait(m.now(), "", m.host.Info().Awaited()).Reason != ""
	if m.holds.Pause(on) {
		text := host.PausedNo
		if on {
			text = host.PausedYes
		}
		m.log.Remember(lockstep.System, record.EventPaused, text)
	}
	m.hold()
	if on {
		return nil
	}
	err := m.host.Admin().Resume(m.now(), lockstep.System)
	if before && errors.Is(err, coordinator.ErrNotPaused) { // no player has paused it
		return nil
	}
	return err
}

// hold stops the match's ticks for as long as the server has a reason.
func (m *Match) hold() {
	var awaited []lockstep.Player
	if m.holds.Awaiting() {
		awaited = m.host.Info().Awaited()
	}
	m.host.Admin().Hold(m.now(), m.holds.Wait(m.now(), m.log.Held(), awaited))
}

// takeLimits gives the match the limits that the server has now. Without any it keeps what it has.
func (m *Match) takeLimits() {
	l := m.server.gates.limits.Load().MatchLimits
	if l == nil || m.limits != nil && *l == *m.limits {
		return
	}
	m.limits = l
	if err := m.host.Admin().SetLimits(m.now(), *l); err != nil {
		m.logger.Error("limits", "err", err)
		return
	}
	m.maxSpectators = cmp.Or(l.MaxSpectators, defaultSpectators)
	m.publish()
}

// suspend stops the match, and tells all connections when to come back. Its replay gets no end, so that it can be resumed.
func (m *Match) suspend() {
	m.suspended = true
	if m.log.Replicated() {
		m.host.Admin().Move(m.now(), movedRetry)
	} else {
		m.host.Admin().Shutdown(m.now(), retryAfter)
	}
	if !m.log.Recorded() {
		m.host.Admin().End(m.now(), "the server was shut down") // nothing is left to resume
	}
}

// Suspend stops the match and tells its clients when to come back, as [Server.Shutdown] does with all matches. With a
// [Replicator] another server can then continue it; otherwise this one, by [Server.Resume]. Wait for [Match.Done].
func (m *Match) Suspend() { m.post(input{do: m.suspend}) }

// handOver stops a match that this server must not or cannot write any more. Another server continues it.
func (m *Match) handOver(err error) {
	if m.suspended {
		return
	}
	m.logger.Warn("match handed over", "tick", uint32(m.host.Now()), "err", err)
	m.suspend()
}

// retryAfter is when clients may reconnect after a shutdown.
const retryAfter = lockstep.Second

// movedRetry is when clients of a match that moves to another server may come back.
const movedRetry = 100 * lockstep.Millisecond
