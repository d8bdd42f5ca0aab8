package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/allowance"
)

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
	Rules         string            `json:"rules,omitempty"` // SHA-256 of the module with the rules, which GET /rules/SHA256.wasm returns
	Match         string            `json:"match"`
	Settings      lockstep.Settings `json:"settings"`              // without the seed if players see views only, or if that is not known yet
	PlayersSee    string            `json:"players_see,omitempty"` // views, if clients are sent nothing else
	Guests        bool              `json:"guests,omitempty"`      // whether somebody without a token may take a seat, see [Guests]
	State         string            `json:"state"`                 // recovering, failed, lobby, playing, paused, held or ended
	Tick          lockstep.Tick     `json:"tick"`
	Players       []PlayerStatus    `json:"players"`            // of the seats that somebody has
	BotKind       string            `json:"bot,omitempty"`      // see MatchSpec.BotKind
	Tokens        []Invitation      `json:"tokens,omitempty"`   // only in the answer to its creation
	Affected      *affected         `json:"affected,omitempty"` // only in the answer to a kick or a ban
	Paused        bool              `json:"paused,omitempty"`
	Held          string            `json:"held,omitempty"`    // why it is held; "" if it is not
	Waiting       *WaitStatus       `json:"waiting,omitempty"` // why it stands still or runs slower, as its players are told
	Failure       string            `json:"failure,omitempty"` // why it could not be resumed, or does not go on
	Ended         string            `json:"ended,omitempty"`   // why it ended; "" before
	EndedByRules  bool              `json:"ended_by_rules,omitempty"`
	Result        json.RawMessage   `json:"result,omitempty"`      // of the rules, by the schema of their result
	GraceMS       uint32            `json:"grace_ms,omitempty"`    // for how long the seat of a lost player is kept; 0 while the match is recovered
	SlowestRTT    lockstep.Time     `json:"slowest_rtt_us,string"` // of all players, in microseconds; 0 if unknown
	Stats         host.Stats        `json:"stats"`

	inLobby   bool
	disclosed disclosure.Policy
	over      bool // its log has its last record, so nobody continues it; Ended is also the reason of a failure
	hung      bool // its rules do not come back from a tick

	roles  [protocol.Admin + 1]int // authenticated connections
	memory memoryJSON
}

// affected is the JSON of what a call of an admin has ended.
type affected struct {
	host.Ended
	Message string `json:"message,omitempty"` // if that is nothing
}

// A WaitView says why a match stands still or runs slower.
type WaitStatus struct {
	Reason string `json:"reason"`
	Seats  []int  `json:"seats"` // whom it waits for
	Since  string `json:"since"` // RFC 3339, UTC
	Until  string `json:"until,omitempty"`
}

// newWaitStatus returns the status of a wait, or nil for none. epoch is time 0 of the host.
func newWaitStatus(w host.Wait, epoch time.Time) *WaitStatus {
	if w.Reason == "" {
		return nil
	}
	at := func(t lockstep.Time) string {
		return epoch.Add(time.Duration(t) * time.Microsecond).UTC().Format(time.RFC3339)
	}
	v := &WaitStatus{Reason: w.Reason, Seats: []int{}, Since: at(w.Since)}
	for _, p := range w.Players {
		v.Seats = append(v.Seats, int(p))
	}
	if w.Until > 0 {
		v.Until = at(w.Until)
	}
	return v
}

// A PlayerView is the public description of a player.
type PlayerStatus struct {
	Seat  lockstep.Player `json:"seat"`
	Name  string          `json:"name"`
	State string          `json:"state"` // joining, playing, away, taken_over or bot
}

// newStatus returns the status of a match that does not run yet.
func newStatus(m *Match, h *lockstep.Header, state matchState) *Status {
	a := protocol.NewAuth(m.spec.Game)
	v := &Status{
		Name: m.spec.Name, Protocol: h.Protocol, Engine: a.Engine, Game: a.Game, Build: a.Build,
		StateSchema: a.StateSchema, CommandSchema: a.CommandSchema, Match: h.Match.String(), Settings: h.Settings,
		State: state.String(), Players: []PlayerStatus{},
	}
	for _, p := range a.SelfTest.Parts() {
		v.SelfTest = append(v.SelfTest, strconv.FormatUint(*p.Sum, 10))
	}
	v.Rules = m.rulesSum()
	v.disclosed = disclosure.Secret // until its log says more
	if m.host != nil {
		if v.disclosed = m.host.Disclosure(); v.disclosed.Views {
			v.PlayersSee = "views"
		}
	}
	v.Settings = v.disclosed.Settings(disclosure.Spectator, v.Settings)
	v.Guests = m.server.options.guests
	return v
}

