package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var serverKinds = []kind{
	{name: "server stall", group: "server", perHour: 40, low: 50 * ms, high: 6 * sec, needs: running, inject: func(w *world, _ *machine, f *Fault) bool {
		w.server.stalled = max(w.server.stalled, w.now+f.For)
		return true
	}},
	{name: "server kill", group: "server", perHour: 30, low: 100 * ms, high: 8 * sec, needs: running, inject: func(w *world, _ *machine, f *Fault) bool {
		return w.server.crash(f, false)
	}},
	{name: "power cut", group: "server", perHour: 30, low: sec, high: 10 * sec, needs: running, inject: func(w *world, _ *machine, f *Fault) bool {
		return w.server.crash(f, true)
	}},
	{name: "crash in a write", group: "server", perHour: 30, low: 100 * ms, high: 5 * sec, n: 40, inject: func(w *world, _ *machine, f *Fault) bool {
		return w.server.arm("crash", f)
	}},
	{name: "crash in recovery", group: "server", perHour: 20, low: 100 * ms, high: 5 * sec, n: 3, needs: running, inject: func(w *world, _ *machine, f *Fault) bool {
		w.server.again = 1 + int(f.N)
		return w.server.crash(f, f.N%2 == 0)
	}},
	{name: "shutdown", group: "server", perHour: 20, low: 500 * ms, high: 5 * sec, inject: func(w *world, _ *machine, f *Fault) bool {
		s := w.server
		if !s.ready() || s.host.Err() != nil {
			return false
		}
		s.host.Admin().Shutdown(w.now, f.For)
		s.pump()
		if s.writer.Flush() == nil && s.disk.now.sync() == nil {
			s.flushed, s.durable = w.oracle.tick(), w.oracle.tick()
		}
		return s.crash(f, false)
	}},
	{name: "referee flip", group: "server", perHour: 10, inject: func(w *world, _ *machine, f *Fault) bool {
		return w.flipReferee(w.dice(f))
	}},
	{name: "pause", group: "admin", perHour: 30, low: 10 * ms, high: 40 * sec, inject: func(w *world, m *machine, f *Fault) bool {
		if !w.server.ready() || m.seat == lockstep.System || !w.admin(w.server.host.Admin().Pause(w.now, m.seat)) {
			return false
		}
		w.pausedTo, w.unpause = w.now+f.For, false
		return true
	}, restores: func(w *world, m *machine, f *Fault) {
		w.pausedTo, w.unpause = w.now, true // the match may end earlier
		w.resumeMatch()
	}},
	{name: "speed", group: "admin", perHour: 20, low: sec, high: 10 * sec, n: 150, inject: func(w *world, _ *machine, f *Fault) bool {
		if w.server.ready() && w.admin(w.server.host.Admin().SetSpeed(w.now, 0)) {
			w.fail("I6", "the match was set to a speed of 0 %%")
		}
		return w.server.ready() && w.admin(w.server.host.Admin().SetSpeed(w.now, uint16(50+f.N)))
	}, restores: func(w *world, _ *machine, f *Fault) {
		if w.server.ready() {
			w.admin(w.server.host.Admin().SetSpeed(w.now, 100))
		}
	}},
	{name: "input delay", group: "admin", perHour: 20, n: 8, inject: func(w *world, _ *machine, f *Fault) bool {
		return w.server.ready() && w.admin(w.server.host.Admin().SetInputDelay(w.now, 1+lockstep.Tick(f.N)))
	}},
	{name: "kick", group: "admin", perHour: 10, inject: func(w *world, m *machine, f *Fault) bool {
		if m.wire == nil || !w.server.ready() || m.wire.hostGone {
			return false
		}
		w.kicked[m.index] = true
		kicked := w.server.host.Admin().Kick(w.now, m.wire.id, "by an admin")
		w.server.after()
		return kicked
	}},
}

// crash ends the process until the end of a fault.
func (s *server) crash(f *Fault, cut bool) bool {
	s.restart, s.chance = s.w.now+f.For, s.w.dice(f)
	s.die(cut)
	return true
}

// admin completes the call of an admin.
func (w *world) admin(err error) bool {
	w.server.after()
	return err == nil
}

// resumeMatch ends a pause that is due to end, as soon as the server runs: the file
// keeps the match paused.
func (w *world) resumeMatch() {
	if !w.unpause || !w.server.ready() {
		return
	}
	if w.server.host.Admin().Resume(w.now, lockstep.System) == nil {
		w.unpause = false
		w.server.after()
	}
}

