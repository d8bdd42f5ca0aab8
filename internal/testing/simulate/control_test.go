package simulate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A control breaks one invariant, without the knowledge of its check.
type control struct {
	name      string
	invariant string
	text      string // of the violation
	sabotage  func(t *testing.T, w *world)
}

var controls = []control{
	{"a client's state", "I1", "has another state than the match after tick 500: Random: got ", func(t *testing.T, w *world) {
		s := w.machines[0].client.Simulation()
		b := s.AppendState(nil)
		b[3] ^= 1
		if err := s.Restore(s.Tick(), b); err != nil {
			t.Fatal(err)
		}
	}},
	{"the referee's state", "I1", "is not that of the frames", func(t *testing.T, w *world) {
		s := w.server.host.Referee().Simulation()
		b := s.AppendState(nil)
		b[3] ^= 1
		if err := s.Restore(s.Tick(), b); err != nil {
			t.Fatal(err)
		}
	}},
	{"a record that lies", "flew", "says that it was wrong from tick ", func(t *testing.T, w *world) {
		r := w.server.host.Referee().Flight().Record()
		r.Ticks[len(r.Ticks)/2].State++
		w.oracle.flights.flew(w, &host.Evidence{Flights: []host.Flight{{Player: lockstep.System, Bytes: r.Append(nil)}}})
	}},
	{"a record of other commands", "flew", "has other commands in tick ", func(t *testing.T, w *world) {
		r := w.server.host.Referee().Flight().Record()
		r.Ticks[len(r.Ticks)/2].Commands++
		w.oracle.flights.flew(w, &host.Evidence{Flights: []host.Flight{{Player: lockstep.System, Bytes: r.Append(nil)}}})
	}},
	{"a record that ends too early", "flew", "ends at tick ", func(t *testing.T, w *world) {
		e := &host.Evidence{Flights: []host.Flight{{Player: lockstep.System, Bytes: w.server.host.Referee().Flight().Record().Append(nil)}}}
		e.Report.Tick = w.oracle.tick() + 1
		w.oracle.flights.flew(w, e)
	}},
	{"a torn record", "flew", "malformed flight record", func(t *testing.T, w *world) {
		b := w.server.host.Referee().Flight().Record().Append(nil)
		w.oracle.flights.flew(w, &host.Evidence{Flights: []host.Flight{{Player: lockstep.System, Bytes: b[:len(b)/2]}}})
	}},
	{"a receipt", "I2", "was told that command", func(t *testing.T, w *world) {
		for seq, r := range w.machines[1].receipts {
			r.tick++
			w.machines[1].receipts[seq] = r
		}
	}},
	{"the content of a command", "I2", "it is not the one that it gave", func(t *testing.T, w *world) {
		for seq := range w.machines[1].gave.content {
			w.machines[1].gave.content[seq]++
		}
	}},
	{"a limit of a kind", "I14", "in the 80 ticks up to 20, the game allows 4", func(t *testing.T, w *world) {
		for i := range lockstep.Tick(5) {
			w.oracle.limitedTo(77, 2, 16+i)
		}
	}},
	{"an active player", "I7", "its last command is in tick 1000000", func(t *testing.T, w *world) {
		m := w.machines[1]
		w.plan.Host.Inactive = sec
		m.idle.active(1000000, m.wire.epoch)
		m.idle.warned = true
		m.idled()
	}},
	{"a warning before the loss of a seat", "I7", "closed as inactive without a warning", func(t *testing.T, w *world) {
		w.plan.Host.Inactive = sec
		w.machines[1].idled()
	}},
	{"a policy for inactive players", "I7", "there is no such policy", func(t *testing.T, w *world) {
		w.plan.Host.Inactive = 0
		w.machines[1].idled()
	}},
	{"a substitute", "I10", "the substitute of player 1 has failed: why", func(t *testing.T, w *world) {
		w.observe(host.Event{Kind: host.SubstituteFailed, Player: 1, Text: "why"})
	}},
	{"a receipt of a command that never ran", "I2", "(false)", func(t *testing.T, w *world) {
		w.machines[1].receipts[1<<20] = receipt{tick: 100}
	}},
	{"two answers", "I2", "told twice", func(t *testing.T, w *world) {
		m := w.machines[1]
		for seq, r := range m.receipts {
			m.answered(lockstep.Receipt{Sequence: seq, Tick: r.tick})
		}
	}},
	{"the order of a frame", "I2", "player 0 after player 1", func(t *testing.T, w *world) {
		p := packed{b: []byte{1, 1, 1, 0xc4, 0, 0, 1, 1, 0xc4, 0}}
		w.oracle.commands(&p, 2)
	}},
	{"a sequence that does not rise", "I2", "sequence step 0", func(t *testing.T, w *world) {
		p := packed{b: []byte{0, 0, 1, 0xc4, 0}}
		w.oracle.commands(&p, 1)
	}},
	{"the last sequences of a joiner", "I2", "with the last sequences", func(t *testing.T, w *world) {
		w.oracle.saved, w.oracle.course = nil, nil
		w.inject(&Fault{Kind: "client crash", Who: 0, For: 100 * ms})
	}},
	{"the end of the file", "I3", "promised were", func(t *testing.T, w *world) {
		f := w.server.disk.now
		f.data = f.data[:len(f.data)*3/4]
		w.server.die(false)
	}},
	{"a tick that a client has received", "I3", "a client has received tick", func(t *testing.T, w *world) {
		w.oracle.shown += 1000
		w.server.die(false)
	}},
	{"a sync that is tried again", "I3", "tried again", func(t *testing.T, w *world) {
		w.server.disk.lost = true
		if err := w.server.disk.now.sync(); err != nil {
			t.Fatal(err)
		}
	}},
	{"a record on its way", "I4", "another record", func(t *testing.T, w *world) {
		for _, wire := range w.wires {
			for _, a := range wire.down.queue[wire.down.head:] {
				if len(a.b) > 2 && protocol.IsRecord(a.b) {
					a.b[2]++
					return
				}
			}
		}
		t.Fatal("no record is on its way")
	}},
	{"a record that does not come", "I4", "than the log has", func(t *testing.T, w *world) {
		w.machines[0].wire.down.send(w.now, []byte{0x92, 0x04, 0x00}, &w.spare)
		w.machines[0].touch()
	}},
	{"memory", "I5", "keeps", func(t *testing.T, w *world) { w.leak = 1 << 30 }},
	{"a client that stops", "I6", "nothing is wrong with client 2", func(t *testing.T, w *world) {
		w.machines[2].busy = w.now + 100*sec
	}},
	{"a server that stops", "I6", "no tick was sealed", func(t *testing.T, w *world) {
		w.server.host.Admin().Hold(w.now, host.Wait{Reason: "nothing"})
	}},
	{"honest bytes", "I7", "was closed as malformed", func(t *testing.T, w *world) {
		w.machines[0].send([]byte{0xc1})
	}},
	{"an honest client that is removed", "I7", "was removed", func(t *testing.T, w *world) {
		w.server.host.Admin().Kick(w.now, w.machines[0].wire.id, "nothing")
		w.server.after()
	}},
	{"the written records", "I8", "the recovered file", func(t *testing.T, w *world) {
		w.oracle.now().records[100] = []byte{0x92, 0x04, 0x02}
		w.server.die(false)
	}},
	{"the header of the file", "I8", "cannot be recovered", func(t *testing.T, w *world) {
		w.server.disk.now.data[0] ^= 1
		w.server.die(false)
	}},
	{"a link that never heals", "I9", "client 1 is", func(t *testing.T, w *world) {
		w.machines[1].plan.Down.Rate = 1
		w.machines[1].wire.cut(0, 0)
		w.machines[1].calm = never
	}},
	{"a panic", "I10", "panic: sabotage", func(t *testing.T, w *world) {
		w.machines[0].play = func(*lockstep.Simulation) []any { panic("sabotage") }
	}},
	{"no progress", "I10", "makes no progress", func(t *testing.T, w *world) {
		w.server.syncAt, w.plan.Disk.SyncEvery = w.now, 0
	}},
	{"a record that a spectator may not see yet", "I12", "a spectator, client 3, was sent a record", func(t *testing.T, w *world) {
		w.barrier.delay++
	}},
	{"a spectator that stops", "I6", "nothing is wrong with client 3", func(t *testing.T, w *world) {
		w.machines[3].busy = w.now + 100*sec
	}},
	{"an unaffected player whose link is late", "I13", "client 1, on a good link, has run tick", func(t *testing.T, w *world) {
		w.machines[1].wire.down.extra = lateness + 10*ms
	}},
	{"an unaffected player that receives nothing", "I13", "client 1, on a good link, has not run tick", func(t *testing.T, w *world) {
		w.machines[1].wire.down.stuck = true
	}},
	{"an unaffected player whose connection ends", "I13", "client 1, on a good link, has lost its connection", func(t *testing.T, w *world) {
		w.machines[1].wire.cut(0, 0)
	}},
	{"an unaffected player that is removed", "I13", "client 1, on a good link, was closed as kicked", func(t *testing.T, w *world) {
		w.server.host.Admin().Kick(w.now, w.machines[1].wire.id, "nothing")
		w.server.after()
	}},
	{"an unaffected player that is refused", "I13", "client 1, on a good link, was told of an error", func(t *testing.T, w *world) {
		var m protocol.Writer
		w.machines[1].send(m.Append(nil, &protocol.Message{Kind: protocol.KindChecksum, Tick: 1 << 20}))
	}},
	{"a tick that is late", "I13", "was sealed", func(t *testing.T, w *world) {
		w.server.stalled = w.now + lateness + 100*ms
	}},
	{"more than a subject may have", "I14", "the player names/street0: ", func(t *testing.T, w *world) {
		w.budgets.on = true // its limits are lower than the host's
		w.inject(&Fault{Kind: "hands: seats", For: 20 * sec, N: 3})
	}},
	{"a desync without a report", "desync", "has no desync report", func(t *testing.T, w *world) {
		m := w.machines[0]
		if !m.flip(rand.New(rand.NewPCG(1, 1))) {
			t.Fatal("not flipped")
		}
		m.truth.ran = 1 << 20
	}},
	{"a report on a right client", "desync", "is right, and was reported", func(t *testing.T, w *world) { w.machines[0].truth.reported(w.machines[0], 100) }},
	{"a desync at another tick", "desync", "it is wrong: true", func(t *testing.T, w *world) {
		m := w.machines[0]
		if !m.flip(rand.New(rand.NewPCG(1, 1))) {
			t.Fatal("not flipped")
		}
		m.truth.reported(m, m.truth.from-1)
	}},
}

