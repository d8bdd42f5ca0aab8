package lockstep_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A command that was accepted and then forgotten, because so many after it were
// refused, still runs before all that follow, also if the input delay has become
// shorter meanwhile.
func TestOrderBeyondTheWindow(t *testing.T) {
	game := lockstep.MustGame(testgame.BankRules())
	header, err := game.NewHeader(lockstep.MatchID{5}, lockstep.DefaultSettings(2), &testgame.BankConfig{Start: 1000})
	if err != nil {
		t.Fatal(err)
	}
	c, err := coordinator.New(game, header, record.Tee(), coordinator.Options{InputDelay: 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tick(); err != nil {
		t.Fatal(err)
	}
	kind, b, err := game.NewPayloads().Encode(&testgame.Earn{Coins: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := c.Submit(0, 1, kind, b)
	for seq := lockstep.Sequence(200); seq <= 600; seq += 200 {
		c.Submit(0, seq, kind, []byte{0xc1}) // refused, and decided
	}
	if _, err := c.SetInputDelay(1); err != nil {
		t.Fatal(err)
	}
	later := c.Submit(0, 700, kind, b)
	if first.Reason != lockstep.Accepted || later.Reason != lockstep.Accepted || later.Tick < first.Tick {
		t.Fatalf("got %v and then %v", first, later)
	}
	for range 30 {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}
