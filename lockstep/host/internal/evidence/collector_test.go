package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A bench is a Collector with the referee of a match without commands, and the checksums of a client that went wrong at a tick.
type bench struct {
	t            *testing.T
	c            *evidence.Collector
	now          lockstep.Time
	referee      *lockstep.Follower
	right, wrong []checksum.Sum // by tick
}

func newBench(t *testing.T, wrongAt lockstep.Tick) *bench {
	b := &bench{t: t}
	g := lockstep.MustGame(drift.Rules(nil))
	s := lockstep.DefaultSettings(2)
	s.CheckEvery = 20
	h, err := g.NewHeader(lockstep.MatchID{3}, s, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	b.c = evidence.New(g, h, 1<<20)
	b.referee = g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 200, States: true}})
	c, err := coordinator.New(g, h, b.referee, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := lockstep.MustGame(wrongAtTick(wrongAt)).NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	b.sum(wrong)
	for range 100 {
		f, err := c.Tick()
		if err != nil {
			t.Fatal(err)
		}
		if err := wrong.Step(f); err != nil {
			t.Fatal(err)
		}
		b.sum(wrong)
	}
	return b
}

// sum keeps the checksums of a tick.
func (b *bench) sum(wrong *lockstep.Simulation) {
	b.right, b.wrong = append(b.right, checksum.Sum{}), append(b.wrong, checksum.Sum{})
	b.referee.Simulation().Sum(&b.right[len(b.right)-1])
	wrong.Sum(&b.wrong[len(b.wrong)-1])
}

// wrongAtTick are rules that go wrong at a tick; 0 for never.
func wrongAtTick(at lockstep.Tick) lockstep.Rules[drift.World, struct{}] {
	if at == 0 {
		return drift.Rules(nil)
	}
	return wrongAt(at)
}

// report is the coordinator's report that player 1 differs at a tick, which began 20 ticks before.
func (b *bench) report(t lockstep.Tick) *evidence.Desync {
	return &evidence.Desync{Referee: b.referee, From: t - 20, Afford: 100, Report: &coordinator.DesyncReport{
		Tick: t, Player: 1, Agreed: t - 20, Resimulation: coordinator.RefereeRight,
		Groups: []coordinator.Reporters{{Hash: b.right[t].Hash, Referee: true}, {Hash: b.wrong[t].Hash, Players: []lockstep.Player{1}}},
	}}
}

// take describes what is to be carried out, and answers requests as the client does.
func (b *bench) take(w *evidence.Witness, answers bool) (said string) {
	o := b.c.Take()
	for _, e := range o.Early {
		said += fmt.Sprintf("early %d; ", e.Report.Tick)
	}
	for _, r := range o.Requests {
		m := r.Message
		said += fmt.Sprintf("%d: %v %d to %d; ", r.To, m.Kind, m.From, m.Tick)
		switch {
		case !answers || m.Kind == protocol.KindFlightRequest:
		case m.Kind == protocol.KindStateRequest || m.State:
			b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: m.Tick}, "")
		default:
			for t := m.From + 1; t <= m.Tick; t++ {
				b.say(w, &protocol.Message{Kind: protocol.KindResimulated, Tick: t, Hash: b.wrong[t].Hash, First: b.wrong[t].Hash, Sections: b.wrong[t].Sections}, "")
			}
		}
	}
	for _, id := range o.Removed {
		said += fmt.Sprintf("%d: removed; ", id)
	}
	for _, e := range o.Evidence {
		said += fmt.Sprintf("evidence %d", e.Report.Tick)
		if r := e.Resimulation; r != nil {
			said += fmt.Sprintf(", %v from %d on, %d exhibits", r.Outcome, r.First, len(e.Exhibits))
		}
		said += "; "
	}
	for _, e := range o.Evidence {
		for _, f := range e.Flights {
			said += fmt.Sprintf("record of %d: %s; ", f.Player, f.Bytes)
		}
	}
	for _, s := range o.States {
		said += fmt.Sprintf("state %d of %d bytes; ", s.Tick, len(s.Player))
	}
	return strings.TrimSuffix(said, "; ")
}

func (b *bench) say(w *evidence.Witness, m *protocol.Message, want evidence.Fault) {
	b.t.Helper()
	if got := b.c.Receive(b.now, w, m); got != want {
		b.t.Errorf("%v of tick %d: got fault %q, want %q", m.Kind, m.Tick, got, want)
	}
}

