package desync_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// explainDrift explains the first evidence of a match, with the game's code or without.
func explainDrift(t *testing.T, m *drift.Match, known bool) *desync.Explanation {
	t.Helper()
	o := desync.Options{}
	if known {
		o.Game = func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.MustGame(drift.Rules(nil)), nil }
	}
	e, err := desync.Explain(m.Bundle(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The records of the last ticks name the exact tick and section of a fault, at any check interval, whatever the machine computes when it
// computes the ticks again; and two machines' records prove it.
func TestFlightNamesTheTick(t *testing.T) {
	for _, every := range []uint16{20, 100, 300} {
		at := lockstep.Tick(every) + lockstep.Tick(every)/2 + 3
		times := int32(0)
		for _, row := range []struct {
			name   string
			change func(*drift.World, *lockstep.Turn)
			flip   bool
		}{
			{"memory", nil, true},
			{"rules", func(w *drift.World, t *lockstep.Turn) {
				if t.Tick == at {
					w.Spots[3].X++
				}
			}, false},
			{"a race", func(w *drift.World, t *lockstep.Turn) {
				if t.Tick == at {
					times++
					w.Spots[3].X += times
				}
			}, false},
		} {
			t.Run(fmt.Sprintf("%s every %d", row.name, every), func(t *testing.T) {
				times = 0
				m := drift.New(t, every, drift.Rules(row.change), func(o *host.Options) { o.Desync = host.ResyncDesynced }, nil)
				flipped := false
				m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
					if c := m.Clients[1]; row.flip && !flipped && c.Simulation() != nil && c.Tick() == at-1 {
						m.State().Spots[3].X ^= 1
						flipped = true
					}
				})
				var whose []lockstep.Player
				for _, f := range m.Evidence[0].Flights {
					whose = append(whose, f.Player)
				}
				if !slices.Equal(whose, []lockstep.Player{lockstep.System, 1, 0}) {
					t.Errorf("got the records of %v, want those of the referee, the player and one that agrees", whose)
				}
				for _, known := range []bool{false, true} {
					computed := known && row.name != "a race" // which shows that the rules have no fixed result
					e := explainDrift(t, m, known)
					if e.Flight == nil || len(e.Flight.Machines) != 1 {
						t.Fatalf("known %t: got %+v, want one machine", known, e.Flight)
					}
					d := e.Flight.Machines[0]
					if d.First != (desync.Span{From: at, To: at}) || e.First != d.First || !slices.Equal(d.Sections, []string{"Spots"}) || d.Player != 1 ||
						d.Grade != desync.GradeProven || d.Computed != computed || !slices.Equal(d.Machines, []lockstep.Player{0, 255}) || d.Draws != nil || d.Commands != 0 {
						t.Errorf("known %t: got %+v and %v, want tick %d in Spots, proven", known, d, e.First, at)
					}
					var text bytes.Buffer
					e.WriteText(&text)
					want := fmt.Sprintf("parted from player 0's and the referee's in tick %d, in Spots: proven", at)
					if computed {
						want = fmt.Sprintf("parted from this program's, player 0's and the referee's in tick %d", at)
					}
					if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, want) {
						t.Errorf("got %s\nwant %s", &text, want)
					}
				}
			})
		}
	}
}

// thin leaves states only of the ticks of a record that are divisible by a number, as the record of a large state has them.
func thin(t *testing.T, b []byte, every lockstep.Tick) []byte {
	t.Helper()
	r, err := flight.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Ticks {
		if x := &r.Ticks[i]; x.Tick%every != 0 {
			x.Prints, x.State = nil, 0
		}
	}
	return r.Append(nil)
}

