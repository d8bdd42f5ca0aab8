package simulate

import (
	"maps"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// recordDissent is the kind of the record of a checksum that is not the agreed one.
const recordDissent = 6

// A relay checks a match without a referee, where the agreed checksum of a tick
// is the one that more than half of those who reported have said, whoever they
// are. It knows what everybody has said from what has arrived at the server.
//
// What is promised there: nobody is taken to have said what he has not; an agreed
// checksum has a majority behind it; a tie names nobody; a state is handed on
// only if it has the agreed checksum of its tick. A majority that is wrong is
// right: with its verdict, counted, the run is over. So it is with a crash.
type relay struct {
	on     bool
	said   map[lockstep.Tick][]statement
	agreed map[lockstep.Tick]agreement
	open   *agreement // its dissents are being written
	reader protocol.Reader
	alone  lockstep.Time // when last there was nobody whose state could be handed on
}

// A statement is a checksum that has arrived from a player.
type statement struct {
	m    *machine
	root uint64
}

// An agreement is an agreed checksum, and how many mismatching ones came with it.
type agreement struct {
	tick     lockstep.Tick
	root     uint64
	at       lockstep.Time
	dissents int
}

func newRelay(p *Plan) relay {
	return relay{on: p.Host.Relay, said: map[lockstep.Tick][]statement{}, agreed: map[lockstep.Tick]agreement{}}
}

// needsFile are the faults after which a match goes on from its file, which one
// without a referee cannot.
var needsFile = []string{"server kill", "crash in a write", "crash in recovery", "power cut", "shutdown", "EIO", "ENOSPC", "bit rot"}

// hear notes the checksums in what arrives at the server.
func (r *relay) hear(w *world, m *machine, b []byte) {
	if !r.on || m == nil || m.plan.Spectator {
		return
	}
	var msg protocol.Message
	for len(b) > 0 {
		rest, err := r.reader.Read(&msg, b)
		if err != nil {
			return
		}
		if s := (statement{m, msg.Root}); msg.Kind == protocol.KindChecksum && msg.Tick <= w.oracle.tick() && !slices.Contains(r.said[msg.Tick], s) {
			r.said[msg.Tick] = append(r.said[msg.Tick], s)
		}
		b = rest
	}
}

// who returns how many have said a checksum of a tick.
func (r *relay) who(t lockstep.Tick, root uint64) (n int) {
	for _, s := range r.said[t] {
		if s.root == root {
			n++
		}
	}
	return n
}

// agree takes an agreed checksum of the log.
func (r *relay) agree(w *world, t lockstep.Tick, root uint64) {
	r.settled(w)
	if r.who(t, root) == 0 {
		w.fail("I7", "the agreed checksum of tick %d is %016x, which nobody has said", t, root)
	}
	v := agreement{tick: t, root: root, at: w.now}
	if before, twice := r.agreed[t]; twice {
		w.fail("I1", "tick %d has two agreed checksums, %016x and %016x", t, before.root, root)
	}
	r.agreed[t], r.open = v, &v
}

// dissent takes a checksum of the log that is not the agreed one, or one of a tie.
func (r *relay) dissent(w *world, t lockstep.Tick, player lockstep.Player, root uint64) {
	if !slices.ContainsFunc(r.said[t], func(s statement) bool { return s.m.seat == player && s.root == root }) {
		w.fail("I7", "the log has player %d say %016x of tick %d, and nobody in that seat has", player, root, t)
	}
	if v, ok := r.agreed[t]; ok && v.root == root {
		w.fail("I7", "player %d has said the agreed checksum of tick %d, and the log calls it another", player, t)
	}
	if r.open != nil && r.open.tick == t {
		r.open.dissents++
	}
}

// settled checks a verdict, when the dissents that came with it are in the log.
func (r *relay) settled(w *world) {
	v := r.open
	if r.open = nil; v == nil {
		return
	}
	old := func(t lockstep.Tick) bool { return t+64*lockstep.Tick(w.plan.Settings.CheckEvery) < w.oracle.tick() }
	maps.DeleteFunc(r.said, func(t lockstep.Tick, _ []statement) bool { return old(t) })
	maps.DeleteFunc(r.agreed, func(t lockstep.Tick, _ agreement) bool { return t+5000 < w.oracle.tick() }) // a ring is shorter
	if n := r.who(v.tick, v.root); n <= v.dissents {
		w.fail("I7", "%016x is the agreed checksum of tick %d, which %d players have said, and %d another", v.root, v.tick, n, v.dissents)
	}
	if want := w.oracle.roots[v.tick]; v.root != want {
		for _, s := range r.said[v.tick] {
			if s.root == v.root && s.m.liar == nil && !s.m.truth.flipped {
				w.fail("I1", "%s, whose state no fault has changed, has said %016x of tick %d, want %016x", s.m, v.root, v.tick, want)
			}
		}
		if !w.over {
			w.count("majority that is wrong")
		}
		w.over = true
	}
}

// look notes whether anybody could be given a state: most of those who have one
// must have said the same of a check some seconds ago.
func (r *relay) look(w *world) {
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
	t -= min(t, 8*lockstep.Tick(w.plan.Settings.TickRate))
	top, said := 0, r.said[t/every*every]
	for _, s := range said {
		top = max(top, r.who(t/every*every, s.root))
	}
	if live == 0 || 2*top <= max(live, len(said)) {
		r.alone = w.now
	}
}

// handed checks the state that a client is given: it has the agreed checksum.
func (r *relay) handed(w *world, m *machine, t lockstep.Tick, root uint64) {
	if v, ok := r.agreed[t]; r.on && t > 0 && (!ok || v.root != root) {
		w.fail("I1", "%s was sent a state of tick %d with the checksum %016x, agreed is %016x (%t)", m, t, root, v.root, ok)
	}
}

// overdue returns a check at which a machine that is wrong has contradicted the
// agreed checksum some time ago, so that it must have been told, or 0.
func (r *relay) overdue(m *machine) (check lockstep.Tick) {
	for t, v := range r.agreed {
		if t < m.truth.from || m.w.now < v.at+10*sec {
			continue
		}
		for _, s := range r.said[t] {
			if s.m == m && s.root != v.root {
				check = max(check, t)
			}
		}
	}
	return check
}

// misled reports whether the agreed checksum of a tick is not the match's.
func (r *relay) misled(w *world, t lockstep.Tick) bool {
	v, ok := r.agreed[t]
	return ok && int(t) < len(w.oracle.roots) && v.root != w.oracle.roots[t]
}

// ended checks the file that a crash leaves of a match without a referee, which
// is over with it.
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
