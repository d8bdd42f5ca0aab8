package simulate

import (
	"slices"
	"testing"
)

// A campaign says what its matches did: the commands by kind, and all fields but those that nobody changes.
func TestCampaignReached(t *testing.T) {
	c := Campaign{Options: Options{Subject: Drones(32), Clients: 3, Length: Shortest}, First: 1, Seeds: 3, Workers: 2, Once: true}
	r, err := c.Run()
	if err != nil || len(r.Violations) > 0 {
		t.Fatalf("got %v, %v", r.Violations, err)
	}
	got := r.Reached.Reached()
	if got.Matches != 3 || got.Ticks < 3*300 || got.Commands() < 20 || got.Accepted[0].N == 0 || got.Accepted[1].N == 0 ||
		!slices.Equal(got.Still, []string{"Units[].Owner", "Units"}) {
		t.Errorf("got %v", got)
	}
}
