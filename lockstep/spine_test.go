package lockstep_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A command goes the whole way: submitted, sealed, logged, followed, and both
// ends have the same state; a late joiner has it, too.
func TestSpine(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 3)
	var tail record.Tail
	var events []any
	follower := g.NewFollower(lockstep.FollowerOptions{Observer: func(_ lockstep.Tick, e any) { events = append(events, e) }})
	c, err := coordinator.New(g, h, record.Tee(&tail, follower), coordinator.Options{InputDelay: 2})
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(3) {
		if _, err := c.Join(p); err != nil {
			t.Fatal(err)
		}
	}
	seq := lockstep.Sequence(0)
	for range 50 {
		seq++
		kind, b := testgame.Encode(t, g, &testgame.Earn{Coins: uint16(seq)})
		if r := c.Submit(1, seq, kind, b); r.Reason != lockstep.Accepted {
			t.Fatal(r)
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := follower.Simulation().Hash(), c.Referee().Simulation().Hash(); got != want {
		t.Errorf("follower has checksum %x, referee %x", got, want)
	}
	if len(events) != 49 { // the last command waits for tick 51; the first could run in tick 2
		t.Errorf("got %d events, want 49", len(events))
	}
	if follower.Checked() != 13 { // 10 checks, keyframes at 0, 20 and 40
		t.Errorf("compared %d checksums, want 13", follower.Checked())
	}
	late := g.NewFollower(lockstep.FollowerOptions{})
	if err := tail.Join(late); err != nil {
		t.Fatal(err)
	}
	if late.Tick() != 50 || late.Simulation().Hash() != follower.Simulation().Hash() {
		t.Errorf("late joiner at tick %d has another state", late.Tick())
	}
}