// run advances at the times that the Collector gives, up to a time, and describes all that it wants.
func (b *bench) run(w *evidence.Witness, until lockstep.Time) (all []string) {
	for i := 0; ; i++ {
		for said := b.take(w, true); said != ""; said = b.take(w, true) {
			all = append(all, said)
		}
		if b.now = max(b.now, b.c.Next()); b.now > until || i > 1000 {
			b.now = until
			return all
		}
		b.c.Advance(b.now)
	}
}

func (b *bench) want(got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A witness that answers everything is asked for two states, two runs and the first tick that was wrong.
func TestInquiry(t *testing.T) {
	b := newBench(t, 47)
	w := &evidence.Witness{ID: 7, Resimulates: true}
	b.c.Inquire(b.now, b.report(60), w)
	if !w.Busy() {
		t.Error("nobody is asked")
	}
	got := b.run(w, evidence.Timeout)
	b.want(strings.Join(got, "\n"), `early 60; 7: state_request 0 to 40; 7: state_request 0 to 60; 7: resimulate 40 to 60
7: resimulate 40 to 60
7: resimulate 40 to 47
evidence 60, wrong in the same way from 47 on, 3 exhibits`)
	if b.c.Memory() != 0 || b.c.Next() != evidence.Never || w.Busy() {
		t.Errorf("got %d bytes, next at %v", b.c.Memory(), b.c.Next())
	}
}

// Ticks are computed again only for a client that can, of which the referee has the state and the commands, and that can pay.
func TestInquiryWithoutRuns(t *testing.T) {
	for _, row := range []struct {
		name   string
		cost   int
		change func(d *evidence.Desync, w *evidence.Witness)
	}{
		{"it is asked", 20, func(*evidence.Desync, *evidence.Witness) {}},
		{"a client that cannot", 0, func(_ *evidence.Desync, w *evidence.Witness) { w.Resimulates = false }},
		{"no budget", 0, func(d *evidence.Desync, _ *evidence.Witness) { d.Afford = 19 }},
		{"no referee", 0, func(d *evidence.Desync, _ *evidence.Witness) { d.Referee = nil }},
		{"no commands", 0, func(d *evidence.Desync, _ *evidence.Witness) { d.From = 41 }},
		{"a wrong referee", 0, func(d *evidence.Desync, _ *evidence.Witness) {
			d.Report.Resimulation = coordinator.RefereeWrong
		}},
	} {
		b := newBench(t, 47)
		w, d := &evidence.Witness{ID: 7, Resimulates: true}, b.report(60)
		row.change(d, w)
		if cost := b.c.Inquire(b.now, d, w); cost != row.cost {
			t.Errorf("%s: %d ticks are paid, want %d", row.name, cost, row.cost)
		}
		want := "early 60; 7: state_request 0 to 40; 7: state_request 0 to 60"
		if row.cost > 0 {
			want += "; 7: resimulate 40 to 60"
		}
		if got := b.take(w, true); got != want {
			t.Errorf("%s: got %s", row.name, got)
		}
	}
}

// A witness has one inquiry. A second report about the same tick adds nothing, and one about another tick is handed out without answers.
func TestOneInquiry(t *testing.T) {
	b := newBench(t, 47)
	w := &evidence.Witness{ID: 7}
	b.c.Inquire(b.now, b.report(60), w)
	b.take(w, false)
	b.c.Inquire(b.now, b.report(60), w)
	b.want(b.take(w, false), "")
	b.c.Inquire(b.now, b.report(80), w)
	b.want(b.take(w, false), "evidence 80")
	b.c.Tell(b.report(80))
	b.want(b.take(w, false), "evidence 80")
}

// An inquiry ends when its time is over, when the witness is gone, and with the match. Whoever is removed after it is removed then.
func TestInquiryEnds(t *testing.T) {
	for _, row := range []struct {
		name, want string
		end        func(b *bench, w *evidence.Witness)
	}{
		{"no answer", "evidence 60", func(b *bench, _ *evidence.Witness) {
			if at := b.c.Next(); at != evidence.Timeout+3*20*50*lockstep.Millisecond {
				t.Errorf("the time is over at %v", at)
			}
			b.c.Advance(b.c.Next())
		}},
		{"removed", "7: removed; evidence 60", func(b *bench, w *evidence.Witness) {
			if !b.c.RemoveAfter(0, w) || b.c.Next() != evidence.Timeout {
				t.Errorf("the time is over at %v", b.c.Next())
			}
			b.c.Advance(b.c.Next())
		}},
		{"gone", "evidence 60", func(b *bench, w *evidence.Witness) {
			w.Leave()
			b.c.Advance(0)
		}},
		{"the end", "evidence 60", func(b *bench, w *evidence.Witness) {
			b.c.RemoveAfter(0, w)
			b.c.Finish()
		}},
		{"a stall", "", func(b *bench, w *evidence.Witness) {
			at := b.c.Next()
			b.c.Forgive(1)
			b.c.Advance(at)
		}},
	} {
		b := newBench(t, 47)
		w := &evidence.Witness{ID: 7, Resimulates: true}
		b.c.Inquire(b.now, b.report(60), w)
		b.take(w, false)
		row.end(b, w)
		if got := b.take(w, false); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

// A joiner's state comes from a witness, or does not come.
func TestAsk(t *testing.T) {
	b := newBench(t, 0)
	state := b.referee.State(40)
	for _, row := range []struct {
		total uint32
		want  string
	}{{0, "state 40 of 0 bytes"}, {uint32(len(state)), fmt.Sprintf("state 40 of %d bytes", len(state))}} {
		w := &evidence.Witness{ID: 7}
		b.c.Ask(b.now, w, 40)
		b.want(b.take(w, false), "7: state_request 0 to 40")
		if b.c.Asked() != 1 || b.c.RemoveAfter(b.now, w) {
			t.Errorf("asked %d, and it is evidence", b.c.Asked())
		}
		b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: 41}, evidence.Unasked)
		if row.total > 0 {
			b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: 40, Total: row.total, Offset: 1, Bytes: []byte{1}}, "a chunk of a state out of order")
		}
		b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: 40, Total: row.total, Bytes: state[:row.total]}, "")
		b.want(b.take(w, false), row.want)
	}
}

