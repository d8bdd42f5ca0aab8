package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Errors of [Server.Create].
var (
	ErrName     = errors.New("server: want a match name of 1 to 64 letters, digits, dots, dashes and underscores")
	ErrExists   = errors.New("server: a match of that name exists")
	ErrFull     = errors.New("server: too many matches")
	ErrShutdown = errors.New("server: shutting down")
)

// A registry has the names of a server's matches: of those that run, that are being made or resumed, that have failed, and that have left.
type registry struct {
	log       *slog.Logger
	gates     *gates
	elsewhere interface{ MatchID(name string) string } // knows the matches of other servers; or nil

	launching sync.WaitGroup // matches that have a name and do not run yet, and the rest of recoveries

	mu         sync.Mutex
	matches    map[string]*Match // nil while a match is being created
	made       int               // matches created so far, to spread their ticks
	past       []making          // of the latest matches that have left
	closed     bool              // no new matches, and those that are launching do not start
	draining   bool              // no new matches; also if closed
	recoveries recoveries
}

// The least and the longest time after which clients of a recovering match come back.
const (
	leastWait   = time.Second
	longestWait = 10 * time.Second
)

// recoveries are the matches that are being recovered. The server's mutex guards them.
type recoveries struct {
	pending map[string]*Status      // by name
	failed  map[string]*failedMatch // whose logs stay as they are, by name
	unread  int                     // that wait for their bans
	since   time.Time               // of the last Recover
	done    int                     // since then
	room    tries.Room
	left    chan struct{} // closed and replaced when a try has ended
}

// A failedMatch is one that could not be resumed.
type failedMatch struct {
	path   string                  // of its log
	status *Status                 // nil without a header, or with the log of another build
	again  func() (*Status, error) // tries again to resume it, if there is a view
}

// wait reports whether the match of a name is recovering, and about how long a client should wait for it.
func (r *recoveries) wait(name string) (wait time.Duration, is bool) {
	if _, is = r.pending[name]; !is {
		return 0, false
	}
	if r.done > 0 {
		wait = time.Since(r.since) / time.Duration(r.done) * time.Duration(len(r.pending))
	}
	return min(max(wait, leastWait), longestWait).Round(time.Second), true
}

func newRegistry(o *Options, g *gates) *registry {
	elsewhere, _ := o.Replicator.(interface{ MatchID(name string) string })
	return &registry{
		log: o.Log, gates: g, elsewhere: elsewhere, matches: make(map[string]*Match),
		recoveries: recoveries{pending: make(map[string]*Status), failed: make(map[string]*failedMatch), left: make(chan struct{})},
	}
}

// match returns the match of a name, or nil.
func (reg *registry) match(name string) *Match {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.matches[name]
}

// logOf returns the log of a match with a name from outside, or of what concerns one that may be there.
func (reg *registry) logOf(name string) *slog.Logger {
	reg.mu.Lock()
	m, v := reg.matches[name], reg.recoveries.pending[name]
	if f := reg.recoveries.failed[name]; v == nil && f != nil {
		v = f.status
	}
	reg.mu.Unlock()
	id := ""
	switch {
	case m != nil:
		return m.logger
	case v != nil:
		id = v.Match
	case reg.elsewhere != nil:
		id = reg.elsewhere.MatchID(name)
	}
	return logged.Match(reg.log, wsmatch.Clip(name), id)
}

// isClosed reports whether Shutdown was called.
func (reg *registry) isClosed() bool {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.closed
}

// load returns whether no match can be created any more, and the number of matches, also of those that wait for their bans.
func (reg *registry) load() (draining bool, matches, unread int) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.draining, len(reg.matches), reg.recoveries.unread
}

// recovering reports whether the match of a name is recovering, and about how long a client should wait for it.
func (reg *registry) recovering(name string) (wait time.Duration, is bool) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.recoveries.wait(name)
}

// failed returns the status of a match of a name that could not be resumed, or that hangs; or nil.
func (reg *registry) failed(name string) *Status {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if m := reg.matches[name]; m != nil && m.hangs() {
		return m.status.Load()
	}
	if f := reg.recoveries.failed[name]; f != nil {
		return f.status
	}
	return nil
}

// requested returns the match that the path names. If there is none that could answer, it answers the request and returns nil.
func (reg *registry) requested(w http.ResponseWriter, r *http.Request) *Match {
	name := r.PathValue("name")
	m := reg.match(name)
	if m == nil || m.hangs() {
		wait, recovering := reg.recovering(name)
		switch seconds := int(wait / time.Second); {
		case recovering:
			failFor(w, seconds, codeRecovering, fmt.Sprintf("the match is recovering, come back in %d s", seconds))
		case reg.failed(name) != nil:
			failFor(w, int(longestWait/time.Second), codeRecovering, "the match has failed; an admin can see why, and may have it tried again")
		default:
			fail(w, codeNoMatch, "no such match")
		}
		return nil
	}
	return m
}

// running returns the matches that run, by name.
func (reg *registry) running() []*Match {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(reg.matches)), func(m *Match) bool { return m == nil })
	slices.SortFunc(all, func(a, b *Match) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	return all
}

