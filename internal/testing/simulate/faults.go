package simulate

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// kinds are all kinds of faults. An inject function reports whether it had an effect.
var kinds = slices.Concat(networkKinds, clientKinds, serverKinds, diskKinds, strangerKinds, liarKinds(), attackKinds(), substituteKinds, lobbyKinds, clusterKinds, datagramKinds)

var networkKinds = []kind{
	{name: "cut", group: "network", perHour: 120, n: 1 << 40, needs: connected, inject: func(w *world, m *machine, f *Fault) bool {
		m.wire.cut(int(f.N%8), int(f.N/8%32))
		return true
	}},
	{name: "half-open", group: "network", perHour: 60, needs: connected, inject: func(w *world, m *machine, f *Fault) bool {
		m.wire.sever()
		return true
	}},
	{name: "partition", group: "network", perHour: 40, low: sec, high: 40 * sec, inject: func(w *world, m *machine, f *Fault) bool {
		m.offline = max(m.offline, w.now+f.For)
		if m.wire != nil {
			m.wire.sever()
		}
		return true
	}},
	{name: "one-way up", group: "network", perHour: 40, low: 100 * ms, high: 20 * sec, needs: connected, inject: stick(true, false), restores: unstick(true, false)},
	{name: "one-way down", group: "network", perHour: 40, low: 100 * ms, high: 20 * sec, needs: connected, inject: stick(false, true), restores: unstick(false, true)},
	{name: "clog", group: "network", perHour: 120, low: 50 * ms, high: 8 * sec, needs: connected, inject: stick(true, true), restores: unstick(true, true)},
	{name: "late", group: "network", perHour: 120, low: 50 * ms, high: 5 * sec, n: 1500, needs: connected, inject: func(w *world, m *machine, f *Fault) bool {
		m.wire.down.extra, m.wire.up.extra = lockstep.Time(f.N)*ms, lockstep.Time(f.N)*ms/2
		return true
	}, restores: func(w *world, m *machine, f *Fault) {
		m.wire.down.extra, m.wire.up.extra = 0, 0
	}},
	{name: "trickle", group: "network", perHour: 20, low: 5 * sec, high: 30 * sec, n: 4000, needs: connected, inject: func(w *world, m *machine, f *Fault) bool {
		m.wire.down.link.Rate = 1 + f.N
		return true
	}, restores: func(w *world, m *machine, f *Fault) {
		m.wire.down.link.Rate = m.plan.Down.Rate
		m.wire.down.quicken(w.now)
	}},
}

func stick(up, down bool) func(*world, *machine, *Fault) bool {
	return func(w *world, m *machine, f *Fault) bool {
		m.wire.up.stuck, m.wire.down.stuck = m.wire.up.stuck || up, m.wire.down.stuck || down
		return true
	}
}

func unstick(up, down bool) func(*world, *machine, *Fault) {
	return func(w *world, m *machine, f *Fault) {
		m.wire.up.stuck, m.wire.down.stuck = m.wire.up.stuck && !up, m.wire.down.stuck && !down
	}
}

var clientKinds = []kind{
	{name: "client crash", group: "client", perHour: 40, low: 100 * ms, high: 30 * sec, inject: func(w *world, m *machine, f *Fault) bool {
		if m.dead > 0 {
			return false
		}
		w.Crashes++
		m.kill(int(f.N))
		m.dead = w.now + f.For
		return true
	}, n: 16},
	{name: "client pause", group: "client", perHour: 40, low: 100 * ms, high: 20 * sec, inject: func(w *world, m *machine, f *Fault) bool {
		m.busy = max(m.busy, w.now+f.For)
		return true
	}},
	{name: "client clock", group: "client", perHour: 60, n: int64(7200 * sec), inject: func(w *world, m *machine, f *Fault) bool {
		m.busy = max(m.busy, w.now) // so that nobody wonders that it cannot tell how long its link is silent
		if m.offset += lockstep.Time(f.N) - 3600*sec; m.dead == 0 {
			m.client.Advance(m.clock()) // waiting programs measure durations, not clock times
			m.events()
		}
		return true
	}},
	{name: "slow machine", group: "client", perHour: 20, low: 2 * sec, high: 30 * sec, n: 150, inject: func(w *world, m *machine, f *Fault) bool {
		m.cost = lockstep.Time(f.N) * ms
		return true
	}, restores: func(w *world, m *machine, f *Fault) { m.cost = 0 }},
	{name: "flip", group: "client", perHour: 60, inject: func(w *world, m *machine, f *Fault) bool { return m.flip(w.dice(f)) }},
	{name: "silence", group: "client", perHour: 240, low: 8 * sec, high: 16 * sec, inject: func(w *world, m *machine, f *Fault) bool {
		m.idle.silent = w.now + f.For
		return w.plan.Host.Inactive > 0
	}},
	{name: "leave", group: "client", perHour: 20, inject: func(w *world, m *machine, f *Fault) bool {
		if m.dead > 0 || m.client.Stage() != player.StageLive {
			return false
		}
		m.client.Leave("the plan says so")
		m.events()
		return true
	}},
}

