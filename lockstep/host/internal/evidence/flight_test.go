package evidence_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// flown is a report of tick t about player 1, whose record and those of others are asked for.
func (b *bench) flown(t lockstep.Tick) *evidence.Desync {
	d := b.report(t)
	d.Flight, d.Asks, d.Afford = []byte("own"), true, 0
	return d
}

// record gives a witness's record of a tick, in two parts.
func (b *bench) record(w *evidence.Witness, t lockstep.Tick, bytes string) {
	b.t.Helper()
	n := uint32(len(bytes))
	b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: t, Total: n, Bytes: []byte(bytes[:1])}, "")
	b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: t, Offset: 1, Total: n, Bytes: []byte(bytes[1:])}, "")
}

func witness(p lockstep.Player) *evidence.Witness {
	return &evidence.Witness{ID: 10 + uint64(p), Player: p, Flies: true}
}

// states says that a witness has no states.
func (b *bench) states(w *evidence.Witness, t lockstep.Tick) {
	b.t.Helper()
	b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: t - 20}, "")
	b.say(w, &protocol.Message{Kind: protocol.KindState, Tick: t}, "")
}

// The player, others that differ and one that agrees are asked, and the evidence has all records.
func TestFlights(t *testing.T) {
	b := newBench(t, 47)
	one, two, three := witness(1), witness(2), witness(3)
	d := b.flown(60)
	d.Differ, d.Agrees = []*evidence.Witness{two}, three
	b.c.Inquire(b.now, d, one)
	b.want(b.take(one, false), "early 60; 11: state_request 0 to 40; 11: state_request 0 to 60; 11: flight_request 0 to 60; 12: flight_request 0 to 60; 13: flight_request 0 to 60")
	if !one.Busy() || two.Busy() || three.Busy() || three.Flown != 1 {
		t.Error("want the limits of bytes waived, and no state asked, of the player that differs alone")
	}
	b.states(one, 60)
	b.record(one, 60, "mine")
	b.record(three, 60, "good")
	b.want(b.take(one, false), "")
	b.say(two, &protocol.Message{Kind: protocol.KindFlight, Tick: 60}, "") // it has none
	b.want(b.take(one, false), "evidence 60; record of 255: own; record of 1: mine; record of 3: good")
	if b.c.Memory() != 0 || b.c.Next() != evidence.Never || one.Busy() {
		t.Errorf("got %d bytes, next at %v", b.c.Memory(), b.c.Next())
	}
	b.say(three, &protocol.Message{Kind: protocol.KindFlight, Tick: 60, Total: 1, Bytes: []byte{1}}, evidence.Unasked)
}

// Who agrees later is asked then, or nobody after two seconds.
func TestAgreesLater(t *testing.T) {
	for _, comes := range []bool{true, false} {
		b := newBench(t, 47)
		one, three := witness(1), witness(3)
		d := b.flown(60)
		d.Silent = true
		b.c.Inquire(b.now, d, one)
		b.take(one, false)
		b.states(one, 60)
		b.record(one, 60, "mine")
		b.c.Agreed(b.now, three, 40) // of another check
		b.c.Agreed(b.now, one, 60)   // a wrong referee has adopted its state
		b.want(b.take(one, false), "")
		if comes {
			b.c.Agreed(b.now, three, 60)
			b.want(b.take(one, false), "13: flight_request 0 to 60")
			b.c.Agreed(b.now, witness(4), 60) // one is enough
			b.want(b.take(one, false), "")
			b.record(three, 60, "good")
			b.want(b.take(one, false), "evidence 60; record of 255: own; record of 1: mine; record of 3: good")
			continue
		}
		if at := b.c.Next(); at != 2*lockstep.Second {
			t.Errorf("it waits until %v", at)
		}
		b.c.Advance(2 * lockstep.Second)
		b.want(b.take(one, false), "evidence 60; record of 255: own; record of 1: mine")
	}
}

