package simulate

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// lateness is how much later than its link explains an unaffected client may run a
// tick or get its welcome. In runs without faults a tick is at most 179 ms late,
// because clients smooth the jitter of their links.
const lateness = 250 * ms

// allowed returns lateness, or 600 ms if the match waits or slows down for players:
// a client smooths that for up to half a second (player.PacingOptions.MaxDelay). After a
// lobby it is 100 ms more: the first tick was up to 271 ms late, and 655 ms if the match
// waits.
func (w *world) allowed() lockstep.Time {
	most := lateness
	if w.plan.Host.Wait > 0 || w.plan.Host.Slow > 0 {
		most = 600 * ms
	}
	most += w.plan.slowTick()
	if w.plan.Host.Lobby != nil {
		most += 100 * ms
	}
	return most
}

// slowTick returns by how much a tick is longer than usual: the first one, and the one after a wait, come early and run as a whole.
func (p *Plan) slowTick() lockstep.Time {
	return max(0, lockstep.Time(p.Settings.Micros(1))-50*ms)
}

// isUnaffected reports whether nothing in a plan explains that a machine is late or
// loses its connection: it is an honest player of frames on a good link, no fault touches it
// or the server, and the match waits for other players within limits.
func (p *Plan) isUnaffected(who int) bool {
	m, h := &p.Machines[who], &p.Host
	if m.Liar || m.Spectator || m.Views || m.Absent || m.Up.bad() || m.Down.bad() || m.Datagrams.bad() || h.Relay || !h.Limits && (h.Wait > 0 || h.Slow > 0) {
		return false
	}
	for i := range p.Faults {
		f := &p.Faults[i]
		switch kindNamed(f.Kind).group {
		case "server", "disk", "admin", "cluster":
			return false
		case "network", "client":
			if f.Who == who {
				return false
			}
		}
	}
	return true
}

// watchUnaffected starts to check that attacks harm no unaffected client.
func (w *world) watchUnaffected() {
	w.budgets, w.quiet, w.sealed = newBudgets(w), true, append(w.sealed, w.now)
	for i := range w.plan.Faults {
		k := kindNamed(w.plan.Faults[i].Kind)
		w.quiet = w.quiet && !slices.Contains([]string{"server", "disk", "admin", "cluster"}, k.group)
		if k.group == "hands" && !k.liar {
			w.others++ // an attacker may take a seat and go away
		}
	}
	for i, m := range w.machines {
		m.unaffected = w.plan.isUnaffected(i)
		switch {
		case m.plan.Absent || m.plan.Spectator:
		case !m.unaffected:
			w.others++
		case m.plan.JoinAt == 0:
			w.early++
		}
	}
}

// bad reports whether a link alone can make a client late.
func (l *Link) bad() bool { return l.Loss > 0 || l.Rate > 0 || l.Delay > 100*ms }

// trip returns the longest time that a message takes.
func (l *Link) trip() lockstep.Time { return l.Delay + l.Jitter }

// harmed fails the run if the machine is unaffected.
func (m *machine) harmed(format string, args ...any) {
	if m.unaffected && !m.w.oracle.ended {
		m.w.fail("I13", "%s, on a good link, "+format, append([]any{m}, args...)...)
	}
}

// rejected checks a rejected command. A player who replaces another owns the seat
// from the next tick on, and a match that waits or is slow seals that later.
func (m *machine) rejected(r lockstep.Receipt) {
	if r.Reason != lockstep.Refused && r.Reason != lockstep.TooOften && (r.Reason != lockstep.NotSeated || m.w.plan.Host.Wait+m.w.plan.slowTick() == 0) {
		m.harmed("was told that command %d is rejected: %s", r.Sequence, r.Err())
	}
}

// ran checks how late an unaffected client has run a tick.
func (m *machine) ran(t lockstep.Tick) {
	if !m.unaffected || m.stage != player.StageLive || int(t) >= len(m.w.sealed) || m.w.sealed[t] < m.called { // a joiner of a match that stands
		return
	}
	late := m.w.now - m.w.sealed[t] - m.plan.Down.trip()
	if late > m.w.allowed() {
		m.harmed("has run tick %d %d ms late", t, late/ms)
	}
}

// waits checks how long an unaffected client waits for its welcome or the next tick.
func (m *machine) waits() {
	if !m.unaffected || m.client == nil || m.dead > 0 {
		return
	}
	w := m.w
	if m.wire != nil && !m.greeted && w.now > m.called+m.plan.Up.trip()+m.plan.Down.trip()+w.allowed() {
		m.harmed("was not welcomed for %d ms", (w.now-m.called)/ms)
	}
	if m.called > 0 && m.stage != player.StageLive && w.now > m.called+m.joining() {
		m.harmed("is %v, %d ms after it came", m.stage, (w.now-m.called)/ms)
	}
	if next := int(m.client.Tick()) + 1; m.stage == player.StageLive && next < len(w.sealed) && w.now > w.sealed[next]+m.plan.Down.trip()+w.allowed() {
		m.harmed("has not run tick %d, %d ms after it was sealed", next, (w.now-w.sealed[next])/ms)
	}
}

// joining returns how long an unaffected client takes at most until it plays: it
// waits for the next keyframe, receives it, and catches up.
func (m *machine) joining() lockstep.Time {
	h, rate := &m.w.plan.Host, lockstep.Time(m.w.header.Settings.TickRate())
	sending := lockstep.Time(0)
	if h.SyncBytes > 0 {
		sending = lockstep.Time(m.w.stateBytes()/h.SyncBytes+1) * sec / rate
	}
	return 2*h.Keyframes + sending + 5*sec + 5*m.w.plan.slowTick()
}

// seal records when a tick was sealed, and checks that it was on time.
func (w *world) seal(t lockstep.Tick) {
	w.sealed = append(w.sealed[:min(int(t), len(w.sealed))], w.now)
	period, h := sec/lockstep.Time(w.header.Settings.TickRate()), &w.plan.Host
	if t == 1 && h.Lobby != nil {
		w.sealed[0] = w.now - period
	}
	if h.Wait > 0 || h.Slow > 0 {
		w.lost(w.now - w.sealed[0] - lockstep.Time(t)*period)
		return
	}
	if w.quiet && t > 1 && w.now > w.sealed[t-1]+period+lateness {
		w.fail("I13", "tick %d was sealed %d ms after the one before", t, (w.now-w.sealed[t-1])/ms)
	}
}

// lost checks how much time the match has lost because it waits or slows down for
// players: at most the limit of one player, or twice that for several.
func (w *world) lost(lost lockstep.Time) {
	if !w.quiet || !w.plan.Host.Limits || w.early < 2 {
		return // a single player may take any time
	}
	most := lateness + 6*sec + (w.now-w.start)/10
	if w.others > 1 {
		most *= 2
	}
	if lost > most {
		w.fail("I14", "the match has lost %d ms for its players, want at most %d", lost/ms, most/ms)
	}
}