// Of several consecutive ties the first one is handed out.
func TestTie(t *testing.T) {
	b := newBench(t, 0)
	var first []lockstep.Tick
	for _, at := range []lockstep.Tick{20, 40, 60, 100} {
		if b.c.Tie(at) {
			first = append(first, at)
			b.c.Tell(b.report(at))
		}
	}
	if !slices.Equal(first, []lockstep.Tick{20, 100}) {
		t.Errorf("got %d, want 20 and 100", first)
	}
	b.c.Panicked(7, 1, nil, &record.Panic{Text: "x"})
	b.want(b.take(nil, false), "evidence 20; evidence 100; evidence 7")
}

// A spectator's claims wait for verdicts that no longer change.
func TestClaim(t *testing.T) {
	checks := map[lockstep.Tick]coordinator.Check{}
	agree := func(t lockstep.Tick) {
		checks[t] = coordinator.Check{Tick: t, Status: coordinator.CheckAgreed, Hash: uint64(t)}
	}
	var w evidence.Witness
	compare := func(confirmed bool) (said string) {
		for at, ok := w.Pending(); ok; at, ok = w.Pending() {
			v := w.Compare(checks[at], confirmed)
			if said += fmt.Sprintf("%d %d; ", at, v); v == evidence.Waits {
				break
			}
		}
		return said + fmt.Sprintf("agreed at %d", w.Agreed)
	}
	b := bench{t: t}
	agree(20)
	w.Claim(20, 20)
	b.want(compare(false), "20 0; agreed at 20")
	checks[40] = coordinator.Check{Tick: 40}
	w.Claim(40, 1)
	b.want(compare(true), "40 1; agreed at 20") // there is no verdict
	agree(40)
	agree(60)
	if w.Claimed(60) || !w.Claimed(40) {
		t.Error("it has claimed another tick")
	}
	w.Claim(60, 60)
	b.want(compare(false), "40 1; agreed at 20") // the verdict may change
	b.want(compare(true), "40 2; agreed at 20")
	w.Claim(80, 1)
	b.want(compare(true), "80 0; agreed at 20") // no such check
	w.Distrust(10)
	checks[100] = coordinator.Check{Tick: 100, Status: coordinator.CheckTied}
	w.Claim(100, 1)
	b.want(compare(true), "100 0; agreed at 10")
}
