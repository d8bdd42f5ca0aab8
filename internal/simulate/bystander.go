package simulate

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// lateness is by how much a bystander may be later than its link explains, with
// every tick and with its welcome. In runs without any fault a tick is at most 179
// ms later, which is the time that a client takes to smooth the jitter of its link.
const lateness = 250 * ms

// isBystander reports whether nothing in a plan explains that a machine is late or
// loses its connection: an honest player on a good link, whom no fault touches, of
// a match whose server none touches, and which waits for nobody.
func (p *Plan) isBystander(who int) bool {
	m, h := &p.Machines[who], &p.Host
	if m.Liar || m.Spectator || m.Absent || m.Up.bad() || m.Down.bad() || h.Relay || h.Wait > 0 || h.Slow > 0 {
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
	w.quiet, w.sealed = w.plan.Host.Wait == 0 && w.plan.Host.Slow == 0, append(w.sealed, w.now)
	for i := range w.plan.Faults {
		w.quiet = w.quiet && !slices.Contains([]string{"server", "disk", "admin"}, kindNamed(w.plan.Faults[i].Kind).group)
	}
	for i, m := range w.machines {
		m.bystander = w.plan.isBystander(i)
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

// ran looks at how late a bystander has run a tick.
func (m *machine) ran(t lockstep.Tick) {
	if !m.bystander || m.stage != lockstep.StageLive || int(t) >= len(m.w.sealed) {
		return
	}
	late := m.w.now - m.w.sealed[t] - m.plan.Down.trip()
	m.w.late = max(m.w.late, late)
	if late > lateness {
		m.harmed("has run tick %d %d ms late", t, late/ms)
	}
}

// waits looks at what a bystander waits for: its welcome, or the next tick.
func (m *machine) waits() {
	if !m.bystander || m.client == nil || m.dead > 0 {
		return
	}
	w := m.w
	if m.wire != nil && !m.greeted && w.now > m.called+m.plan.Up.trip()+m.plan.Down.trip()+lateness {
		m.harmed("was not welcomed for %d ms", (w.now-m.called)/ms)
	}
	if m.called > 0 && m.stage != lockstep.StageLive && w.now > m.called+m.joining() {
		m.harmed("is %v, %d ms after it came", m.stage, (w.now-m.called)/ms)
	}
	if next := int(m.client.Tick()) + 1; m.stage == lockstep.StageLive && next < len(w.sealed) && w.now > w.sealed[next]+m.plan.Down.trip()+lateness {
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
	period := sec / lockstep.Time(w.header.Settings.TickRate)
	if w.quiet && t > 1 && w.now > w.sealed[t-1]+period+lateness {
		w.fail("I13", "tick %d was sealed %d ms after the one before", t, (w.now-w.sealed[t-1])/ms)
	}
}
