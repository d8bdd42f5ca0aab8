package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// idle is how long a player has given no command.
type idle struct {
	silent lockstep.Time // it gives none before
	tick   lockstep.Tick // of its last accepted command …
	epoch  int           // … in this epoch
	warned bool          // on this connection, that it loses its seat without a command
	closed bool          // the server has ended its connection because of that …
	at     lockstep.Time // … at this time, the last time
}

// active notes an accepted command.
func (i *idle) active(t lockstep.Tick, epoch int) {
	if epoch != i.epoch {
		i.tick, i.epoch = 0, epoch
	}
	i.tick = max(i.tick, t)
}

// inactive returns the policy of the Host.
func (p *HostPlan) inactive() host.InactivePolicy {
	if p.Inactive == 0 {
		return host.InactivePolicy{After: -1}
	}
	then := host.TakeOverInactive
	if p.RemoveInactive {
		then = host.RemoveInactive
	}
	return host.InactivePolicy{After: p.Inactive, Then: then}
}

// chatty reports whether the player gives commands. Where inactive players lose their connection, it also gives some after
// the faults, until shortly before the end: all must have answers then.
func (m *machine) chatty() bool {
	w := m.w
	end := w.start + w.plan.Chaos + w.plan.Heal - 2*sec
	return w.now >= m.idle.silent && !m.client.Held().InLobby() && (w.chaos || w.plan.Host.Inactive > 0 && w.now < end)
}

// idled checks that a player who was closed as inactive was inactive: its last command is as old as the policy says, but
// for the input delay, which plans limit.
func (m *machine) idled() {
	w := m.w
	m.idle.closed, m.idle.at = true, w.now
	after := lockstep.Tick(w.header.Settings.TicksIn(int64(w.plan.Host.Inactive)))
	switch {
	case m.liar != nil || m.wire == nil:
	case w.plan.Host.Inactive == 0:
		w.fail("I7", "honest %s was closed as inactive, and there is no such policy", m)
	case !m.idle.warned:
		w.fail("I7", "%s was closed as inactive without a warning", m)
	case m.idle.epoch == m.wire.epoch && m.idle.tick > 0 && w.oracle.tick() < m.idle.tick-min(m.idle.tick, sayLeft)+after:
		w.fail("I7", "%s was closed as inactive at tick %d, and its last command is in tick %d", m, w.oracle.tick(), m.idle.tick)
	}
}
