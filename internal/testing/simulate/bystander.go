package simulate

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// lateness is by how much a bystander may be later than its link explains, with
// every tick and with its welcome. In runs without any fault a tick is at most 179
// ms later, which is the time that a client takes to smooth the jitter of its link.
const lateness = 250 * ms

// allowed is lateness; or 600 ms where the match waits for players or is slower for
// them, as a client smooths that for half a second at most (PaceOptions.MaxDelay).
func (w *world) allowed() lockstep.Time {
	if w.plan.Host.Wait > 0 || w.plan.Host.Slow > 0 {
		return 600 * ms
	}
	return lateness
}

// isBystander reports whether nothing in a plan explains that a machine is late or
// loses its connection: an honest player on a good link, whom no fault touches, of
// a match whose server none touches, and which waits for others within limits.
func (p *Plan) isBystander(who int) bool {
	m, h := &p.Machines[who], &p.Host
	if m.Liar || m.Spectator || m.Absent || m.Up.bad() || m.Down.bad() || h.Relay || !h.Limits && (h.Wait > 0 || h.Slow > 0) {
		return false
	}
	for i := range p.Faults {
		f := &p.Faults[i]
		switch kindNamed(f.Kind).group {
		case "server", "disk", "admin":
			return false
		case "network", "client":
			if f.Who == who {
				return false
			}
		}
	}
	return true
}

// watch begins to look at the bystanders, and at whether the match is in time.
func (w *world) watch() {
	w.ledger, w.quiet, w.sealed = newLedger(w), true, append(w.sealed, w.now)
	for i := range w.plan.Faults {
		k := kindNamed(w.plan.Faults[i].Kind)
		w.quiet = w.quiet && !slices.Contains([]string{"server", "disk", "admin"}, k.group)
		if k.group == "hands" && !k.liar {
			w.others++ // a visitor may take a seat, and be away
		}
	}
	for i, m := range w.machines {
		m.bystander = w.plan.isBystander(i)
		switch {
		case m.plan.Absent || m.plan.Spectator:
		case !m.bystander:
			w.others++
		case m.plan.JoinAt == 0:
			w.early++
		}
	}
}

// bad reports whether a link alone can make somebody late.
func (l *Link) bad() bool { return l.Loss > 0 || l.Rate > 0 || l.Delay > 100*ms }

// trip is how long a message takes at most.
func (l *Link) trip() lockstep.Time { return l.Delay + l.Jitter }

// harmed notes that a bystander has suffered.
func (m *machine) harmed(format string, args ...any) {
	if m.bystander && !m.w.oracle.ended {
		m.w.fail("I13", "%s, on a good link, "+format, append([]any{m}, args...)...)
	}
}

// rejected looks at a command that does not run. A player whose seat had another one
// before has it when a tick has said so, for which a match that waits takes a while.
func (m *machine) rejected(r lockstep.Receipt) {
	if r.Reason != lockstep.Refused && (r.Reason != lockstep.NotSeated || m.w.plan.Host.Wait == 0) {
		m.harmed("was told that command %d is rejected: %s", r.Sequence, r.Err())
	}
}

// ran looks at how late a bystander has run a tick.
func (m *machine) ran(t lockstep.Tick) {
	if !m.bystander || m.stage != player.StageLive || int(t) >= len(m.w.sealed) {
		return
	}
	late := m.w.now - m.w.sealed[t] - m.plan.Down.trip()
	m.w.late = max(m.w.late, late)
	if late > m.w.allowed() {
		m.harmed("has run tick %d %d ms late", t, late/ms)
	}
}

// waits looks at what a bystander waits for: its welcome, or the next tick.
func (m *machine) waits() {
	if !m.bystander || m.client == nil || m.dead > 0 {
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

// joining is how long a bystander takes at most until it plays: it waits for the
// next keyframe, is sent that, and catches up.
func (m *machine) joining() lockstep.Time {
	h, rate := &m.w.plan.Host, lockstep.Time(m.w.header.Settings.TickRate)
	sending := lockstep.Time(0)
	if h.SyncBytes > 0 {
		sending = lockstep.Time(m.w.stateBytes()/h.SyncBytes+1) * sec / rate
	}
	return 2*h.Keyframes + sending + 5*sec
}

// seal notes when a tick was sealed, and that it was in time.
func (w *world) seal(t lockstep.Tick) {
	w.sealed = append(w.sealed[:min(int(t), len(w.sealed))], w.now)
	period, h := sec/lockstep.Time(w.header.Settings.TickRate), &w.plan.Host
	if h.Wait > 0 || h.Slow > 0 {
		w.lost(w.now - w.start - lockstep.Time(t)*period)
		return
	}
	if w.quiet && t > 1 && w.now > w.sealed[t-1]+period+lateness {
		w.fail("I13", "tick %d was sealed %d ms after the one before", t, (w.now-w.sealed[t-1])/ms)
	}
}

// lost looks at how much time the match has lost because it waits for players or is
// slower for them: no more than one of them may cost, or twice that for all.
func (w *world) lost(lost lockstep.Time) {
	if !w.quiet || !w.plan.Host.Limits || w.early < 2 {
		return // who is alone may take any time
	}
	most := lateness + 6*sec + (w.now-w.start)/10
	if w.others > 1 {
		most *= 2
	}
	if lost > most {
		w.fail("I14", "the match has lost %d ms for its players, want at most %d", lost/ms, most/ms)
	}
}
