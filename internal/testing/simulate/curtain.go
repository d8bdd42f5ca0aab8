package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A curtain checks what spectators are sent of a match that they see later than
// its players do.
type curtain struct {
	delay  lockstep.Tick
	lifted lockstep.Time // since when there is something behind it: after a crash not at once
}

// delayed reports whether a machine sees the match later than it is.
func (m *machine) delayed() bool { return m.plan.Spectator && m.w.curtain.delay > 0 }

// present returns the last tick that a machine could know of.
func (m *machine) present() lockstep.Tick {
	t := m.w.oracle.tick()
	if m.delayed() {
		t -= min(t, m.w.curtain.delay)
	}
	return t
}

// wellSince returns since when nothing was wrong with what a machine needs.
func (m *machine) wellSince() lockstep.Time {
	since := max(m.calm, m.w.calm, m.born, m.w.relay.alone)
	if m.delayed() {
		since = max(since, m.w.curtain.lifted)
	}
	return since
}

// drop hides all that was, of a match that goes on after a crash.
func (c *curtain) drop() {
	if c.delay > 0 {
		c.lifted = never
	}
}

// lift notes when there is something to see again.
func (c *curtain) lift(w *world) {
	if c.lifted == never && w.oracle.tick() >= w.oracle.now().from+c.delay {
		c.lifted = w.now
	}
}

// A lookout is where a connection stands in the stream, by what was given to its
// socket.
type lookout struct {
	tap
	seated bool // it is a player's
}

// sent checks a message when the host gives it to a connection that is not a
// player's: until the match has ended, nothing in it is younger than the delay
// allows.
func (c *curtain) sent(w *world, wire *wire, b []byte) {
	o, l := w.oracle, &wire.lookout
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

// keyframeOf returns the tick of a state as it is sent, the checksum that it is
// said to have, and the last sequences in it.
func keyframeOf(state []byte) (t lockstep.Tick, root uint64, last map[uint8]uint32, err error) {
	_, keyframe, err := first(state)
	p := packed{b: keyframe, err: err}
	p.array()
	p.uint()
	t, root = lockstep.Tick(p.uint()), p.uint()
	last = map[uint8]uint32{}
	for n := p.array() / 2; n > 0 && p.err == nil; n-- {
		last[uint8(p.uint())] = uint32(p.uint())
	}
	return t, root, last, p.err
}
