package simulate

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// duel returns a bank for two players, whose configuration depends on the number of seats.
func duel(start int64) *Subject {
	rules := testgame.BankRules()
	create := rules.New
	rules.New = func(w *testgame.Bank, s *lockstep.Settings, c *testgame.BankConfig) error {
		if s.Players > 2 || c.Start%10 != int64(s.Players) {
			return errors.New("not a duel")
		}
		return create(w, s, c)
	}
	return &Subject{
		Game: lockstep.MustGame(rules), Seats: []uint8{1, 2},
		Configure: func(seats uint8) (any, error) { return &testgame.BankConfig{Start: start + int64(seats)}, nil },
		Play: func(_ lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
			return func(*lockstep.Simulation) []any { return []any{&testgame.Earn{Coins: uint16(r.IntN(9))}} }
		},
	}
}

// A game for two can be simulated, although most plans have more seats.
func TestSeats(t *testing.T) {
	o := Options{Subject: duel(100), Clients: 8, Length: Shortest}
	unlimited := *o.Subject
	unlimited.Seats = nil
	more := o
	more.Subject = &unlimited
	accepted, limited := 0, 0
	for seed := range uint64(8) {
		if Expand(more, seed).Settings.Players > 2 {
			limited++
		}
		out, err := Twice(o.Subject, Expand(o, seed))
		if err != nil || out.Violation != nil {
			t.Fatalf("seed %d: %v, %v", seed, out, err)
		}
		accepted += out.Accepted
	}
	if accepted < 100 || limited < 4 {
		t.Errorf("got %d accepted commands, and %d plans with more seats", accepted, limited)
	}
	if _, err := Run(&unlimited, Expand(more, 1)); err == nil || !strings.Contains(err.Error(), "not a duel") {
		t.Errorf("more seats than the game accepts: got %v", err)
	}
}

// An artifact brings its configuration along, and is refused for another game.
func TestArtifactOf(t *testing.T) {
	s := duel(100)
	p := Expand(Options{Subject: s, Clients: 2, Length: Shortest}, 3)
	out, err := Run(s, p)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewArtifact(s, out)
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.Of(duel(200))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(own, a.Plan)
	other, err2 := Run(duel(200), a.Plan)
	if err != nil || err2 != nil || again.Trace != out.Trace || other.Trace == out.Trace {
		t.Errorf("got traces %x and with another configuration %x, want %x: %v, %v", again.Trace, other.Trace, out.Trace, err, err2)
	}
	if _, err := a.Of(Drones(8)); !errors.Is(err, errArtifact) || !strings.Contains(err.Error(), "of game bank build 1, want drones build 1") {
		t.Errorf("another game: got %v", err)
	}
	a.Config = a.Config[1:]
	if _, err := a.Of(s); !errors.Is(err, errArtifact) || !strings.Contains(err.Error(), "configuration") {
		t.Errorf("a damaged configuration: got %v", err)
	}
}
