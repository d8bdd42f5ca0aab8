package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/server"
)

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
			m.options.Log.Warn("the directory cannot be watched", "bucket", what, "err", err)
		}
		if away = err != nil; !away {
			follow(w, connected, saw, gone)
			_ = w.Stop()
			go func() { // what it still has to tell would keep it from ending
				for range w.Updates() {
				}
			}()
		}
		select {
		case <-m.ctx.Done():
		case <-time.After(watchAgain):
		}
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
		m.options.Log.Error("the directory has an entry that no server writes", "key", key, "err", err)
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
	next, failure := *now, ""
	if why != nil && !errors.Is(why, server.ErrShutdown) && !errors.Is(why, server.ErrFull) && !errors.Is(why, server.ErrNotOwner) && !errors.Is(why, context.DeadlineExceeded) {
		failure = why.Error()
	}
	next.Entry = now.Release(failure)
	_, err := m.write(next)
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
	m.logOf(e).Warn("a match that is over stays in the directory for now", "err", err)
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
