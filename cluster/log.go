package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

const (
	// appendTime is how long an append may take before its result counts as lost. The store stalls for seconds when the
	// node that leads a stream dies; asking again does no harm.
	appendTime = time.Second

	// askAgain is the pause after a lost result.
	askAgain = 50 * time.Millisecond

	// maxQueued is how many bytes of records wait while the store is away, besides the largest one. A match that is held
	// makes few of them.
	maxQueued = 4 << 20
)

// ErrAway is the error of a log whose store has been away for too long.
var ErrAway = errors.New("cluster: the replicated log has been away for too long")

// A matchLog is the replicated log of a match that this server has. It implements [server.ReplicatedLog].
type matchLog struct {
	member  *Member
	id      lockstep.MatchID
	subject string
	copies  *storage.Segments
	wake    chan struct{} // holds a value when there is something to store
	ctx     context.Context
	stop    func()
	ended   chan struct{} // closed when run has returned

	mu      sync.Mutex
	owner   *ownership.Owner
	marks   []mark
	largest uint64 // record so far, in bytes
	err     error
	change  chan struct{} // closed and replaced at each change

	entry *Match    // as this server took it
	heard time.Time // when the store stopped to store, or a little before; zero while it stores. Only run uses it
}

// A mark is a function to call when so many bytes are stored.
type mark struct {
	at   uint64
	done func()
}

// newMatchLog returns a log that claims what ends at end, and begins to do so. copies has the messages before that are in no
// segment.
func (m *Member) newMatchLog(entry *Match, id lockstep.MatchID, end ownership.End, copies *storage.Segments) *matchLog {
	l := &matchLog{
		member: m, entry: entry, id: id, copies: copies, owner: ownership.Claim(m.id, end, storage.MaxMessage),
		wake: make(chan struct{}, 1), ended: make(chan struct{}), change: make(chan struct{}),
	}
	_, l.subject = m.options.Conn.LogOf(id)
	l.ctx, l.stop = context.WithCancel(m.ctx)
	go l.run()
	return l
}

// run stores records until the log is closed or lost.
func (l *matchLog) run() {
	defer close(l.ended)
	var copying sync.WaitGroup
	copying.Go(func() { l.copies.Run(l.ctx) })
	defer copying.Wait()
	for l.ctx.Err() == nil {
		l.mu.Lock()
		step := l.owner.Next()
		l.mu.Unlock()
		if step.Do == ownership.Nothing {
			l.heard = time.Time{}
			select {
			case <-l.wake:
				l.settle()
			case <-l.ctx.Done():
			}
			continue
		}
		if l.heard.IsZero() {
			l.heard = time.Now()
		}
		l.do(step)
		l.settle()
	}
}

// doubt is called while the store does not answer. This server may be cut off from it and not from its clients: then
// another server has taken the match by now, and says so.
func (l *matchLog) doubt() error {
	switch silent := time.Since(l.heard); {
	case silent > l.member.times.away:
		return ErrAway
	case silent > l.member.times.silent && l.member.runsElsewhere(l.ctx, l.entry):
		return server.ErrNotOwner
	}
	return nil
}

// do does one step and tells the owner its result.
func (l *matchLog) do(step ownership.Step) {
	ctx, cancel := context.WithTimeout(l.ctx, appendTime)
	defer cancel()
	began := time.Now()
	l.mu.Lock()
	before := l.owner.End()
	l.mu.Unlock()
	tell, heard := l.owner.Unknown, false
	if step.Do == ownership.Append {
		ack, err := l.member.options.Conn.JS.Publish(ctx, l.subject, step.Message, jetstream.WithExpectLastSequencePerSubject(step.Expect), jetstream.WithRetryAttempts(0))
		switch {
		case err == nil:
			tell = func() {
				l.copies.Add(ack.Sequence, step.Message)
				l.owner.Accepted(ack.Sequence)
			}
			l.member.metrics.appends.Observe(time.Since(began).Seconds())
		case isStale(err):
			tell = l.owner.Refused
		}
	} else if sequence, message, err := l.member.options.Conn.Last(ctx, l.id); err == nil {
		tell = func() {
			if l.owner.Last(sequence, message); l.owner.End() != before {
				l.copies.Add(sequence, message)
			}
		}
		if heard = sequence >= before.Sequence && l.member.options.Conn.HasOneCopy(); !heard {
			storage.Pause(l.ctx, askAgain) // the storage has lost what it had, or an old copy has answered
		}
	} else if errors.Is(err, jetstream.ErrMsgNotFound) {
		tell = func() { l.owner.Last(0, nil) }
		heard = before.Sequence == 0 && l.member.options.Conn.HasOneCopy()
	} else {
		storage.Pause(l.ctx, askAgain)
	}
	l.mu.Lock()
	tell()
	stored := l.owner.End() != before
	l.mu.Unlock()
	if stored || heard {
		l.heard = time.Time{}
	} else if err := l.doubt(); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.err = cmp.Or(l.err, err)
	}
}