// Two inquiries about one check share the record of a machine. One about a later check asks again when the first answer is there,
// because a record ends where its machine was.
func TestSharedFlight(t *testing.T) {
	b := newBench(t, 47)
	one, two, three := witness(1), witness(2), witness(3)
	d := b.flown(60)
	d.Agrees = three
	b.c.Inquire(b.now, d, one)
	other := b.flown(60)
	other.Report.Player, other.Agrees = 2, three
	b.c.Inquire(b.now, other, two)
	later := b.flown(80)
	later.Report.Player, later.Agrees = 4, three
	b.c.Inquire(b.now, later, witness(4))
	b.want(b.take(one, false), "early 60; early 60; early 80; 11: state_request 0 to 40; 11: state_request 0 to 60; 11: flight_request 0 to 60; 13: flight_request 0 to 60; "+
		"12: state_request 0 to 40; 12: state_request 0 to 60; 12: flight_request 0 to 60; 14: state_request 0 to 60; 14: state_request 0 to 80; 14: flight_request 0 to 80")
	b.states(one, 60)
	b.states(two, 60)
	b.record(one, 60, "mine")
	b.record(two, 60, "mine, too")
	b.record(three, 60, "good")
	b.want(b.take(one, false), "13: flight_request 0 to 80; evidence 60; evidence 60; "+
		"record of 255: own; record of 1: mine; record of 3: good; record of 255: own; record of 2: mine, too; record of 3: good")
	b.record(three, 80, "better")
	if three.Flown != 2 || b.c.Memory() == 0 {
		t.Errorf("it was asked %d times, and the last inquiry holds %d bytes", three.Flown, b.c.Memory())
	}
	b.c.Finish()
	b.want(b.take(one, false), "evidence 80; record of 255: own; record of 3: better")
	if b.c.Next() != evidence.Never {
		t.Errorf("after the end it waits until %v", b.c.Next())
	}
}

// A record that does not come delays the evidence for ten seconds at most, and one out of order is malformed.
func TestFlightEnds(t *testing.T) {
	for _, row := range []struct {
		name, want string
		end        func(b *bench, w *evidence.Witness)
	}{
		{"no answer", "evidence 60; record of 255: own", func(b *bench, _ *evidence.Witness) {
			if at := b.c.Next(); at != evidence.Timeout {
				t.Errorf("the time is over at %v", at)
			}
			b.c.Advance(evidence.Timeout)
		}},
		{"gone", "evidence 60; record of 255: own", func(b *bench, w *evidence.Witness) {
			w.Leave()
			b.c.Advance(0)
		}},
		{"a part", "evidence 60; record of 255: own", func(b *bench, w *evidence.Witness) {
			b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: 60, Total: 9, Bytes: []byte("x")}, "")
			b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: 60, Total: 9, Bytes: []byte("x")}, "a chunk of a record out of order")
			b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: 60, Offset: 1, Total: 9}, "a chunk of a record out of order")
			b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: 40, Total: 9, Bytes: []byte("x")}, evidence.Unasked)
			b.c.Forgive(1)
			b.c.Advance(evidence.Timeout)
			b.want(b.take(w, false), "")
			b.c.Advance(evidence.Timeout + 1)
		}},
	} {
		b := newBench(t, 47)
		w, two := witness(1), witness(2)
		d := b.flown(60)
		d.Differ = []*evidence.Witness{two}
		b.c.Inquire(b.now, d, w)
		b.take(w, false)
		b.states(w, 60)
		b.say(w, &protocol.Message{Kind: protocol.KindFlight, Tick: 60}, "")
		row.end(b, two)
		if got := b.take(w, false); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
		if b.c.Next() != evidence.Never || b.c.Memory() != 0 {
			t.Errorf("%s: it is still awaited", row.name)
		}
	}
}

// On a tie all are asked, and nobody for states.
func TestTiedFlights(t *testing.T) {
	b := newBench(t, 0)
	d := b.report(60)
	d.Report.Tie = true
	one, two := witness(1), witness(2)
	d.Differ = []*evidence.Witness{one, two}
	b.c.InquireTie(b.now, d)
	b.want(b.take(one, false), "11: flight_request 0 to 60; 12: flight_request 0 to 60")
	b.record(one, 60, "mine")
	b.record(two, 60, "other")
	b.want(b.take(one, false), "evidence 60; record of 1: mine; record of 2: other")
	d.Differ = nil
	b.c.InquireTie(b.now, d)
	b.want(b.take(one, false), "evidence 60")
}

// A player who differs at every second check is asked for its record twice a minute, and so is the one that agrees.
func TestFlightBudget(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(nil), nil, nil)
	sent := 0
	m.Change = func(msg *protocol.Message) bool {
		switch {
		case msg.Kind == protocol.KindChecksum && msg.Tick/20%2 == 0:
			msg.Hash ^= 1
		case msg.Kind == protocol.KindFlight:
			sent++
		}
		return false
	}
	m.Until(func() bool { return len(m.Evidence) >= 9 }, nil)
	if sent != 2 {
		t.Errorf("it sent %d records, want 2", sent)
	}
	for i, e := range m.Evidence {
		want := 3
		if i >= 2 {
			want = 1 // that of the referee costs nobody anything
		}
		if len(e.Flights) != want {
			t.Errorf("evidence %d: got %d records, want %d", i, len(e.Flights), want)
		}
	}
}