// flip inverts a bit of the client's state.
func (m *machine) flip(r *rand.Rand) bool {
	if m.dead > 0 || m.liar != nil || m.truth.wrong {
		return false
	}
	s := m.client.Simulation()
	if s == nil || m.client.Stage() != player.StageLive || !m.w.oracle.stands(m.truth.epoch, s.Tick()) {
		return false
	}
	if m.w.flip(s, r) {
		m.truth.flip(s.Tick())
		return true
	}
	return false
}

// dice returns the random numbers of a fault.
func (w *world) dice(f *Fault) *rand.Rand { return stream(w.plan.Seed, "fault", f.ID) }

// flip inverts a bit of a state so that the state stays valid.
func (w *world) flip(s *lockstep.Simulation, r *rand.Rand) bool {
	good := s.AppendState(nil)
	for range 20 {
		b := slices.Clone(good)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		if s.Restore(s.Tick(), b) == nil {
			return true
		}
	}
	if err := s.Restore(s.Tick(), good); err != nil {
		w.fail("I10", "a state cannot be restored: %v", err)
	}
	return false
}

// trickKind returns the inject function of a trick.
func trickKind(t trick) func(*world, *machine, *Fault) bool {
	return func(w *world, m *machine, f *Fault) bool {
		if m.liar == nil || m.dead > 0 {
			return false
		}
		m.liar.begin(t, f.For)
		return true
	}
}

// liarKinds returns one kind per trick.
func liarKinds() (all []kind) {
	for t := range tricks {
		if t == trickSecond || t == trickPace {
			continue // part of an attack on limits
		}
		all = append(all, kind{name: "liar: " + trickNames[t], group: "byzantine", perHour: 90, low: 500 * ms, high: 10 * sec, liar: true,
			inject: trickKind(t)})
	}
	return append(all, kind{name: "liar: stops reading", group: "byzantine", perHour: 60, low: sec, high: 40 * sec, liar: true, needs: connected,
		inject: func(w *world, m *machine, f *Fault) bool {
			m.wire.deaf = true
			return true
		}, restores: func(w *world, m *machine, f *Fault) { m.wire.deaf = false }})
}

// A restore undoes a fault.
type restore struct {
	at    lockstep.Time
	fault *Fault
	kind  *kind
}

// faults injects the faults that are due, and undoes those that end.
func (w *world) faults() {
	for i := 0; i < len(w.restores); {
		r := w.restores[i]
		if r.at > w.now {
			i++
			continue
		}
		w.restores = append(w.restores[:i], w.restores[i+1:]...)
		w.undo(&r)
	}
	for w.chaos && w.faultAt < len(w.plan.Faults) && w.start+w.plan.Faults[w.faultAt].At <= w.now {
		f := &w.plan.Faults[w.faultAt]
		w.faultAt++
		w.inject(f)
	}
}

func (w *world) undo(r *restore) {
	m := w.machines[r.fault.Who]
	if r.kind.needs == nil || r.kind.needs(w, m) {
		r.kind.restores(w, m, r.fault)
	}
	w.remember(traceFault, m.index, 0, "the end of "+r.fault.Kind)
	m.touch()
	w.wakeWires = true
}

func (w *world) inject(f *Fault) {
	k := kindNamed(f.Kind)
	m := w.machines[f.Who]
	if k.liar && m.liar == nil || (k.group == "client" || k.group == "network") && m.plan.Absent || k.needs != nil && !k.needs(w, m) || !k.inject(w, m, f) {
		return
	}
	w.Injected[f.Kind]++
	w.remember(traceFault, m.index, 0, f.Kind)
	var id [9]byte
	binary.LittleEndian.PutUint64(id[1:], uint64(f.ID))
	id[0] = byte(traceFault)
	w.hash.Write(id[:])
	if k.restores != nil {
		w.restores = append(w.restores, restore{w.now + f.For, f, k})
	}
	if k.group == "network" || k.group == "client" {
		m.calm = max(m.calm, w.now+f.For)
	} else if k.group == "admin" {
		w.orders = max(w.orders, w.now+f.For)
	} else if k.group != "byzantine" && k.group != "substitute" {
		w.trouble(w.now + f.For)
	}
	m.touch()
	w.wakeWires = true
}

// kindNamed returns a kind of fault; nil if there is none.
func kindNamed(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}