// Where the records of a large state have only some ticks, the explanation says so. A span that has another reason says nothing of it.
func TestSampledFlights(t *testing.T) {
	for _, row := range []struct {
		check      uint16
		at         lockstep.Tick
		own, other lockstep.Tick // of which the records have states
		first      desync.Span
		every      lockstep.Tick
		want       string
	}{
		{20, 47, 8, 8, desync.Span{From: 41, To: 48}, 8, "parted from player 0's and the referee's in one of the ticks 41 to 48 (its record has every 8th tick), in Spots: proven"},
		{20, 48, 2, 2, desync.Span{From: 47, To: 48}, 2, "in one of the ticks 47 to 48 (its record has every 2nd tick), in Spots"},
		{100, 135, 32, 32, desync.Span{From: 129, To: 160}, 32, "in one of the ticks 129 to 160 (its record has every 32nd tick), in Spots"},
		{20, 58, 8, 8, desync.Span{}, 0, "no record shows where a run departed from another one: one has only every 8th tick"},
		{20, 43, 8, 8, desync.Span{From: 41, To: 48}, 8, "in one of the ticks 41 to 48 (its record has every 8th tick)"},
		{20, 47, 1, 8, desync.Span{From: 41, To: 48}, 0, "in one of the ticks 41 to 48, in Spots"},
		{20, 47, 1, 1, desync.Span{From: 47, To: 47}, 0, "in tick 47, in Spots"},
	} {
		m := drift.New(t, row.check, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
			if t.Tick == row.at {
				w.Spots[3].X++
			}
		}), nil, nil)
		m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
		for i := range m.Evidence[0].Flights {
			every := row.other
			if m.Evidence[0].Flights[i].Player == 1 {
				every = row.own
			}
			m.Evidence[0].Flights[i].Bytes = thin(t, m.Evidence[0].Flights[i].Bytes, every)
		}
		e := explainDrift(t, m, false)
		for _, r := range e.Flight.Records {
			every := row.other
			if r.Player == 1 {
				every = row.own
			}
			if every == 1 && r.Every != 0 || every > 1 && r.Every != every {
				t.Errorf("%+v: got the record %+v", row, r)
			}
		}
		var d desync.Departure
		if len(e.Flight.Machines) > 0 {
			d = e.Flight.Machines[0]
		}
		if d.First != row.first || d.Every != row.every {
			t.Errorf("%+v: got %+v: %s", row, d, d)
		}
		var text bytes.Buffer
		e.WriteText(&text)
		if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, row.want) {
			t.Errorf("got %s\nwant %s", &text, row.want)
		}
		if b, err := json.Marshal(d); err != nil || strings.Contains(string(b), fmt.Sprintf(`"every":%d,`, row.every)) != (row.every > 0) || strings.Contains(string(b), `"every":0`) {
			t.Errorf("got %s, %v", b, err)
		}
	}
}

// A liar's record never clears it and accuses nobody else; a record that is torn, of another match or missing does not count.
func TestFalseFlights(t *testing.T) {
	const every, at = 20, 47
	forge := func(change func(*flight.Record)) func(b []byte) []byte {
		return func(b []byte) []byte {
			r, err := flight.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			return r.Append(nil)
		}
	}
	wrong := func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == at {
			w.Spots[3].X++
		}
	}
	var truth []byte // the record of a machine that is right
	for _, row := range []struct {
		name   string
		lies   bool // the state is right, and the checksum false
		forge  func(b []byte) []byte
		aside  string
		depart int
	}{
		{"the truth", false, nil, "", 1},
		{"a false checksum", true, nil, "it shows the right state at tick 60, of which player 1 reported another checksum", 0},
		{"the record of a machine that is right", false, func([]byte) []byte { return truth }, "it shows the right state at tick 60, of which player 1 reported another checksum", 0},
		{"an earlier fault than it reported", false, forge(func(r *flight.Record) {
			for i := range r.Ticks[29:] {
				r.Ticks[29+i].Prints[2] ^= 1
			}
		}), "it shows another state at tick 40 than player 1 reported", 0},
		{"torn", false, func(b []byte) []byte { return b[:len(b)/2] }, "it cannot be read", 0},
		{"another match", false, forge(func(r *flight.Record) { r.Match[0]++ }), "it is of another match", 0},
		{"other sections", false, forge(func(r *flight.Record) {
			r.Prints++
			for i := range r.Ticks {
				r.Ticks[i].Prints = append(r.Ticks[i].Prints, 7)
			}
		}), "it has 4 sections, and the state 3", 0},
		{"empty", false, forge(func(r *flight.Record) { r.Ticks = nil }), "it is empty", 0},
		{"nothing", false, func([]byte) []byte { return nil }, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			change := wrong
			if row.lies {
				change = nil
			}
			m := drift.New(t, every, drift.Rules(change), nil, nil)
			m.Change = func(msg *protocol.Message) bool {
				switch {
				case msg.Kind == protocol.KindChecksum && row.lies && msg.Tick == 60:
					msg.Hash ^= 1
				case msg.Kind == protocol.KindFlight && row.lies:
					truth = bytes.Clone(msg.Bytes)
				case msg.Kind == protocol.KindFlight && row.forge != nil:
					msg.Bytes = row.forge(msg.Bytes)
					msg.Total = uint32(len(msg.Bytes))
				}
				return false
			}
			m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
			for _, known := range []bool{false, true} {
				e := explainDrift(t, m, known)
				aside := ""
				for _, r := range e.Flight.Records {
					if r.Player != 1 && r.Aside != "" {
						t.Errorf("known %t: the record of %d does not count: %s", known, r.Player, r.Aside)
					}
					if r.Player == 1 {
						aside = r.Aside
					}
				}
				if !strings.Contains(aside, row.aside) || (row.aside == "") != (aside == "") {
					t.Errorf("known %t: got %q, want %q", known, aside, row.aside)
				}
				if len(e.Flight.Machines) != row.depart {
					t.Errorf("known %t: got %+v, want %d", known, e.Flight.Machines, row.depart)
				}
				if known && !slices.Equal(e.Verdict.Players, []lockstep.Player{1}) {
					t.Errorf("the verdict is %+v, want player 1", e.Verdict)
				}
			}
		})
	}
}

