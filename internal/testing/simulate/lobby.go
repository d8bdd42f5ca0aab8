package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A LobbyPlan is the lobby of a match.
type LobbyPlan struct {
	Players   int           `json:"players,omitempty"` // who must be there
	Ready     bool          `json:"ready,omitempty"`   // all of them must be ready
	Countdown lockstep.Time `json:"countdown,omitempty"`
	Start     lockstep.Time `json:"start"` // an admin starts the match at this time, if it has not begun
}

// policy returns the policy of the Host.
func (p *LobbyPlan) policy() host.StartPolicy {
	if p == nil {
		return host.StartPolicy{}
	}
	return host.StartPolicy{Players: p.Players, Ready: p.Ready, Countdown: p.Countdown}
}

// expandLobby gives some plans a lobby.
func expandLobby(o *Options, p *Plan) {
	r := stream(p.Seed, "lobby", 0)
	if r.IntN(4) > 0 || o.Calm || p.Chaos < 20*sec {
		return
	}
	p.Host.Lobby = &LobbyPlan{Ready: r.IntN(3) > 0, Start: between(r, 8*sec, 8*sec+min(30*sec, p.Chaos/4)), Countdown: between(r, ms, 4*sec)}
	if r.IntN(4) > 0 {
		p.Host.Lobby.Players = 1 + r.IntN(o.Clients)
	}
	if p.Settings.Players < lockstep.MaxPlayers && o.Subject.Seats == nil && !p.Host.Relay && r.IntN(3) == 0 {
		p.Settings.Players, p.Host.Bots = p.Settings.Players+1, 1
	}
	for i := range p.Machines {
		if m := &p.Machines[i]; !m.Spectator {
			m.Ready = between(stream(p.Seed, "ready", i), 0, 6*sec)
		}
	}
}

// hasten lets the first of the faults of a kind start in the lobby, where they are most likely to do harm.
func (p *Plan) hasten(faults []Fault) {
	if l := p.Host.Lobby; l != nil && len(faults) > 0 && !isAttack(faults[0].Kind) {
		f := &faults[0]
		f.At = early + (f.At-early)%(l.Start-early)
	}
}

// A lobby follows the lobby of a match in its log.
type lobby struct {
	ordered bool          // an admin has started the match
	met     lockstep.Time // since when the match may begin according to the log, but for visits shorter than lobbySlack
	parted  lockstep.Time // since when it may not; 0: it may
	again   lockstep.Time // when it last became so that it may
}

// follow follows a record of the log. It had a number of ticks before.
func (l *lobby) follow(w *world, before lockstep.Tick) {
	if w.plan.Host.Lobby == nil || before > 0 {
		return
	}
	if w.oracle.tick() > 0 {
		l.begun(w)
		return
	}
	switch may := w.mayBegin(); {
	case !may && l.parted == 0:
		l.parted = w.now
	case may && l.parted > 0:
		if w.now > l.parted+lobbySlack {
			l.met = w.now
		}
		l.parted, l.again = 0, w.now
	}
}

// mayBegin reports whether the players who are there let the match begin, according to the log.
func (w *world) mayBegin() bool {
	p := w.plan.Host.Lobby
	need := p.Players
	if need == 0 && p.Ready {
		need = int(w.plan.Settings.Players) - w.plan.Host.Bots
	}
	for _, s := range w.oracle.seating.at(len(w.oracle.now().records)) {
		if s.presence != record.PresenceHere {
			continue
		}
		if need--; p.Ready && !s.ready {
			return false
		}
	}
	return need <= 0
}

// lobbySlack is how long the host may not notice a change.
const lobbySlack = 50 * ms

// begun checks the first tick of a match with a lobby.
func (l *lobby) begun(w *world) {
	p := w.plan.Host.Lobby
	switch {
	case p == nil || w.oracle.seating.full(w):
	case l.ordered:
		w.count("lobby ended by an admin")
	case l.parted > 0 && w.now > l.parted+lobbySlack:
		w.fail("I16", "the match has begun, and the players who are there do not let it")
	case w.now+lobbySlack < l.met+p.Countdown:
		w.fail("I16", "the match has begun %d ms after the players let it, want %d", (w.now-l.met)/ms, p.Countdown/ms)
	default:
		w.count("lobby ended by its players")
	}
}

// inLobby reports whether the match has not begun, and checks that it does as soon as it may.
func (w *world) inLobby() bool {
	p, l := w.plan.Host.Lobby, &w.lobby
	if p == nil || w.oracle.tick() > 0 {
		return false
	}
	s := w.server
	if !s.ready() || s.host.Err() != nil || w.oracle.ended {
		return true
	}
	if w.now >= w.start+p.Start && s.host.Status().InLobby {
		l.ordered = true
		if err := s.host.Admin().Start(w.now); err != nil {
			w.fail("I16", "an admin cannot start the match: %v", err)
		}
		s.after()
	}
	since, may := max(l.again+p.Countdown, w.calm, w.orders), l.parted == 0
	if l.ordered {
		since, may = max(w.start+p.Start, w.calm, w.orders), true
	}
	if may && w.now > since+2*sec && w.oracle.tick() == 0 && s.ready() && w.plan.Host.Wait == 0 && !w.oracle.seating.full(w) {
		w.fail("I16", "the match may begin for %d ms, and does not", (w.now-since)/ms)
	}
	return true
}

// says makes a player say that it is ready, or not.
func (m *machine) says(ready bool) {
	m.readyAt = never
	m.client.SetReady(ready)
	m.events()
}

// willBeReady lets the player be ready some time after the program's start.
func (m *machine) willBeReady() {
	if m.readyAt = never; m.w.plan.Host.Lobby != nil && m.seat != lockstep.System {
		m.readyAt = m.w.now + m.plan.Ready
	}
}

// lobbyKinds are the faults of players in a lobby.
var lobbyKinds = []kind{
	{name: "waver", group: "client", perHour: 120, low: 100 * ms, high: 4 * sec, needs: hasLobby, inject: func(w *world, m *machine, _ *Fault) bool {
		if m.dead > 0 || m.seat == lockstep.System {
			return false
		}
		m.says(false)
		return true
	}, restores: func(_ *world, m *machine, _ *Fault) {
		if m.dead == 0 && m.seat != lockstep.System {
			m.says(true)
		}
	}},
}

func hasLobby(w *world, _ *machine) bool { return w.plan.Host.Lobby != nil }
