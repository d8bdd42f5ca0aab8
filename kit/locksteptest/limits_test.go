package locksteptest_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// limitedRules are rules with a limit for each kind, as a game has it for chat or votes.
func limitedRules(rules lockstep.Rules[pasture, pastureConfig]) lockstep.Rules[pasture, pastureConfig] {
	rules.Commands = []lockstep.CommandType{
		lockstep.Type[drive](1, "drive").Limit(2, lockstep.Second/2),
		lockstep.Type[breed](2, "breed").Limit(5, lockstep.Second),
	}
	return rules
}

// The limits of kinds refuse many commands, and the game is not at fault.
func TestLimits(t *testing.T) {
	g := lockstep.MustGame(limitedRules(pastureRules()))
	for seed := range uint64(20) {
		o := options()
		o.Seed, o.Rate = seed+1, 12
		locksteptest.Check(t, g, o)
	}
	o := options()
	o.Choices = []byte(strings.Repeat("\x93\x07many commands", 700))
	locksteptest.Check(t, g, o)
}

// A failure of a game with limits happens again from a list of its commands, and gets small.
func TestShrinkLimited(t *testing.T) {
	rules := limitedRules(greedyRules())
	for seed := range uint64(5) {
		o := options()
		o.Seed, o.Rate, o.Ticks = seed+1, 12, 100
		big := find(t, rules, o)
		small := big.Shrink(locksteptest.ShrinkOptions{})
		if small.Phase != big.Phase || len(small.Options.Orders) != 2 {
			t.Errorf("seed %d: %v became %v with the orders %+v", seed, big, small, small.Options.Orders)
		}
		again := find(t, rules, small.Options)
		if again.Error() != small.Error() {
			t.Errorf("seed %d: got %v, want %v", seed, again, small)
		}
	}
}

// Receipts that contradict a limit are found, as those of a coordinator that counts wrongly.
func TestWrongCount(t *testing.T) {
	const accepted, tooOften = lockstep.Accepted, lockstep.TooOften
	for _, row := range []struct {
		name     string
		receipts []locksteptest.Counted // 2 drives are allowed in 10 ticks
		want     string
	}{
		{"right", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {3, tooOften, 8}, {10, tooOften, 1}, {11, accepted, 0}, {12, accepted, 0}}, ""},
		{"refused ones do not count", []locksteptest.Counted{{1, accepted, 0}, {1, lockstep.Refused, 0}, {1, accepted, 0}}, ""},
		{"one too many", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {3, accepted, 0}},
			"command 3 of player 0, kind 1: got accepted for tick 4, want a wait of 8 ticks: at most 2 in 10 ticks"},
		{"one too few", []locksteptest.Counted{{1, accepted, 0}, {2, tooOften, 9}}, "want a wait of 0 ticks"},
		{"a short window", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {10, accepted, 0}}, "want a wait of 1 ticks"},
		{"a long window", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {11, tooOften, 1}}, "want a wait of 0 ticks"},
		{"a wrong wait", []locksteptest.Counted{{1, accepted, 0}, {1, accepted, 0}, {5, tooOften, 5}}, "want a wait of 6 ticks"},
		{"refused within none", []locksteptest.Counted{{1, accepted, 0}, {1, accepted, 0}, {5, lockstep.Refused, 0}}, "want a wait of 6 ticks"},
	} {
		err := locksteptest.CheckCounts(lockstep.MustGame(limitedRules(pastureRules())), 1, row.receipts)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}
