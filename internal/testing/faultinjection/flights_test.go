package faultinjection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// raced sets a field after a tick to another value in each computation, as two goroutines do that write to it.
func raced(m *match, dice *rand.Rand) (*variant, error) {
	t := m.subject.anyTick(dice)
	path := m.draw(dice, t, flippable)
	if path == "" {
		return nil, nil
	}
	times := uint64(0)
	return m.damaged(t, path, path, func(b []byte) []byte {
		v, err := m.game.StateSchema().Lookup(b, path)
		if err != nil {
			return b
		}
		if times++; times%2 == 0 {
			v.Flip()
		} else if v.Flip(); len(v.Bytes) > 1 {
			v.Bytes[1] ^= byte(times) // the second byte of an integer
		}
		return b
	}), nil
}

// The records of the last ticks name the exact tick and section of faults of memory, races and draws, whatever lies between two checks, and
// accuse nobody else.
func TestFlightRecordsOfFaults(t *testing.T) {
	seeds := uint64(10)
	if testenv.Small(t) {
		seeds = 1
	}
	right, all, none := 0, 0, 0
	for _, every := range []lockstep.Tick{20, 100, 300} {
		for _, kind := range []struct {
			name  string
			plant planter
		}{
			{"memory", flipped(flippable)}, {"lost element", lostElement}, {"race", raced}, {"draw too many", extraDraws(1)},
		} {
			of := 0
			for seed := range seeds {
				s := rts()
				if seed%2 == 0 {
					s = coins()
				}
				s.ticks, s.every = max(longest, 4*every+100), every
				hit, planted := flownFault(t, s, seed+1, fmt.Sprintf("%s every %d, seed %d", kind.name, every, seed+1), kind.plant)
				if !planted {
					none++
					continue
				}
				if all++; hit {
					right, of = right+1, of+1
				}
			}
			t.Logf("check every %d, %s: %d of %d right", every, kind.name, of, seeds)
		}
	}
	t.Logf("%d of %d right, %d without a place", right, all, none)
	if 100*right < 95*all || all < 8 {
		t.Errorf("%d of %d right, want 95 percent of at least 8", right, all)
	}
}

// flownFault plants a fault in the copy of a player, and reports whether the explanation has its tick and section from the records.
func flownFault(t *testing.T, s *Subject, seed uint64, name string, p planter) (hit, planted bool) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, uint64(s.every)))
	base, err := s.play(seed, s.truthful(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := plant(base, dice, p)
	if err != nil {
		return false, false
	}
	seat := lockstep.Player(dice.IntN(int(s.Players)))
	m, err := s.play(seed, cast{referee: s.Game, copied: v.game, seat: seat, brief: true})
	if err != nil {
		t.Fatal(err)
	}
	first, err := firstDiffering(m.states, m.copied, 1)
	if err != nil || len(m.reports) == 0 {
		return false, false // undone before the check
	}
	section, err := m.section(m.states[first], m.copied[first])
	if err != nil {
		t.Fatal(err)
	}
	e := m.evidence()
	e.Flights = m.flights
	b, err := m.bundle(e)
	if err != nil {
		t.Fatal(err)
	}
	x, err := desync.Explain(b, desync.Options{Budget: time.Millisecond, Game: func(*lockstep.Header) (*lockstep.Game, error) { return m.game, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Flight.Machines) > 1 || len(x.Flight.Machines) == 1 && x.Flight.Machines[0].Player != seat {
		t.Errorf("%s: got %+v, want player %d alone", name, x.Flight.Machines, seat)
	}
	if len(x.Flight.Machines) == 0 {
		t.Logf("%s: %v", name, x.Flight.Lines())
		return false, true
	}
	d := x.Flight.Machines[0]
	if d.First.From > first || d.First.To < first {
		t.Errorf("%s: got ticks %v, want %d", name, d.First, first)
	}
	hit = d.First == desync.Span{From: first, To: first} && x.First == d.First && len(d.Sections) > 0 && d.Sections[0] == section &&
		d.Grade == desync.GradeProven && d.Computed && slices.Contains(d.Machines, lockstep.System)
	if !hit {
		t.Logf("%s: got %+v, %v, want tick %d in %s", name, d, x.First, first, section)
	}
	return hit, true
}
