package budget

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Each kind is charged to the account that the page says, and the match's own rates bound all of them together.
func TestTabs(t *testing.T) {
	for _, row := range []struct {
		name       string
		a, b       Holder
		flow, cost bool // b has what a has left
	}{
		{"a player's two connections", Holder{Subject: "x", Address: "1"}, Holder{Subject: "x", Address: "2"}, true, true},
		{"two players of an address", Holder{Subject: "x", Address: "1"}, Holder{Subject: "y", Address: "1"}, false, false},
		{"two guests of an address", Holder{Subject: "x", Address: "1", Guest: true}, Holder{Subject: "y", Address: "1", Guest: true}, false, true},
		{"two spectators of a token", Holder{Subject: "x", Spectator: true}, Holder{Subject: "x", Spectator: true}, false, true},
		{"a player and a spectator of a subject", Holder{Subject: "x"}, Holder{Subject: "x", Spectator: true}, false, false},
		{"a guest and a player of a subject", Holder{Subject: "x", Guest: true}, Holder{Subject: "x"}, true, false},
	} {
		l := newLedger(10)
		var a, b Tab
		l.Welcome(0, &a, row.a)
		l.Welcome(0, &b, row.b)
		if err := l.Check(a.Uses() + b.Uses()); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		for k := range Kinds {
			want := row.cost
			if k.ofFlow() {
				want = row.flow
			}
			a.account(k).used[k].Take(0, l.rates.Of[k], 10)
			if got := b.account(k).used[k].used > 0; got != want {
				t.Errorf("%s share their %s: %t", row.name, k, got)
			}
		}
		l.Leave(&a)
		l.Leave(&b)
		if err := l.Check(0); err != nil || a.Payer() != 0 || a.account(Chat) != &a.own {
			t.Errorf("%s: after they left: %v", row.name, err)
		}
	}
}

// What the match has no room for is not charged to an account, but a note is.
func TestTogether(t *testing.T) {
	for k, want := range map[Kind]int{Comparisons: 10, Resimulations: 10, Notes: 9} {
		l := newLedger(10)
		var last Tab
		for _, subject := range []string{"a", "b", "c"} {
			last = Tab{}
			l.Welcome(0, &last, Holder{Subject: subject})
			if subject != "c" && k != Notes && !l.Take(0, &last, k, 10) {
				t.Errorf("%s: %s is refused", k, subject)
			}
		}
		l.used[Notes].Take(0, l.rates.Notes, 10)
		if l.Take(0, &last, k, 1) || k != Notes && l.Room(0, &last, k) != 0 {
			t.Errorf("%s: the match has no room, and one is taken", k)
		}
		if got := last.cost.used[k].Room(0, l.rates.Of[k]); got != want {
			t.Errorf("%s: %d are left, want %d", k, got, want)
		}
	}
}

// A share that is spent stays so until half of it is back, and is not charged for more than it is granted.
func TestGrants(t *testing.T) {
	l := newLedger(10)
	l.rates.Of[Pace] = Rate{N: 100, Per: lockstep.Second, Burst: 1000}
	var p Tab
	l.Welcome(0, &p, Holder{Subject: "x"})
	id := p.Payer()
	for _, step := range []struct{ at, ask, want, all lockstep.Time }{
		{0, 900, 900, 900},
		{0, 200, 50, 50},                     // spent: what half a second refills
		{lockstep.Second, 10, 10, 10},        // less than that
		{2 * lockstep.Second, 0, 0, 0},       // 240 are back
		{5 * lockstep.Second, 500, 500, 500}, // half is back
	} {
		got, _, _ := l.Grant(step.at, id, step.ask, lockstep.Second/2)
		if all := l.GrantAll(step.at, got, lockstep.Second/2); got != step.want || all != step.all {
			t.Errorf("at %d: %d granted, %d of the match, want %d and %d", step.at, got, all, step.want, step.all)
		}
	}
	if _, used, spent := l.Grant(5*lockstep.Second, id, 0, 0); used != 960 || spent || !l.SpentLately(minute, id) || l.SpentLately(3*lockstep.Second+minute, id) {
		t.Errorf("%d used, spent %t", used, spent)
	}
	if _, got := l.Wait(5*lockstep.Second, id, 0); got != 40 {
		t.Errorf("patience for %d", got)
	}
	l.Bill(0, id)
	l.Leave(&p)
	if err := l.Check(1); err != nil {
		t.Error(err)
	}
	l.Bill(id, 0)
	if err := l.Check(0); err != nil {
		t.Error(err)
	}
}

// A crowd's keyframes are bounded together, a player's are not, and one of any size can be sent four times at once.
func TestKeyframes(t *testing.T) {
	const size = 1000
	l := newLedger(1000)
	taken := 0
	for i := range 12 {
		var p Tab
		l.Welcome(0, &p, Holder{Address: string(rune('a' + i)), Guest: true, Spectator: true})
		n := l.KeyframeRoom(0, &p, size)
		l.TakeKeyframe(0, &p, n, size)
		taken += n
	}
	if taken != MatchCrowd*4*size {
		t.Errorf("%d bytes to a crowd, want %d", taken, MatchCrowd*4*size)
	}
	var p Tab
	l.Welcome(0, &p, Holder{Subject: "x"})
	if got := l.KeyframeRoom(0, &p, size); got != 4*size {
		t.Errorf("%d bytes to a player, want %d", got, 4*size)
	}
	l.TakeKeyframe(0, &p, 3*size, size)
	if got := l.Spent(0, &p); l.KeyframeRoom(0, &p, size) != size || got["keyframes"] != 100*3*size/10 || got["chat"] != 0 {
		t.Errorf("%d bytes left, spent %v", l.KeyframeRoom(0, &p, size), got)
	}
}
