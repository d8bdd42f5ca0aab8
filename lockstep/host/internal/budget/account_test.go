package budget

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// newLedger returns a Ledger with places for so many accounts, of rates of one a second and ten at once.
func newLedger(most int) *Ledger {
	r := Limits{Notes: Rate{N: 1, Per: lockstep.Second, Burst: 10}}
	for k := range r.Of {
		r.Of[k] = r.Notes
	}
	l := New(r, 0)
	l.most = most
	return l
}

// use takes n of a kind from the account of a subject, which then leaves.
func use(l *Ledger, now lockstep.Time, subject string, k Kind, n int) {
	var t Tab
	l.Welcome(now, &t, Holder{Subject: subject})
	l.Take(now, &t, k, n)
	l.Leave(&t)
}

func has(l *Ledger, subject string) bool {
	_, found := l.find("p" + subject)
	return found
}

// The table is bounded for any number of subjects, and connected subjects keep their accounts. The account with the
// smallest debt is evicted.
func TestAccountsAreBounded(t *testing.T) {
	x := newLedger(4)
	var kept, again Tab
	x.Welcome(0, &kept, Holder{Subject: "kept"})
	for i, n := range []int{5, 2, 9} {
		use(x, 0, fmt.Sprint("gone ", i), Chat, n)
	}
	use(x, 0, "another", Chat, 0)
	if has(x, "gone 1") || len(x.all) != 4 {
		t.Errorf("%d accounts, and the one that owes the least is there: %t", len(x.all), has(x, "gone 1"))
	}
	for i := range 1000 {
		use(x, 0, fmt.Sprint("many ", i), Bytes, 1)
	}
	if !has(x, "gone 2") || len(x.all) != 4 {
		t.Errorf("%d accounts, and the one that owes the most is there: %t", len(x.all), has(x, "gone 2"))
	}
	x.Welcome(0, &again, Holder{Subject: "kept"})
	if again.Payer() != kept.Payer() || kept.Payer() == 0 {
		t.Error("a connected subject has another account")
	}
	if err := x.Check(kept.Uses() + again.Uses()); err != nil {
		t.Error(err)
	}
	wrong := &Ledger{all: []*account{{key: "b"}, {key: "a"}}, most: 2}
	if x.Check(1) == nil || wrong.Check(0) == nil || (&Ledger{all: x.all, byID: x.byID}).Check(4) == nil {
		t.Error("control: a wrong table is not found")
	}
	x.Resize(0, 1-spareAccounts/2)
	if len(x.all) != 2 || !has(x, "kept") {
		t.Errorf("%d accounts in two places, and the connected one is there: %t", len(x.all), has(x, "kept"))
	}
}

// An account is removed once all of its buckets are full, and not before.
func TestAccountsAreSwept(t *testing.T) {
	x := newLedger(100)
	use(x, 0, "a", Syncs, 10)
	var shared Tab
	x.Welcome(0, &shared, Holder{Subject: "b", Spectator: true})
	if got := shared.cost.limit(&x.rates, Syncs); got.Burst != 80 || got.N != 8 {
		t.Errorf("a crowd has %+v", got)
	}
	if got := shared.cost.limit(&x.rates, Pace); got != x.rates.Of[Pace] {
		t.Errorf("a crowd has a pace of %+v", got)
	}
	x.Leave(&shared)
	use(x, 9*lockstep.Second, "c", Chat, 0)
	if len(x.all) != 3 {
		t.Errorf("%d accounts, and no time for a sweep", len(x.all))
	}
	use(x, sweepEvery, "d", Chat, 0)
	if len(x.all) != 1 {
		t.Errorf("%d accounts after a sweep", len(x.all))
	}
	use(x, 62*lockstep.Second, "a", Syncs, 10)
	stays := func(now lockstep.Time, want bool, why string) {
		t.Helper()
		if x.sweep(now); has(x, "a") != want {
			t.Errorf("%s: the account is there: %t", why, !want)
		}
	}
	stays(71*lockstep.Second, true, "before it is full")
	stays(72*lockstep.Second, false, "when it is full")
	wait := func(now lockstep.Time, id ID, dt lockstep.Time) lockstep.Time {
		waited, _ := x.Wait(now, id, dt)
		return waited
	}
	for why, count := range map[string]struct {
		of   func(now lockstep.Time, id ID, dt lockstep.Time) lockstep.Time
		keep lockstep.Time
	}{
		"the match waited for a player that has left": {wait, minute},
		"a lobby waited for a player that has left":   {x.Await, keepAwaited},
	} {
		now := 100 * minute
		var a Tab
		x.Welcome(now, &a, Holder{Subject: "a"})
		count.of(now, a.Payer(), lockstep.Second)
		x.Leave(&a)
		stays(now+count.keep-1, true, why)
		stays(now+count.keep, false, why)
	}
}

// Subjects of any length stay within the memory bound.
func TestAccountKeys(t *testing.T) {
	x := newLedger(1)
	use(x, 0, string(make([]byte, 1<<20)), Chat, 0)
	if len(x.all[0].key) != MaxKey || x.Memory() != x.MemoryBound() {
		t.Errorf("a key of %d bytes, %d bytes of memory", len(x.all[0].key), x.Memory())
	}
}