// isStale reports whether the store has refused an append because the log does not end where it expected.
func isStale(err error) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// settle calls the functions whose records are stored.
func (l *matchLog) settle() {
	l.mu.Lock()
	stored := l.owner.Stored()
	n := 0
	for n < len(l.marks) && l.marks[n].at <= stored {
		n++
	}
	done := append([]mark(nil), l.marks[:n]...)
	l.marks = append(l.marks[:0], l.marks[n:]...)
	if l.owner.Lost() && l.err == nil {
		l.err = server.ErrNotOwner
	}
	close(l.change)
	l.change = make(chan struct{})
	l.mu.Unlock()
	for _, m := range done {
		m.done()
	}
}

// Append implements [lockstep.Log].
func (l *matchLog) Append(raw []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil // the match stops
	}
	l.owner.Append(raw)
	l.largest = max(l.largest, uint64(len(raw)))
	if l.owner.Appended()-l.owner.Stored() > maxQueued+l.largest {
		l.err = ErrAway
	}
	return nil
}

// Commit implements [server.ReplicatedLog].
func (l *matchLog) Commit(done func()) {
	l.mu.Lock()
	l.marks = append(l.marks, mark{l.owner.Appended(), done})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // a value is there
	}
}

// Err implements [server.ReplicatedLog].
func (l *matchLog) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Flush implements [server.ReplicatedLog].
func (l *matchLog) Flush() error {
	stored := make(chan struct{})
	l.Commit(func() { close(stored) })
	timeout := time.NewTimer(l.member.times.flush)
	defer timeout.Stop()
	for {
		l.mu.Lock()
		err, change := l.err, l.change
		l.mu.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-stored:
			return nil
		case <-change:
		case <-l.ended:
			l.mu.Lock()
			all := l.owner.Stored() == l.owner.Appended()
			l.mu.Unlock()
			if all {
				return nil
			}
			return context.Cause(l.ctx)
		case <-timeout.C:
			return ErrAway
		}
	}
}

// waitClaim waits until the claim is stored. It reports false without an error if the log has gone on.
func (l *matchLog) waitClaim(ctx context.Context) (claimed bool, err error) {
	for {
		l.mu.Lock()
		claimed, lost, change := l.owner.Claimed(), l.owner.Lost(), l.change
		l.mu.Unlock()
		if claimed || lost {
			return claimed, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false, fmt.Errorf("cluster: the claim of the log: %w", ctx.Err())
		}
	}
}

// Release implements [server.ReplicatedLog].
func (l *matchLog) Release(why error) {
	l.close()
	l.member.release(l.entry, why)
}

// Drop implements [server.ReplicatedLog].
func (l *matchLog) Drop() {
	l.close()
	l.member.drop(l.entry)
	l.remove()
}

// remove removes the log from the storage.
func (l *matchLog) remove() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), writeTime)
	defer cancel()
	if err := l.member.options.Conn.Remove(ctx, l.id); err != nil {
		l.member.logOf(l.entry).Warn("replicated log of a finished match not removed yet", "err", err)
		l.member.later(l.remove)
	}
}

func (l *matchLog) close() {
	l.stop()
	<-l.ended
	m := l.member
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open[l.entry.ID] == l {
		delete(m.open, l.entry.ID)
	}
}

// lose says that another server has the log, although this one has not appended anything since.
func (l *matchLog) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = server.ErrNotOwner
	}
}

// watchAgain is the pause before a watch that has ended begins again.
const watchAgain = 100 * time.Millisecond

// watch calls saw and gone with the changes of a bucket until the member leaves. After a lost connection it begins again,
// with all that is there.
func (m *Member) watch(what string, bucket jetstream.KeyValue, saw func(key string, value []byte, revision uint64), gone func(key string)) {
	nc := m.options.Conn.NATS
	connected := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(connected)
	for away := false; m.ctx.Err() == nil; {
		w, err := bucket.WatchAll(m.ctx)
		if err != nil && !away {
			m.options.Log.Warn("cannot watch the directory", "bucket", what, "err", err)
		}
		if away = err != nil; !away {
			follow(w, connected, saw, gone)
			_ = w.Stop()
			go func() { // what it still has to tell would keep it from ending
				for range w.Updates() {
				}
			}()
		}
		storage.Pause(m.ctx, watchAgain)
	}
}