// Without another machine's record, that of a machine is its own claim.
func TestOwnRecordProvesNothing(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == 47 {
			w.Spots[3].X++
		}
	}), nil, nil)
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	all := m.Evidence[0].Flights
	for _, row := range []struct {
		flights []host.Flight
		known   bool
		grade   desync.Grade
	}{
		{all[1:2], true, desync.GradeConsistent},
		{all[1:2], false, ""},
		{all[:2], true, desync.GradeProven},
		{all[1:], false, desync.GradeProven},
		{[]host.Flight{all[0], all[2]}, true, ""}, // not of the machine that differs
	} {
		m.Evidence[0].Flights = row.flights
		e := explainDrift(t, m, row.known)
		grade := desync.Grade("")
		if len(e.Flight.Machines) > 0 {
			grade = e.Flight.Machines[0].Grade
		}
		if grade != row.grade {
			t.Errorf("%d records, known %t: got %q, want %q", len(row.flights), row.known, grade, row.grade)
		}
	}
}

// The record of a machine that agrees, which lies between the checks, neither accuses its owner nor proves anything about another; one that
// contradicts a check does not count.
func TestLiarAccusesNobody(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == 47 {
			w.Spots[3].X++
		}
	}), nil, nil)
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	e := m.Evidence[0]
	whole := e.Flights
	for _, row := range []struct {
		last  lockstep.Tick // of those that lie
		known bool
		grade desync.Grade
		aside bool
	}{{59, true, desync.GradeProven, false}, {59, false, desync.GradeConsistent, false}, {60, true, desync.GradeProven, true}, {60, false, desync.GradeProven, true}} {
		r, err := flight.Parse(whole[2].Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Ticks {
			if x := &r.Ticks[i]; x.Tick > 43 && x.Tick <= row.last {
				x.State++
			}
		}
		e.Flights = []host.Flight{whole[0], whole[1], {Player: 0, Bytes: r.Append(nil)}}
		x := explainDrift(t, m, row.known)
		if len(x.Flight.Machines) != 1 || (x.Flight.Records[2].Aside != "") != row.aside {
			t.Fatalf("%+v: got %+v", row, x.Flight)
		}
		if d := x.Flight.Machines[0]; d.Player != 1 || d.First != (desync.Span{From: 47, To: 47}) || !slices.Equal(d.Machines, []lockstep.Player{255}) || d.Grade != row.grade {
			t.Errorf("%+v: got %+v", row, d)
		}
	}
}

// Without a referee the records of the players are compared. Where nobody knows who is right, nobody is accused.
func TestFlightsOfATie(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == 47 {
			w.Spots[3].X++
		}
	}), func(o *host.Options) { o.Relay = true }, nil)
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	for _, known := range []bool{false, true} {
		e := explainDrift(t, m, known)
		if len(e.Flight.Records) != 2 || len(e.Flight.Machines) != 1 {
			t.Fatalf("known %t: got %+v", known, e.Flight)
		}
		want := "the run of player 1 parted from player 0's in tick 47, in Spots: proven, by the records of two machines"
		if known {
			want = "the run of player 1 parted from this program's and player 0's in tick 47, in Spots: proven, by the records of two machines"
		}
		if d := e.Flight.Machines[0]; d.String() != want || d.Neutral == known {
			t.Errorf("known %t: got %s\nwant %s", known, d, want)
		}
		if !known && len(e.Verdict.Players) > 0 {
			t.Errorf("the verdict is %+v", e.Verdict)
		}
	}
}

// A wrong referee's record shows where it departed, and clears the player who contradicted it.
func TestFlightOfAWrongReferee(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(nil), nil, nil)
	flipped := false
	m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
		if f := m.Host.Referee(); !flipped && f.Tick() == 46 {
			lockstep.World[drift.World](f.Simulation()).Spots[3].X ^= 1
			flipped = true
		}
	})
	corrected := m.Host.Referee().Tick()
	m.Until(func() bool { return m.Host.Referee().Tick() >= corrected+5 }, nil)
	own := m.Host.Referee().Flight().Record() // of the right ticks, and it goes on
	if own.Last() != m.Host.Referee().Tick() {
		t.Errorf("the record of the corrected referee ends at tick %d, want %d", own.Last(), m.Host.Referee().Tick())
	}
	for _, x := range m.Evidence[0].Flights {
		r, err := flight.Parse(x.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := flight.Compare(own, r, 0); !ok || c.Ticks != 40 || c.Differs > 0 {
			t.Errorf("the record of the corrected referee and that of player %d: %+v", x.Player, c)
		}
	}
	e := explainDrift(t, m, true)
	if e.Verdict.Party != desync.WrongReferee || len(e.Flight.Machines) != 1 {
		t.Fatalf("got %+v, %+v", e.Verdict, e.Flight)
	}
	d := e.Flight.Machines[0]
	if d.Player != lockstep.System || d.First != (desync.Span{From: 47, To: 47}) || d.Grade != desync.GradeProven || e.First != d.First || !d.Computed {
		t.Errorf("got %+v, first %v", d, e.First)
	}
}
