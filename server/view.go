package server

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A View is the public description of a match.
type View struct {
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
	State         string            `json:"state"`                 // recovering, failed, lobby, playing, paused, held or ended
	Tick          lockstep.Tick     `json:"tick"`
	Players       []PlayerView      `json:"players"`            // of the seats that somebody has
	BotKind       string            `json:"bot,omitempty"`      // see MatchSpec.BotKind
	Tokens        []Invitation      `json:"tokens,omitempty"`   // only in the answer to its creation
	Affected      *affected         `json:"affected,omitempty"` // only in the answer to a kick or a ban
	Paused        bool              `json:"paused,omitempty"`
	Held          string            `json:"held,omitempty"`    // why it is held; "" if it is not
	Waiting       *WaitView         `json:"waiting,omitempty"` // why it stands still or runs slower, as its players are told
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

	roles [protocol.Admin + 1]int // authenticated connections
}

// affected is the JSON of what a call of an admin has ended.
type affected struct {
	host.Ended
	Message string `json:"message,omitempty"` // if that is nothing
}

// A WaitView says why a match stands still or runs slower.
type WaitView struct {
	Reason string `json:"reason"`
	Seats  []int  `json:"seats"` // whom it waits for
	Since  string `json:"since"` // RFC 3339, UTC
	Until  string `json:"until,omitempty"`
}

// newWaitView returns the view of a wait, or nil for none. epoch is time 0 of the host.
func newWaitView(w host.Wait, epoch time.Time) *WaitView {
	if w.Reason == "" {
		return nil
	}
	at := func(t lockstep.Time) string {
		return epoch.Add(time.Duration(t) * time.Microsecond).UTC().Format(time.RFC3339)
	}
	v := &WaitView{Reason: w.Reason, Seats: []int{}, Since: at(w.Since)}
	for _, p := range w.Players {
		v.Seats = append(v.Seats, int(p))
	}
	if w.Until > 0 {
		v.Until = at(w.Until)
	}
	return v
}

// A PlayerView is the public description of a player.
type PlayerView struct {
	Seat  lockstep.Player `json:"seat"`
	Name  string          `json:"name"`
	State string          `json:"state"` // joining, playing, away, taken_over or bot
}

// newView returns the view of a match that does not run yet.
func newView(m *Match, h *lockstep.Header, state matchState) *View {
	a := protocol.NewAuth(m.spec.Game)
	v := &View{
		Name: m.spec.Name, Protocol: h.Protocol, Engine: a.Engine, Game: a.Game, Build: a.Build,
		StateSchema: a.StateSchema, CommandSchema: a.CommandSchema, SelfTest: selfTestText(a.SelfTest), Match: h.Match.String(), Settings: h.Settings,
		State: state.String(), Players: []PlayerView{},
	}
	v.Rules = m.rulesSum()
	v.disclosed = disclosure.Secret // until its log says more
	if m.host != nil {
		if v.disclosed = m.host.Disclosure(); v.disclosed.Views {
			v.PlayersSee = "views"
		}
	}
	v.Settings = v.disclosed.Settings(disclosure.Spectator, v.Settings)
	return v
}

// publish updates the match's view and the metrics.
func (m *Match) publish() {
	h, status := m.host.Header(), m.host.Status()
	v := newView(m, h, matchPlaying)
	v.Tick, v.Paused, v.Held, v.Stats = m.host.Now(), m.holds.Paused() || status.Paused, status.Held, m.host.Stats()
	v.BotKind = m.spec.BotKind
	v.inLobby, v.GraceMS = status.InLobby, uint32(status.Grace.Milliseconds())
	for _, p := range m.host.Info().Seats() {
		v.Players = append(v.Players, PlayerView{p.Seat, p.Name, p.State.String()})
	}
	peers := m.host.Info().Peers()
	v.roles = countRoles(peers)
	for _, p := range peers {
		if p.Seat != lockstep.System {
			v.SlowestRTT = max(v.SlowestRTT, p.RTT)
		}
	}
	v.over = status.LogEnded
	if v.Ended = status.EndReason; v.Ended == "" {
		v.Waiting = newWaitView(status.Wait, m.epoch)
	}
	result, byRules := m.host.Result()
	v.EndedByRules, v.Result = byRules, json.RawMessage(h.ResultJSON(result))
	v.State = v.state().String()
	m.server.metrics.count(&m.counted, &v.Stats)
	m.counted = v.Stats
	m.updateGuestUsage()
	m.updateMemoryBound(v.Stats.StateBytes)
	m.view.Store(v)
}

// measured returns the load of the match. Its goroutine calls it.
func (m *Match) measured() *loadView {
	v := m.load.view()
	v.Memory = memoryView{State: m.host.Stats().StateBytes, MemoryParts: m.host.Info().MemoryParts(), Bound: int(m.memoryBound.Load())}
	if r := m.host.Referee(); r != nil {
		v.Memory.PastStates = r.Memory()
	}
	return &v
}

// state returns the state of a match that has started.
func (v *View) state() matchState {
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

// selfTestText returns the sums of a self-test in decimal, in the order of the message auth.
func selfTestText(t lockstep.SelfTest) []string {
	var text []string
	for _, v := range []uint64{t.Integers, t.Layout, t.Checksums, t.Records, t.Game} {
		text = append(text, strconv.FormatUint(v, 10))
	}
	return text
}

// View returns the match's latest view, which is at most a second old.
func (m *Match) View() View { return *m.view.Load() }

// count adds what a match has done between two moments.
func (to *metrics) count(before, s *host.Stats) {
	to.ticks.Add(float64(s.Ticks - before.Ticks))
	to.skipped.Add(float64(s.Skipped - before.Skipped))
	to.received.Add(float64(s.BytesIn - before.BytesIn))
	to.sent.Add(float64(s.BytesOut - before.BytesOut))
	to.syncBytes.Add(float64(s.SyncBytes - before.SyncBytes))
	to.datagrams.Add(float64(s.Datagrams - before.Datagrams))
	to.lost.Add(float64(s.DatagramsLost - before.DatagramsLost))
	to.repeated.Add(float64(s.RepeatBytes - before.RepeatBytes))
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

// countRoles counts the authenticated connections by role.
func countRoles(peers []host.PeerInfo) (n [protocol.Admin + 1]int) {
	for _, p := range peers {
		if p.State != host.Connecting && p.State != host.Closed {
			n[p.Role]++
		}
	}
	return n
}

// An Invitation is a token for one seat of one match, besides those of the server's [Authorizer]. The server draws it.
type Invitation struct {
	Seat  lockstep.Player `json:"seat"`
	Token string          `json:"token"`
}