// publish updates the match's status and the metrics.
func (m *Match) publish() {
	h, status := m.host.Header(), m.host.Status()
	v := newStatus(m, h, matchPlaying)
	v.Tick, v.Paused, v.Held, v.Stats = m.host.Now(), m.holds.Paused() || status.Paused, status.Held, m.host.Stats()
	v.BotKind = m.spec.BotKind
	v.inLobby, v.GraceMS = status.InLobby, uint32(status.Grace.Milliseconds())
	for _, p := range m.host.Info().Seats() {
		v.Players = append(v.Players, PlayerStatus{p.Seat, p.Name, p.State.String()})
	}
	for _, p := range m.host.Info().Peers() {
		if p.State != host.Connecting && p.State != host.Closed {
			v.roles[p.Role]++
		}
		if p.Seat != lockstep.System {
			v.SlowestRTT = max(v.SlowestRTT, p.RTT)
		}
	}
	v.over = status.LogEnded
	if v.Ended = status.EndReason; v.Ended == "" {
		v.Waiting = newWaitStatus(status.Wait, m.epoch)
	}
	result, byRules := m.host.Result()
	v.EndedByRules, v.Result = byRules, json.RawMessage(h.ResultJSON(result))
	v.State = v.state().String()
	m.server.metrics.count(&m.counted, &v.Stats)
	m.server.metrics.countLate(&m.load)
	m.counted = v.Stats
	m.updateGuestUsage()
	m.updateMemoryBound(v.Stats.StateBytes)
	v.memory = m.measuredMemory()
	m.status.Store(v)
}

// measured returns the load of the match. Its goroutine calls it.
func (m *Match) measured() *loadJSON {
	v := m.load.json()
	v.Memory = m.measuredMemory()
	return &v
}

func (m *Match) measuredMemory() memoryJSON {
	v := memoryJSON{State: m.host.Stats().StateBytes, MemoryParts: m.host.Info().MemoryParts(), Bound: int(m.memoryBound.Load())}
	if r := m.host.Referee(); r != nil {
		v.PastStates = r.Memory()
	}
	return v
}

// parts returns the bytes of memoryParts.
func (v *memoryJSON) parts() [8]int {
	return [...]int{v.State, v.PastStates, v.Ring, v.Queues, v.Keyframes, v.Views, v.Evidence, v.Accounts}
}

// memoryParts are the names of the parts.
var memoryParts = [8]string{"state", "past_states", "ring", "queues", "keyframes", "views", "evidence", "accounts"}

// state returns the state of a match that has started.
func (v *Status) state() matchState {
	switch {
	case v.Ended != "":
		return matchEnded
	case v.hung:
		return matchFailed
	case v.Held != "":
		return matchHeld
	case v.Paused:
		return matchPaused
	case v.inLobby:
		return matchLobby
	}
	return matchPlaying
}

// Status returns the match's latest status, which is at most a second old.
func (m *Match) Status() Status { return *m.status.Load() }

// countLate adds the delays of a match since the last call.
func (to *metrics) countLate(l *load) {
	for c, d := range l.late {
		to.late[c].Add(float64(d-l.told[c]) / float64(lockstep.Second))
	}
	l.told = l.late
}

// count adds what a match has done between two moments.
func (to *metrics) count(before, s *host.Stats) {
	for i, t := range totals {
		to.totals[i].Add(t.of(s) - t.of(before))
	}
	for i, n := range s.Rejected {
		grown := float64(n - before.Rejected[i])
		switch r := lockstep.Reason(i); {
		case r == lockstep.Accepted:
			to.accepted.Add(grown)
		case grown > 0:
			to.rejected.WithLabelValues(r.String()).Add(grown)
		}
	}
}

// An Invitation is a token for one seat of one match, besides those of the server's [Authorizer]. The server draws it.
type Invitation struct {
	Seat  lockstep.Player `json:"seat"`
	Token string          `json:"token"`
}

// A matchState is what a match is doing.
type matchState uint8

// The states of matches. Each match has the last one of them that applies.
const (
	matchStarting   matchState = iota // being created
	matchRecovering                   // from its log, after a crash
	matchFailed                       // its log could not be continued, and stays as it is; or its rules do not come back from a tick
	matchLobby                        // before its first tick
	matchPlaying
	matchPaused
	matchHeld
	matchEnded // its connections are not closed yet
	matchStates
)

func (s matchState) String() string {
	return [...]string{"starting", "recovering", "failed", "lobby", "playing", "paused", "held", "ended"}[s]
}

// lateFrom is the delay from which work of a match counts as late.
const lateFrom = 5 * lockstep.Millisecond