// follow calls saw and gone with what a watch tells, until it ends or the connection is another one. A node that was restarted
// knows nothing of the watch, which would notice that only after many seconds.
func follow(w jetstream.KeyWatcher, connected <-chan nats.Status, saw func(key string, value []byte, revision uint64), gone func(key string)) {
	for {
		select {
		case <-connected:
			return
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return
			case e == nil: // all that was there before
			case e.Operation() == jetstream.KeyValuePut:
				saw(e.Key(), e.Value(), e.Revision())
			default: // deleted
				gone(e.Key())
			}
		}
	}
}

// sawMatch takes a change of the directory.
func (m *Member) sawMatch(key string, value []byte, revision uint64) {
	e, err := parseMatch(value, revision)
	if err != nil || keyOf(e.Name) != key {
		m.options.Log.Error("malformed entry in the directory", "key", key, "err", err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learn(e)
}

// learn replaces what the member knows of a match, unless it knows something later. The mutex is held.
func (m *Member) learn(e *Match) {
	if old := m.entries[e.Name]; old != nil && old.revision > e.revision {
		return
	}
	e.seen = m.now()
	m.entries[e.Name] = e
	if l := m.open[e.ID]; l != nil && e.Server != m.id && e.State == ownership.Playing && e.Term > l.entry.Term {
		l.lose() // a match that stands appends nothing, and would not notice
	}
	m.announce()
}

func (m *Member) matchGone(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, strings.ReplaceAll(key, "=", "."))
	m.announce()
}

// writeTime is how long a change of the directory may take.
const writeTime = 2 * time.Second

// write changes the directory if it has not changed since e was read. It returns the new entry.
func (m *Member) write(e Match) (*Match, error) {
	value, err := json.Marshal(e)
	if err != nil {
		panic(err) // a Match has only strings and numbers
	}
	ctx, cancel := context.WithTimeout(m.ctx, writeTime)
	defer cancel()
	if e.revision == 0 {
		e.revision, err = m.matches.Create(ctx, keyOf(e.Name), value)
	} else {
		e.revision, err = m.matches.Update(ctx, keyOf(e.Name), value, e.revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("%w: %q, in the cluster", server.ErrExists, e.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: match %q in the directory: %w", e.Name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learn(&e)
	return &e, nil
}

// change writes another entry of a match.
func (m *Member) change(e *Match, to ownership.Entry) (*Match, error) {
	next := *e
	next.Entry = to
	return m.write(next)
}

// mine returns the present entry of a match that this server has, or nil if another one has it.
func (m *Member) mine(e *Match) *Match {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.entries[e.Name]; now != nil && now.Server == m.id && now.Term == e.Term {
		return now
	}
	return nil
}

// release says in the directory that any server may take a match that this one had. why says what kept this server from
// continuing it, or is nil.
func (m *Member) release(e *Match, why error) {
	now := m.mine(e)
	if now == nil {
		return
	}
	failure := ""
	if why != nil && !errors.Is(why, server.ErrShutdown) && !errors.Is(why, server.ErrFull) && !errors.Is(why, server.ErrNotOwner) && !errors.Is(why, context.DeadlineExceeded) {
		failure = why.Error()
	}
	next := now.Release(failure)
	_, err := m.change(now, next)
	if err == nil {
		m.logOf(e).Info("match released", "term", e.Term, "state", string(next.State), "why", why)
		return
	}
	if errors.Is(err, server.ErrExists) {
		return // another server has it
	}
	m.logOf(e).Warn("match not released yet", "err", err)
	m.later(func() { m.release(e, why) }) // the lease of this server lives, so nobody would take it
}

// drop removes a match that is over from the directory.
func (m *Member) drop(e *Match) {
	now := m.mine(e)
	if now == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), writeTime)
	defer cancel()
	err := m.matches.Purge(ctx, keyOf(e.Name), jetstream.LastRevision(now.revision), jetstream.PurgeTTL(storage.MarkerTime))
	if err == nil || isStale(err) { // or another server has it
		m.matchGone(keyOf(e.Name))
		return
	}
	m.logOf(e).Warn("finished match not removed from the directory yet", "err", err)
	m.later(func() { m.drop(e) })
}

// MatchID returns the id of a match of the cluster, or "" if the directory has none of that name.
func (m *Member) MatchID(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[name]; e != nil {
		return e.ID
	}
	return ""
}

// logOf returns the log of a match.
func (m *Member) logOf(e *Match) *slog.Logger { return logged.Match(m.options.Log, e.Name, e.ID) }

// later calls a function again that needs the storage.
func (m *Member) later(f func()) {
	time.AfterFunc(callAgain, func() {
		if m.ctx.Err() == nil {
			f()
		}
	})
}

// callAgain is the pause before another attempt to change the storage.
const callAgain = 500 * time.Millisecond
