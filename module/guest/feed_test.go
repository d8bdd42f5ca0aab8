package guest_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
)

// Views of rules elsewhere are sent in the same bytes as those of native rules: their description has the tags.
func TestFeedAsNative(t *testing.T) {
	x := subjects(t)["skirmish"]
	h, err := x.native.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(4), x.config)
	if err != nil {
		t.Fatal(err)
	}
	var sims [2]*lockstep.Simulation
	var senders [2]*feed.Sender
	var plans [2][]byte
	for i, g := range []*lockstep.Game{x.native, x.elsewhere} {
		plan, err := feed.NewPlan(g.ViewSchema(), g.ViewTags())
		if err != nil {
			t.Fatal(err)
		}
		plans[i], senders[i] = plan.AppendDescription(nil), feed.NewSender(plan)
		if sims[i], err = g.NewSimulation(h); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(plans[0], plans[1]) {
		t.Errorf("got the plan %x, want %x", plans[1], plans[0])
	}
	if plan, err := feed.NewPlan(x.native.ViewSchema(), nil); err != nil || bytes.Equal(plan.AppendDescription(nil), plans[0]) {
		t.Error("control: the plan has no tags", err)
	}
	for tick := lockstep.Tick(1); tick <= 40; tick++ {
		var deltas [2][]byte
		for i, s := range sims {
			if err := s.Step(&lockstep.Frame{Tick: tick}); err != nil {
				t.Fatal(err)
			}
			view, err := s.AppendView(nil, s.ViewerOf(1))
			if err == nil {
				err = senders[i].Set(view, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, deltas[i] = senders[i].Delta(senders[i].Number() - 1)
		}
		if len(deltas[0]) == 0 || !bytes.Equal(deltas[0], deltas[1]) {
			t.Fatalf("tick %d: got the delta %x, want %x", tick, deltas[1], deltas[0])
		}
	}
}