// A span is how the goroutine has spent some time.
type span struct {
	activity              activity
	took, stepped, writes lockstep.Time // the last two are parts of the first
}

// A load measures a match. Its goroutine uses it.
type load struct {
	steps   [1024]uint32 // the last ones, in microseconds; the next one replaces the oldest
	stepped uint64       // steps in all
	longest longStep

	inside bool          // a step
	began  lockstep.Time // the present step
	took   lockstep.Time // the last one
	marked lockstep.Time // when phase began
	phase  string        // the present one of the step
	slow   phaseTime     // the slowest of the step
	now    span          // what the present span has so far
	at     lockstep.Time // when it began
	spans  [16]span      // the last ones
	next   int

	late  [activities]lockstep.Time
	told  [activities]lockstep.Time // of late, to the metrics
	times uint32                    // how often work was late
}

// A phaseTime is how long a phase of a step took. The name is "" without marks of the rules, and before the first.
type phaseTime struct {
	name string
	took lockstep.Time
}

// A longStep is the longest step since the match runs on this server.
type longStep struct {
	took     lockstep.Time
	tick     lockstep.Tick
	commands int
	slow     phaseTime
}

// step measures a Rules.Step, which begins, comes to a phase, or is over. It reports whether it begins.
func (l *load) step(t *lockstep.Turn, phase string, over bool, now lockstep.Time) (begins bool) {
	if !l.inside {
		l.inside, l.began, l.marked, l.phase, l.slow = true, now, now, "", phaseTime{}
		return true
	}
	if took := now - l.marked; took > l.slow.took {
		l.slow = phaseTime{l.phase, took}
	}
	l.marked, l.phase = now, phase
	if !over {
		return false
	}
	l.inside = false
	l.took = now - l.began
	l.steps[l.stepped%uint64(len(l.steps))] = uint32(min(l.took, 1<<32-1))
	l.stepped++
	if l.took > l.longest.took || l.stepped == 1 {
		l.longest = longStep{l.took, t.Tick, len(t.Commands), l.slow}
	}
	l.now.stepped += l.took
	return false
}

// log writes the longest step into the log of a match.
func (l *load) log(to *slog.Logger) {
	x := l.longest
	if l.stepped == 0 {
		return
	}
	words := []any{"tick", uint32(x.tick), "ms", float64(x.took) / float64(lockstep.Millisecond), "commands", x.commands}
	if x.slow.name != "" {
		words = append(words, "phase", x.slow.name, "phase_ms", float64(x.slow.took)/float64(lockstep.Millisecond))
	}
	to.Info("longest step", words...)
}

// mark says what the goroutine has done since the last call.
func (l *load) mark(c activity, now lockstep.Time) {
	l.now.activity, l.now.took = c, now-l.at
	l.spans[l.next%len(l.spans)] = l.now
	l.next, l.now, l.at = l.next+1, span{}, now
}

// begin notes that work begins that was due some time ago. It looks back at what the goroutine did instead.
func (l *load) begin(delay lockstep.Time) {
	if delay < lateFrom {
		return
	}
	l.times++
	for i := 1; i <= min(l.next, len(l.spans)) && delay > 0; i++ {
		s := &l.spans[(l.next-i)%len(l.spans)]
		took := min(s.took, delay)
		stepped := min(s.stepped, took)
		writes := min(s.writes, took-stepped)
		l.late[byStepping] += stepped
		l.late[byWriting] += writes
		l.late[s.activity] += took - stepped - writes
		delay -= took
	}
}

// A loadView says what a match costs, for admins.
type loadJSON struct {
	Step   stepJSON   `json:"step"`
	Late   lateJSON   `json:"late"`
	Memory memoryJSON `json:"memory"`
}

// A stepView has the times of Rules.Step, in microseconds.
type stepJSON struct {
	Median  uint32 `json:"median_us"`  // of the last 1,024 ticks at most
	P99     uint32 `json:"p99_us"`     // of them
	Longest uint32 `json:"longest_us"` // since the match runs on this server
}

// A lateView says how often work of the match began at least 5 ms late since it runs on this server, and what its goroutine did
// meanwhile, in milliseconds of all delays.
type lateJSON struct {
	Times     uint32 `json:"times"`
	Waiting   uint32 `json:"waiting_ms"`
	Receiving uint32 `json:"receiving_ms"`
	Hosting   uint32 `json:"hosting_ms"`
	Stepping  uint32 `json:"stepping_ms"`
	Writing   uint32 `json:"writing_ms"`
	Sending   uint32 `json:"sending_ms"`
}

// A memoryView has bytes.
type memoryJSON struct {
	State      int `json:"state"`       // of the last keyframe in the log
	PastStates int `json:"past_states"` // that the referee keeps
	host.MemoryParts
	Bound int `json:"bound"` // of all of the match, see Server.MemoryBound
}

