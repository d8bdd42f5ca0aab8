package host

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

func testRates() *[budgets]Rate {
	var r [budgets]Rate
	for b := range r {
		r[b] = Rate{N: 1, Per: lockstep.Second, Burst: 10}
	}
	return &r
}

// The table is bounded for any number of subjects, and connected subjects keep their accounts. The account with the
// smallest debt is evicted.
func TestAccountsAreBounded(t *testing.T) {
	rates := testRates()
	x := accounts{max: 4}
	kept := x.open(0, rates, "kept", false)
	for i, n := range []int{5, 2, 9} {
		a := x.open(0, rates, fmt.Sprint("gone ", i), false)
		a.used[chatBudget].Take(0, rates[chatBudget], n)
		a.users--
	}
	x.open(0, rates, "another", false).users--
	if _, found := x.find("gone 1"); found || len(x.all) != 4 {
		t.Errorf("%d accounts, and the one that owes the least is there: %t", len(x.all), found)
	}
	for i := range 1000 {
		a := x.open(0, rates, fmt.Sprint("many ", i), i%2 == 0)
		a.used[byteBudget].Take(0, rates[byteBudget], 1)
		a.users--
	}
	if _, found := x.find("gone 2"); !found || len(x.all) != 4 {
		t.Errorf("%d accounts, and the one that owes the most is there: %t", len(x.all), found)
	}
	if x.open(0, rates, "kept", false) != kept {
		t.Error("a connected subject has another account")
	}
	if err := x.check(2); err != nil {
		t.Error(err)
	}
	if x.check(1) == nil || (&accounts{all: []*account{{key: "b"}, {key: "a"}}, max: 2}).check(0) == nil || (&accounts{all: x.all}).check(2) == nil {
		t.Error("control: a wrong table is not found")
	}
}

// An account is removed once all of its buckets are full, and not before.
func TestAccountsAreSwept(t *testing.T) {
	rates := testRates()
	x := accounts{max: 100}
	a := x.open(0, rates, "a", false)
	a.used[syncBudget].Take(0, rates[syncBudget], 10)
	shared := x.open(0, rates, "b", true)
	if got := shared.limit(rates, syncBudget); got.Burst != 80 || got.N != 8 {
		t.Errorf("a crowd has %+v", got)
	}
	if got := shared.limit(rates, paceBudget); got != rates[paceBudget] {
		t.Errorf("a crowd has a pace of %+v", got)
	}
	a.users--
	shared.users--
	x.open(9*lockstep.Second, rates, "c", false).users--
	if len(x.all) != 3 {
		t.Errorf("%d accounts, and no time for a sweep", len(x.all))
	}
	x.open(sweepEvery, rates, "d", false).users--
	if len(x.all) != 1 {
		t.Errorf("%d accounts after a sweep", len(x.all))
	}
	a = x.open(62*lockstep.Second, rates, "a", false)
	a.used[syncBudget].Take(62*lockstep.Second, rates[syncBudget], 10)
	a.users--
	x.sweep(71*lockstep.Second, rates)
	if _, found := x.find("a"); !found {
		t.Error("an account went before it was full")
	}
	x.sweep(72*lockstep.Second, rates)
	if _, found := x.find("a"); found {
		t.Error("a full account stayed")
	}
	now := 100 * lockstep.Second // the match waited for a player that has left
	a = x.open(now, rates, "a", false)
	a.pace.waited, a.pace.waitedFrom = lockstep.Second, now
	a.users--
	x.sweep(now+minute-1, rates)
	if _, found := x.find("a"); !found {
		t.Error("the time for which the match waited was forgotten before its minute was over")
	}
	x.sweep(now+minute, rates)
	if _, found := x.find("a"); found {
		t.Error("the account stayed after that minute")
	}
}

// Subjects of any length stay within the memory bound.
func TestAccountKeys(t *testing.T) {
	x := accounts{max: 1}
	a := x.open(0, testRates(), string(make([]byte, 1<<20)), false)
	if len(a.key) != maxAccountKey || x.memory() != accountMemory+maxAccountKey {
		t.Errorf("a key of %d bytes, %d bytes of memory", len(a.key), x.memory())
	}
}
