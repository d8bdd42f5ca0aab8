package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A waiting follows whether the match stands, so that clients must be told, or runs, so that they must not. It looks once a
// second.
type waiting struct {
	tick   lockstep.Tick // a second ago
	stands int           // seconds without a tick, though the server runs
	runs   int           // seconds with all ticks
}

// follow looks at the last second.
func (x *waiting) follow(w *world) {
	n := w.oracle.tick() - x.tick
	if w.oracle.tick() < x.tick {
		n = 0 // a crash took ticks back
	}
	x.tick = w.oracle.tick()
	quiet := w.server.ready() && w.now > w.calm+sec && !w.oracle.ended
	if x.stands++; n > 0 || !quiet {
		x.stands = 0
	}
	if x.runs++; n < lockstep.Tick(w.header.Settings.TickRate()) || !quiet {
		x.runs = 0
	}
}

// toldIn is how long after a change a client on a link without faults may show the old one, in seconds.
const toldIn = 3

// seesWait checks what the client shows of a match that stands or runs, and that it notices a silent link.
func (m *machine) seesWait() {
	w := m.w
	if m.liar != nil || m.wire == nil || m.wire.server != w.server || m.client.Stage() != player.StageLive || m.busy > w.now-toldIn*sec || m.cost > 0 || w.oracle.ended {
		return
	}
	held := m.client.Held()
	silent := w.now - max(m.heard, m.called)
	patience := max(750*ms, min(3*lockstep.Time(w.header.Settings.Micros(1)), 2750*ms)) // in slow ticks, answers to pings come first
	switch {
	case held.Reason == "" && silent > patience+750*ms:
		w.fail("I18", "nothing has come to %s for %d ms, and it does not show that", m, silent/ms)
	case held.Reason == player.LinkStalled && silent < 500*ms:
		w.fail("I18", "%s shows that nothing comes, and a message has come %d ms ago", m, silent/ms)
	}
	if m.delayed() || m.plan.Down.bad() || m.wire.down.extra > 0 || m.wire.down.stuck || w.now < m.wellSince()+toldIn*sec || silent > sec {
		return
	}
	switch {
	case w.waiting.stands >= toldIn && w.oracle.tick() == w.waiting.tick && held.Reason == "" && w.now > m.heldAt+sec:
		w.fail("I18", "the match stands for %d s, and %s is not told why", w.waiting.stands, m)
	case w.waiting.runs >= toldIn && held.Reason != "" && w.now > m.heldAt+toldIn*sec && w.plan.Host.Slow == 0:
		w.fail("I18", "the match runs for %d s, and %s shows that it waits: %s", w.waiting.runs, m, held.Reason)
	default:
		w.Counts["waits compared"]++
	}
	if held.Reason != "" {
		w.Counts["told: "+held.Reason]++
	}
}