// view returns what admins are told.
func (l *load) json() (v loadJSON) {
	sorted := slices.Clone(l.steps[:min(l.stepped, uint64(len(l.steps)))])
	slices.Sort(sorted)
	if n := len(sorted); n > 0 {
		v.Step = stepJSON{sorted[n/2], sorted[n*99/100], uint32(min(l.longest.took, 1<<32-1))}
	}
	ms := func(c activity) uint32 { return uint32(l.late[c] / lockstep.Millisecond) }
	v.Late = lateJSON{l.times, ms(byWaiting), ms(byReceiving), ms(byHosting), ms(byStepping), ms(byWriting), ms(bySending)}
	return v
}

// Memory of live objects and stacks, in bytes. docs/limits.md has the formula.
const (
	// serverMemory is for a server without matches and connections.
	serverMemory = 4 << 20

	// budgetMemory is for one address in each of budgetTables tables of budgets.
	budgetMemory = 256
	budgetTables = 10

	// connMemory is for a connection that is not authenticated, or not a WebSocket: goroutines, buffers, TLS, and
	// the header of a request. It is also for a QUIC handshake.
	connMemory = 64 << 10

	// messageMemory is for a received message of a client.
	messageMemory = 80 << 10

	// pathMemory is for a path of datagrams: a QUIC connection with its goroutines, keys, windows and queues.
	pathMemory = 256 << 10

	// peerMemory is for an authenticated connection: a message that is read, one that waits for the match, and twice
	// the messages of the server that may wait for its socket, because their buffer grows in steps.
	peerMemory = connMemory + 2*messageMemory + (2*maxQueued+2)*maxWrite

	// matchMemory is for a match without its state and its connections: the writer of its replay, and frames.
	matchMemory = 6 << 20

	// gameCopies is the number of copies of the state in a match, including what a game keeps besides its state, and four that
	// wait for a disk that does not answer, but
	// without the host.Options.EvidenceHistory copies.
	gameCopies = 28

	// twinCopies is the number of copies of the state of a match with the heavy mode beyond those: of two twins and a difference.
	twinCopies = 12

	twinMemory = 4 << 20 // the frames of a twin, as they came and as it steps them
)

// updateMemoryBound updates the match's part of MemoryBound. The match's goroutine calls it.
func (m *Match) updateMemoryBound(stateBytes int) {
	peers := int(m.spec.Settings.Players) + m.maxSpectators
	listed := 0
	for _, a := range m.assets {
		listed += int(a.Size)
	}
	heavy := 0
	if m.heavy {
		heavy = twinCopies*stateBytes + twinMemory
	}
	m.memoryBound.Store(int64(heavy + m.host.Info().MemoryBound(stateBytes) + int(m.spec.Settings.Players)*pathMemory + peers*peerMemory + inboxSize*messageMemory + matchMemory + (gameCopies+m.history)*stateBytes + listed))
}

// memory returns the most bytes that connections without a match take, and the tables of budgets.
func (g *gates) memory() int {
	conns := g.unauthenticated.Most() + g.sockets.Most() + g.silent.Most() + g.onTrial.Most() + g.reserved.Most() + maxHandshakes
	return conns*connMemory + g.paths.Most()*pathMemory + budgetTables*allowance.MaxKeys*budgetMemory
}

// rememberDisclosure writes who may see what of the match.
func (m *Match) rememberDisclosure() {
	m.log.Remember(lockstep.System, record.EventDisclosure, m.host.Disclosure().String())
}

// rememberRules writes which module has the rules of the match, if one has.
func (m *Match) rememberRules() {
	if sum := m.rulesSum(); sum != "" {
		m.log.Remember(lockstep.System, record.EventRules, sum)
	}
}

// rulesSum returns the SHA-256 of the module with the rules of the match, or "".
func (m *Match) rulesSum() string {
	if of := m.server.options.RulesOf; of != nil {
		return of(m.game)
	}
	return ""
}

// restore gives the creator of the match back what the log says about it.
func (spec *MatchSpec) restore(options string) error {
	if spec.Restore == nil || options == "" {
		return nil
	}
	if err := spec.Restore(spec, options); err != nil {
		return fmt.Errorf("its recorded options %q: %w", options, err)
	}
	return nil
}

// updateGuestUsage records the present size of the state and the replay of a guest's match.
func (m *Match) updateGuestUsage() {
	g := m.spec.guest
	if g == nil {
		return
	}
	written := int64(0)
	if m.log.Recorded() {
		written = m.log.Size()
	}
	m.server.guests.Grow(g, int64(m.host.Stats().StateBytes), written, time.Now())
}