// Each check finds its violation.
func TestControls(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 3, Length: 90 * sec, Calm: true}
	o.fill()
	const delay = 30 // of the spectator, client 3
	seen := map[string]bool{}
	for _, c := range slices.Concat(controls, sessionControls) {
		t.Run(c.name, func(t *testing.T) {
			p := Expand(o, 2)
			for i := range p.Machines {
				p.Machines[i].Up, p.Machines[i].Down = Link{Delay: 30 * ms}, Link{Delay: 30 * ms}
				p.Machines[i].JoinAt, p.Machines[i].Datagrams = 0, nil
			}
			p.Host.SpectatorDelay = delay
			if c.invariant == "I16" {
				p.Host.Lobby = &LobbyPlan{Players: 3, Ready: true, Countdown: sec, Start: 40 * sec}
				p.Machines[0].Ready = 30 * sec
			}
			p.Disk.EachFrame, p.Host.Wait, p.Host.Desync = true, 0, host.LogDesynced
			w, err := newWorld(o.Subject, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range w.machines {
				m.unaffected = m.unaffected && c.invariant == "I13" // or I13 would be found first
			}
			w.quiet = c.invariant == "I13"
			w.protect(func() {
				w.until(w.start + 25*sec)
				for c.invariant != "I16" && w.wires[0].down.empty() {
					w.until(w.now + ms)
				}
				c.sabotage(t, w)
				w.until(w.start + p.Chaos)
				if w.violation == nil {
					w.finish()
				}
			})
			if v := w.violation; v == nil || v.Invariant != c.invariant || !strings.Contains(v.Text, c.text) {
				t.Errorf("got %v, want a violation of %s: %s", v, c.invariant, c.text)
			}
		})
		seen[c.invariant] = true
	}
	for _, name := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I12", "I13", "I14", "I16", "I17", "I18", "desync"} {
		if !seen[name] {
			t.Errorf("nothing breaks %s", name)
		}
	}
}