var diskKinds = []kind{
	{name: "EIO", group: "disk", perHour: 15, n: 60, inject: func(w *world, _ *machine, f *Fault) bool { return w.server.arm("eio", f) }},
	{name: "ENOSPC", group: "disk", perHour: 15, n: 60, inject: func(w *world, _ *machine, f *Fault) bool { return w.server.arm("full", f) }},
	{name: "slow sync", group: "disk", perHour: 30, low: sec, high: 10 * sec, n: 2000, inject: func(w *world, _ *machine, f *Fault) bool {
		w.server.disk.slow = lockstep.Time(f.N) * ms
		return true
	}, restores: func(w *world, _ *machine, f *Fault) { w.server.disk.slow = 0 }},
	{name: "bit rot", group: "disk", perHour: 4, inject: func(w *world, _ *machine, f *Fault) bool {
		s := w.server
		if !s.up() || s.rotten {
			return false
		}
		s.chance = w.dice(f)
		s.rotten = s.disk.now.rot(s.chance) >= 0
		s.restart = w.now + sec
		s.die(false) // the recovery finds it
		return s.rotten
	}},
}

// arm makes a later operation of the disk fail.
func (s *server) arm(failure string, f *Fault) bool {
	if !s.up() || s.disk.failAt != 0 || s.rotten || s.host.Err() != nil {
		return false
	}
	s.disk.failAt, s.disk.failure = s.disk.ops+1+int(f.N), failure
	s.chance = s.w.dice(f)
	return true
}

// substituteKinds are the faults of substitutes. The match goes on whatever they do.
var substituteKinds = []kind{
	substituteKind("substitute: panics"), substituteKind("substitute: nonsense"), substituteKind("substitute: flood"),
}

func substituteKind(name string) kind {
	return kind{name: name, group: "substitute", perHour: 60, low: sec, high: 10 * sec, inject: func(w *world, _ *machine, _ *Fault) bool {
		if !w.plan.Host.Substitute {
			return false
		}
		w.substitutes.fault = name
		return true
	}, restores: func(w *world, _ *machine, _ *Fault) { w.substitutes.fault = "" }}
}

var strangerKinds = []kind{
	{name: "stranger: silent", group: "byzantine", perHour: 60, n: 90, inject: func(w *world, m *machine, f *Fault) bool {
		came := false
		for range 1 + f.N {
			came = w.server.connect(nil, "alley") != nil || came
		}
		return came
	}},
	{name: "stranger: noise", group: "byzantine", perHour: 60, inject: func(w *world, m *machine, f *Fault) bool {
		return w.stranger("", noise(w.dice(f), 5000))
	}},
	{name: "stranger: guesses", group: "byzantine", perHour: 60, n: 20, inject: func(w *world, m *machine, f *Fault) bool {
		r := w.dice(f)
		came := false
		for range 1 + f.N {
			a := protocol.NewAuth(w.subject.Game)
			a.Token, a.Position = string(noise(r, 30)), protocol.Position(r.IntN(4000))
			copy(a.Session[:], noise(r, 30))
			came = w.stranger("", auth(a)) || came
		}
		return came
	}},
	{name: "stranger: another build", group: "byzantine", perHour: 30, inject: func(w *world, m *machine, f *Fault) bool {
		a := protocol.NewAuth(w.subject.Game)
		a.Token = m.token
		a.Build += "x"
		return w.stranger("", auth(a))
	}},
	{name: "stranger: a crowd", group: "byzantine", perHour: 30, n: 50, inject: func(w *world, m *machine, f *Fault) bool {
		a := protocol.NewAuth(w.subject.Game)
		a.Token = "watch"
		b := auth(a)
		came := false
		for range 1 + f.N {
			came = w.stranger(a.Token, b) || came // they join and read nothing
		}
		return came
	}},
	{name: "twin", group: "byzantine", perHour: 40, liar: true, inject: func(w *world, m *machine, f *Fault) bool {
		a := protocol.NewAuth(w.subject.Game)
		a.Token = m.token
		b := auth(a)
		first := w.stranger(a.Token, b)
		return first && w.stranger(a.Token, b) // three connections of one seat at one instant
	}},
}

func auth(a *protocol.Auth) []byte {
	var w protocol.Writer
	return w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
}

// stranger connects, sends one message, perhaps with a token, and reads nothing.
func (w *world) stranger(token string, b []byte) bool {
	wire := w.server.connect(nil, "alley")
	if wire == nil {
		return false
	}
	wire.token = token
	wire.up.send(w.now, b, &w.spare)
	w.wakeWires = true
	return true
}

// trouble notes that something is wrong with the server up to a time.
func (w *world) trouble(until lockstep.Time) { w.calm = max(w.calm, until) }
