package simulate

import (
	"maps"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// recordMismatch is the kind of the record of a mismatching checksum.
const recordMismatch = 6

// A relay checks a match in relay mode. There the agreed checksum of a tick is
// the one that more than half of the reporters sent. It reads the reports as they
// arrive at the server.
//
// It checks that no report is attributed to the wrong player, that each agreed
// checksum has a majority, that a tie blames nobody, and that a player only receives
// a state with the agreed checksum of its tick. A wrong majority wins: the run counts
// it and ends, as after a crash.
type relay struct {
	on      bool
	reports map[lockstep.Tick][]report
	agreed  map[lockstep.Tick]agreement
	open    *agreement // its mismatches follow
	reader  protocol.Reader
	alone   lockstep.Time // when nobody last had a state that others could be given
}

// A report is a checksum that a player has reported.
type report struct {
	m    *machine
	hash uint64
}

// An agreement is an agreed checksum, and how many mismatching ones came with it.
type agreement struct {
	tick       lockstep.Tick
	hash       uint64
	at         lockstep.Time
	mismatches int
}

func newRelay(p *Plan) relay {
	return relay{on: p.Host.Relay, reports: map[lockstep.Tick][]report{}, agreed: map[lockstep.Tick]agreement{}}
}

// needsFile lists the faults after which a match recovers from its file, which a
// match without a referee cannot.
var needsFile = []string{"server kill", "crash in a write", "crash in recovery", "power cut", "shutdown", "EIO", "ENOSPC", "bit rot"}

// receive records the checksums that arrive at the server.
func (r *relay) receive(w *world, m *machine, b []byte) {
	if !r.on || m == nil || m.plan.Spectator {
		return
	}
	var msg protocol.Message
	for len(b) > 0 {
		rest, err := r.reader.Read(&msg, b)
		if err != nil {
			return
		}
		if s := (report{m, msg.Hash}); msg.Kind == protocol.KindChecksum && msg.Tick <= w.oracle.tick() && !slices.Contains(r.reports[msg.Tick], s) {
			r.reports[msg.Tick] = append(r.reports[msg.Tick], s)
		}
		b = rest
	}
}

// reporters returns how many players have reported a checksum of a tick.
func (r *relay) reporters(t lockstep.Tick, hash uint64) (n int) {
	for _, s := range r.reports[t] {
		if s.hash == hash {
			n++
		}
	}
	return n
}

// agree checks an agreed checksum of the log.
func (r *relay) agree(w *world, t lockstep.Tick, hash uint64) {
	r.settled(w)
	if r.reporters(t, hash) == 0 {
		w.fail("I7", "the agreed checksum of tick %d is %016x, which no player has reported", t, hash)
	}
	v := agreement{tick: t, hash: hash, at: w.now}
	if before, twice := r.agreed[t]; twice {
		w.fail("I1", "tick %d has two agreed checksums, %016x and %016x", t, before.hash, hash)
	}
	r.agreed[t], r.open = v, &v
}

// mismatch checks a mismatching checksum of the log, or one of a tie.
func (r *relay) mismatch(w *world, t lockstep.Tick, player lockstep.Player, hash uint64) {
	if !slices.ContainsFunc(r.reports[t], func(s report) bool { return s.m.seat == player && s.hash == hash }) {
		w.fail("I7", "the log has the checksum %016x of player %d for tick %d, and that player has not reported it", hash, player, t)
	}
	if v, ok := r.agreed[t]; ok && v.hash == hash {
		w.fail("I7", "player %d has reported the agreed checksum of tick %d, and the log has it as a mismatch", player, t)
	}
	if r.open != nil && r.open.tick == t {
		r.open.mismatches++
	}
}

// settled checks a verdict, once its mismatches are in the log.
func (r *relay) settled(w *world) {
	v := r.open
	if r.open = nil; v == nil {
		return
	}
	old := func(t lockstep.Tick) bool { return t+64*lockstep.Tick(w.plan.Settings.CheckEvery) < w.oracle.tick() }
	maps.DeleteFunc(r.reports, func(t lockstep.Tick, _ []report) bool { return old(t) })
	maps.DeleteFunc(r.agreed, func(t lockstep.Tick, _ agreement) bool { return t+5000 < w.oracle.tick() }) // rings are shorter
	if n := r.reporters(v.tick, v.hash); n <= v.mismatches {
		w.fail("I7", "%016x is the agreed checksum of tick %d; %d players have reported it, and %d another one", v.hash, v.tick, n, v.mismatches)
	}
	if want := w.oracle.hashes[v.tick]; v.hash != want {
		for _, s := range r.reports[v.tick] {
			if s.hash == v.hash && s.m.liar == nil && !s.m.truth.flipped {
				w.fail("I1", "no fault has changed the state of %s, which has reported %016x of tick %d, want %016x", s.m, v.hash, v.tick, want)
			}
		}
		if !w.over {
			w.count("majority that is wrong")
		}
		w.over = true
	}
}

// checkLive records whether anybody could be given a state: most live players must
// have reported the same checksum some seconds ago.
func (r *relay) checkLive(w *world) {
	if !r.on {
		return
	}
	live := 0
	for _, m := range w.machines {
		if !m.plan.Spectator && m.dead == 0 && m.client.Stage() == player.StageLive {
			live++
		}
	}
	every := lockstep.Tick(w.plan.Settings.CheckEvery)
	t := w.oracle.tick()
	t -= min(t, 8*lockstep.Tick(w.plan.Settings.TickRate()))
	top, reports := 0, r.reports[t/every*every]
	for _, s := range reports {
		top = max(top, r.reporters(t/every*every, s.hash))
	}
	if live == 0 || 2*top <= max(live, len(reports)) {
		r.alone = w.now
	}
}

// handed checks that a state for a client has the agreed checksum.
func (r *relay) handed(w *world, m *machine, t lockstep.Tick, hash uint64) {
	if v, ok := r.agreed[t]; r.on && t > 0 && (!ok || v.hash != hash) {
		w.fail("I1", "%s was sent a state of tick %d with the checksum %016x, agreed is %016x (%t)", m, t, hash, v.hash, ok)
	}
}

// overdue returns a tick at which a wrong machine contradicted the agreed checksum so
// long ago that it must know by now; 0 for none.
func (r *relay) overdue(m *machine) (check lockstep.Tick) {
	for t, v := range r.agreed {
		if t < m.truth.from || m.w.now < v.at+10*sec {
			continue
		}
		for _, s := range r.reports[t] {
			if s.m == m && s.hash != v.hash {
				check = max(check, t)
			}
		}
	}
	return check
}

// misled reports whether the agreed checksum of a tick is wrong.
func (r *relay) misled(w *world, t lockstep.Tick) bool {
	v, ok := r.agreed[t]
	return ok && int(t) < len(w.oracle.hashes) && v.hash != w.oracle.hashes[t]
}

// ended checks the file after a crash of a match without a referee, which ends it.
func (s *server) ended() {
	w := s.w
	w.over, s.restart = true, never
	w.count("match without a referee that a crash has ended")
	data := s.disk.now.data
	if s.rotten {
		return
	}
	n, err := w.prefix(data)
	if err != nil || n == 0 {
		w.fail("I8", "the file that a crash has left: %d records: %v", n, err)
		return
	}
	promised := s.flushed
	if s.cut {
		promised = s.durable
	}
	for n > len(w.oracle.now().records) {
		w.oracle.take(w.oracle.offered[0])
		w.oracle.offered = w.oracle.offered[1:]
	}
	if got := w.oracle.now().ticks[n-1]; got < promised {
		w.fail("I3", "after a crash at tick %d the file has %d ticks, promised were %d", w.oracle.tick(), got, promised)
	}
}
