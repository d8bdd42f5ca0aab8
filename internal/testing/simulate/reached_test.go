package simulate

import (
	"slices"
	"strings"
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
	if got.Ticks != int(r.Ticks) || r.AllHours != r.Hours {
		t.Errorf("got %d ticks of %d, and %v hours of %v", got.Ticks, r.Ticks, r.Hours, r.AllHours)
	}
}

// A campaign without any fault says so, unless none was asked for.
func TestIdle(t *testing.T) {
	for _, row := range []struct {
		o    Options
		want string
	}{
		{Options{Only: []string{"power cut"}}, ""},
		{Options{Only: []string{"waver"}}, "simulate: no fault of the kinds waver happened (seeds: 2, ticks of the longest match: "},
		{Options{Only: []string{}}, ""},
		{Options{Only: []string{"waver"}, Calm: true}, ""},
	} {
		row.o.Subject, row.o.Clients, row.o.Length = Drones(8), 2, Shortest
		c := Campaign{Options: row.o, First: 1, Seeds: 2, Once: true}
		r, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		if err = c.Idle(r); (err == nil) != (row.want == "") || err != nil && !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v: got %v after %d faults, want %q", row.o.Only, err, r.Faults(), row.want)
		}
	}
}

// Commands that a crash took back do not count, and those of ticks that came again count once.
func TestReachedAfterPowerCuts(t *testing.T) {
	s, dropped := Drones(8), false
	for seed := uint64(1); seed <= 4; seed++ {
		p := Expand(Options{Subject: s, Clients: 2, Length: 120 * sec, Only: []string{"power cut"}}, seed)
		p.Disk.EachFrame, p.Disk.Await = false, false
		w, err := newWorldOf(s, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.protect(func() { w.until(w.start + w.plan.Chaos) })
		dropped = dropped || slices.ContainsFunc(w.oracle.epochs, func(h *history) bool { return h.dropped })
		got := w.oracle.played().Reached()
		if got.Commands() != len(w.oracle.where) || got.Ticks != int(w.oracle.tick()) {
			t.Errorf("seed %d: got %v, want %d commands in %d ticks", seed, got, len(w.oracle.where), w.oracle.tick())
		}
	}
	if !dropped {
		t.Error("no power cut took a tick back")
	}
}
