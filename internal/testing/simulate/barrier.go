package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A barrier checks that delayed spectators receive nothing early.
type barrier struct {
	delay        lockstep.Tick
	visibleSince lockstep.Time // since when spectators have something to see; never after a crash, at first
}

// delayed reports whether a machine is a delayed spectator.
func (m *machine) delayed() bool { return m.plan.Spectator && m.w.barrier.delay > 0 }

// present returns the last tick that a machine may know.
func (m *machine) present() lockstep.Tick {
	t := m.w.oracle.tick()
	if m.delayed() {
		t -= min(t, m.w.barrier.delay)
	}
	return t
}

// wellSince returns since when nothing has disturbed a machine or the server.
func (m *machine) wellSince() lockstep.Time {
	since := max(m.calm, m.w.calm, m.startedAt, m.w.relay.alone)
	if m.delayed() {
		since = max(since, m.w.barrier.visibleSince)
	}
	return since
}

// hide hides the ticks before a crash from delayed spectators.
func (c *barrier) hide() {
	if c.delay > 0 {
		c.visibleSince = never
	}
}

// update records when delayed spectators have something to see again.
func (c *barrier) update(w *world) {
	if c.visibleSince == never && w.oracle.tick() >= w.oracle.now().from+c.delay {
		c.visibleSince = w.now
	}
}

// A spectatorTap follows the stream of a connection as the server sends it.
type spectatorTap struct {
	tap
	seated bool // the connection is a player's
}

// sent checks a message that the host sends to a spectator: until the match has
// ended, nothing in it is younger than the delay allows.
func (c *barrier) sent(w *world, wire *wire, b []byte) {
	o, l := w.oracle, &wire.spectatorTap
	if c.delay == 0 || o.ended || wire.m != nil && !wire.m.plan.Spectator {
		return
	}
	h, now := o.now(), o.tick()
	limit := now - min(now, c.delay)
	young := func(what string, t lockstep.Tick) {
		if t > limit && !l.seated {
			w.fail("I12", "a spectator, %v, was sent %s of tick %d at tick %d, want %d ticks later", wire.m, what, t, now, c.delay)
		}
	}
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			_, rest, err := first(b)
			if err != nil || l.at >= len(h.ticks) {
				w.fail("I4", "%v is sent record %d of %d: %v", wire.m, l.at, len(h.ticks), err)
				return
			}
			young("a record", h.ticks[l.at])
			l.at++
			b = rest
			continue
		}
		rest, err := l.reader.Read(&l.m, b)
		if err != nil {
			w.fail("I4", "%v is sent bytes that are no message: %v", wire.m, err)
			return
		}
		b = rest
		young("a message", l.m.Tick)
		if welcome := l.m.Welcome; welcome != nil {
			l.seated = welcome.Seat != lockstep.System
			young("a welcome", welcome.Tick)
		}
		if state := l.message(); state != nil {
			t, _, _, err := keyframeOf(state)
			if err != nil {
				w.fail("I4", "%v is sent a state that is none: %v", wire.m, err)
				return
			}
			young("a state", t)
			young("a place in the stream", h.ticks[l.at-1])
		}
	}
}

// keyframeOf returns the tick, the checksum and the last sequences of a keyframe.
func keyframeOf(state []byte) (t lockstep.Tick, hash uint64, last map[uint8]uint32, err error) {
	_, keyframe, err := first(state)
	p := packed{b: keyframe, err: err}
	p.array()
	p.uint()
	t, hash = lockstep.Tick(p.uint()), p.uint()
	last = map[uint8]uint32{}
	for n := p.array() / 2; n > 0 && p.err == nil; n-- {
		last[uint8(p.uint())] = uint32(p.uint())
	}
	return t, hash, last, p.err
}