// Two runs of one plan that differ are found.
func TestControlOfTraces(t *testing.T) {
	s := *Drones(16)
	runs := 0
	play := s.Play
	s.Play = func(p lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
		runs++
		for range runs {
			r.Uint64()
		}
		return play(p, r)
	}
	out, err := Twice(&s, Expand(Options{Subject: &s, Clients: 2, Length: 35 * sec, Calm: true}, 2))
	if err != nil || out.Violation == nil || out.Violation.Invariant != "I11" {
		t.Errorf("got %v, %v", out.Violation, err)
	}
}

// The replay at the end finds a changed file.
func TestControlOfReplay(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 2, Length: 40 * sec, Calm: true}
	o.fill()
	w, err := newWorld(o.Subject, Expand(o, 2))
	if err != nil {
		t.Fatal(err)
	}
	w.until(w.start + w.plan.Chaos)
	w.finish()
	if w.violation != nil {
		t.Fatal(w.violation)
	}
	data := w.server.disk.now.data
	data[len(data)/2] ^= 4
	if w.replay(data); w.violation == nil || w.violation.Invariant != "I8" {
		t.Errorf("got %v", w.violation)
	}
}

// Each check of a match without a referee finds its violation.
func TestControlsOfRelay(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 3, Length: 60 * sec, Calm: true}
	o.fill()
	for _, c := range []struct {
		name, invariant, text string
		sabotage              func(w *world, t lockstep.Tick, hash uint64) // tick t has an agreed checksum
	}{
		{"a checksum that no player has reported", "I7", "which no player has reported", func(w *world, t lockstep.Tick, hash uint64) {
			w.relay.agree(w, t+1, hash)
		}},
		{"two verdicts", "I1", "two agreed checksums", func(w *world, t lockstep.Tick, hash uint64) { w.relay.agree(w, t, hash) }},
		{"a verdict of the minority", "I7", "3 players have reported it, and 3 another one", func(w *world, t lockstep.Tick, hash uint64) {
			w.relay.open = &agreement{tick: t, hash: hash, mismatches: 3}
		}},
		{"a checksum of another player", "I7", "has not reported it", func(w *world, t lockstep.Tick, hash uint64) {
			w.relay.mismatch(w, t, 0, hash+1)
		}},
		{"an agreed checksum as a mismatch", "I7", "has it as a mismatch", func(w *world, t lockstep.Tick, hash uint64) {
			w.relay.mismatch(w, t, 0, hash)
		}},
		{"a state that is not agreed", "I1", "was sent a state", func(w *world, t lockstep.Tick, hash uint64) {
			w.relay.handed(w, w.machines[0], t, hash+1)
		}},
		{"a desync without a report", "desync", "has contradicted the agreed checksum", func(w *world, t lockstep.Tick, hash uint64) {
			m := w.machines[0]
			m.truth.flip(t)
			w.relay.reports[t] = append(w.relay.reports[t], report{m, hash + 1})
			w.relay.agreed[t] = agreement{tick: t, hash: hash}
			lockstep.World[drones](m.client.Simulation()).Fired++
			m.truth.compare(m)
		}},
		{"the end of the file", "I3", "promised were", func(w *world, t lockstep.Tick, hash uint64) {
			f := w.server.disk.now
			f.data = f.data[:len(f.data)*3/4]
			w.server.die(false)
		}},
		{"a wrong verdict of right players", "I1", "no fault has changed the state", func(w *world, t lockstep.Tick, hash uint64) {
			w.oracle.hashes[t]++
			w.relay.open = &agreement{tick: t, hash: hash}
		}},
		{"a majority that is wrong", "", "", func(w *world, t lockstep.Tick, hash uint64) {
			for _, m := range w.machines {
				m.truth.flipped = true
			}
			w.oracle.hashes[t]++
			w.relay.open = &agreement{tick: t, hash: hash}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Expand(o, 2)
			p.Host.Relay, p.Host.SpectatorDelay, p.Disk.EachFrame = true, 0, true
			w, err := newWorld(o.Subject, p)
			if err != nil {
				t.Fatal(err)
			}
			w.until(w.start + 25*sec)
			at := slices.Max(slices.Collect(maps.Keys(w.relay.agreed)))
			if v := w.relay.agreed[at]; w.violation == nil && w.relay.reporters(at, v.hash) == 3 {
				c.sabotage(w, at, v.hash)
			}
			w.until(w.now + 5*sec)
			if v := w.violation; v == nil && (c.text != "" || !w.over) || v != nil && (v.Invariant != c.invariant || !strings.Contains(v.Text, c.text)) {
				t.Errorf("got %v, want a violation of %s: %s", v, c.invariant, c.text)
			}
		})
	}
}
