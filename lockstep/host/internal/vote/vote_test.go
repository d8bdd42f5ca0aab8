package vote

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

func seats(accounts ...budget.ID) (all []Seat) {
	for _, a := range accounts {
		all = append(all, Seat{Taken: true, Account: a, Votes: true})
	}
	return all
}

// More than half of the other accounts must agree, and two at least.
func TestCast(t *testing.T) {
	type ballot struct {
		by, against int
		at          lockstep.Time
	}
	for _, c := range []struct {
		name       string
		seats      []Seat
		ballots    []ballot
		drop       int // the seat whose vote is dropped before the last ballot, and 0
		agree, all int
		kicked     bool
	}{
		{"one of one", seats(1, 2), []ballot{{0, 1, 0}}, 0, 1, 1, false},
		{"two of two", seats(1, 2, 3), []ballot{{0, 2, 0}, {1, 2, 0}}, 0, 2, 2, true},
		{"half", seats(1, 2, 3, 4, 5), []ballot{{0, 4, 0}, {1, 4, 0}}, 0, 2, 4, false},
		{"three of four", seats(1, 2, 3, 4, 5), []ballot{{0, 4, 0}, {1, 4, 0}, {3, 4, 0}}, 0, 3, 4, true},
		{"twice the same", seats(1, 2, 3), []ballot{{0, 2, 0}, {0, 2, 0}}, 0, 1, 2, false},
		{"guests of an address", seats(1, 1, 1, 4), []ballot{{0, 3, 0}, {1, 3, 0}, {2, 3, 0}}, 0, 1, 1, false},
		{"against one after another", seats(1, 2, 3, 4), []ballot{{0, 3, 0}, {0, 2, 0}, {1, 3, 0}}, 0, 1, 3, false},
		{"a minute later", seats(1, 2, 3), []ballot{{0, 2, 0}, {1, 2, lasts}}, 0, 2, 2, true},
		{"too late", seats(1, 2, 3), []ballot{{0, 2, 0}, {1, 2, lasts + 1}}, 0, 1, 2, false},
		{"of a seat with another player", seats(1, 2, 3), []ballot{{1, 2, 0}, {0, 2, 0}}, 1, 1, 2, false},
		{"against an unknown account", seats(1, 2, 0), []ballot{{0, 2, 0}}, 0, 1, 2, false},
	} {
		v := New(len(c.seats))
		var agree, all int
		var kicked bool
		for i, b := range c.ballots {
			if i == len(c.ballots)-1 && c.drop > 0 {
				v.Drop(lockstep.Player(c.drop))
			}
			agree, all, kicked = v.Cast(b.at, lockstep.Player(b.by), c.seats[b.against].Account, c.seats)
		}
		if agree != c.agree || all != c.all || kicked != c.kicked {
			t.Errorf("%s: got %d of %d, kicked %t", c.name, agree, all, kicked)
		}
	}
}

// A vote names a seat, or a name that only one has.
func TestNamed(t *testing.T) {
	all := []Seat{{Taken: true, Name: "ann"}, {Name: "gone"}, {Taken: true, Name: "bob"}, {Taken: true, Name: "bob"}, {Taken: true}}
	for line, want := range map[string]int{
		"/kick 0": 0, "/kick  ann ": 0, "/kick 4": 4, "/kick 1": -1, "/kick gone": -1, "/kick bob": -1, "/kick ": -1, "/kick 5": -1, "/kick 256": -1, "kick 0": -1, "/kick": -1,
	} {
		got := -1
		if whom, ok := Parse(line); ok {
			if p, ok := Named(whom, all); ok {
				got = int(p)
			}
		}
		if got != want {
			t.Errorf("%q: got seat %d, want %d", line, got, want)
		}
	}
}