// views returns the views of all matches by name, also of those that are recovering or could not be resumed.
func (reg *registry) statuses() []*Status {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	all := []*Status{}
	for _, m := range reg.matches {
		if m != nil {
			all = append(all, m.status.Load())
		}
	}
	for _, v := range reg.recoveries.pending {
		all = append(all, v)
	}
	for _, f := range reg.recoveries.failed {
		if f.status != nil {
			all = append(all, f.status)
		}
	}
	slices.SortFunc(all, func(a, b *Status) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// hides reports whether a match that is not over hides something, also one that another server continues. The metrics count nothing of
// a match that does not run.
func (reg *registry) hides() bool {
	for _, v := range reg.statuses() {
		if (v.hung || v.State != matchRecovering.String() && v.State != matchFailed.String()) && !v.over && v.disclosed.Hides() {
			return true
		}
	}
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return slices.ContainsFunc(reg.past, func(how making) bool { return !how.over && how.disclosed.Hides() })
}

// reserve reserves a name for a new match, and returns the phase of its ticks.
func (reg *registry) reserve(name string, settings lockstep.Settings) (phase time.Duration, err error) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	_, taken := reg.matches[name]
	lost, failed := reg.recoveries.failed[name]
	switch {
	case reg.draining:
		return 0, ErrShutdown
	case taken:
		return 0, fmt.Errorf("%w: %q", ErrExists, name)
	case failed:
		return 0, fmt.Errorf("%w: %q, which could not be resumed from %s", ErrExists, name, filepath.Base(lost.path))
	case len(reg.matches) >= reg.gates.limits.Load().MaxMatches:
		return 0, fmt.Errorf("%w: want at most %d", ErrFull, reg.gates.limits.Load().MaxMatches)
	}
	reg.matches[name] = nil
	reg.launching.Add(1)
	// The phase is the time by which the ticks of the match precede those of the first. Successive matches divide the period by the golden
	// ratio, which spreads any number of them.
	const golden = 2654435769 // 2^32 / φ
	phase = time.Duration(uint64(settings.Micros(1)) * uint64(time.Microsecond) * uint64(uint32(reg.made)*golden) >> 32)
	reg.made++
	return phase, nil
}

// run starts a match's goroutine. It reports false if the server is shut down.
func (reg *registry) run(m *Match) bool {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if reg.closed {
		return false
	}
	reg.matches[m.spec.Name] = m
	delete(reg.recoveries.pending, m.spec.Name)
	if reg.gates.limits.Load().MatchLimits != m.limits { // they have changed meanwhile
		m.inbox <- input{do: m.takeLimits}
	}
	go m.run()
	return true
}

// remove removes a match that is over, or that did not start.
func (reg *registry) remove(m *Match) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if reg.matches[m.spec.Name] == m { // it has run
		reg.keepPast(m.making())
	}
	delete(reg.matches, m.spec.Name)
	delete(reg.recoveries.pending, m.spec.Name)
}

func (reg *registry) makingOf(id string) (making, bool) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for _, m := range reg.matches { // a map: at most one has the ID
		if m != nil && m.header.Match.String() == id {
			return m.making(), true
		}
	}
	for _, how := range reg.past { // at most one, too
		if how.header.Match.String() == id {
			return how, true
		}
	}
	return making{}, false
}

// The latest matches that have left the server, of which the server knows how they were made.
const (
	maxPast      = 256
	maxPastBytes = 4 << 20 // of their configurations
)

// A making is how a match was made.
type making struct {
	game   *lockstep.Game // without the server's assets
	header *lockstep.Header
	kind   string // of the bots
	again  func(*MatchSpec)

	disclosed disclosure.Policy
	over      bool // otherwise it runs, here or at another server, or can be resumed
}

func (m *Match) making() making {
	v := m.status.Load()
	return making{m.game, m.header, m.spec.BotKind, m.spec.Again, v.disclosed, v.over}
}

// keepPast keeps how a match that leaves the server was made. The caller holds the lock.
func (reg *registry) keepPast(how making) {
	reg.past = slices.DeleteFunc(reg.past, func(p making) bool { return p.header.Match == how.header.Match }) // of the time before it was resumed
	reg.past = append(reg.past, how)
	size := 0
	for i := len(reg.past) - 1; i >= 0; i-- {
		if size += len(reg.past[i].header.Config); size > maxPastBytes || len(reg.past)-i > maxPast {
			reg.past = append([]making(nil), reg.past[i+1:]...)
			return
		}
	}
}

// note changes what is known of the recoveries.
func (reg *registry) note(change func(*recoveries)) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	change(&reg.recoveries)
}

// errNotFailed: there is nothing to try again.
var errNotFailed = errors.New("server: the match has not failed")

// retry tries again to resume a match that failed, and returns its status.
func (reg *registry) retry(name string) (*Status, error) {
	reg.mu.Lock()
	f := reg.recoveries.failed[name]
	if f == nil || f.status == nil {
		reg.mu.Unlock()
		return nil, errNotFailed
	}
	delete(reg.recoveries.failed, name) // it reserves the name
	reg.mu.Unlock()
	v, err := f.again()
	if err != nil {
		reg.note(func(r *recoveries) { r.failed[name] = f })
	}
	return v, err
}

// turnAway tells a client when to come back to a recovering match, and closes its WebSocket.
func turnAway(ws *websocket.Conn, wait time.Duration) {
	text := fmt.Sprintf("the match is recovering, come back in %d s", wait/time.Second)
	var w protocol.Writer
	closing := protocol.Message{Kind: protocol.KindClosing, Code: uint8(protocol.CloseBusy), Text: text, RetryMS: uint32(wait / time.Millisecond)}
	if ws.Write(context.Background(), websocket.MessageBinary, w.Append(nil, &closing)) == nil {
		ws.Close(websocket.StatusNormalClosure, text)
	}
}

// enter waits until another try may begin. It reports false if the server is shut down.
func (reg *registry) enter(alone bool) bool {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for !reg.closed && !reg.recoveries.room.Enter(alone) {
		left := reg.recoveries.left
		reg.mu.Unlock()
		<-left
		reg.mu.Lock()
	}
	return !reg.closed
}

func (reg *registry) leave() {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.room.Leave()
	close(reg.recoveries.left)
	reg.recoveries.left = make(chan struct{})
}
