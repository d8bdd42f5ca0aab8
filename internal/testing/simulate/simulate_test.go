package simulate

import (
	"flag"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

var seeds = flag.Int("seeds", 48, "how many seeds TestSeeds runs; samestep simulate runs thousands")

// All invariants hold, each seed gives the same run twice, and the seeds together
// inject every kind of fault.
func TestSeeds(t *testing.T) {
	n := *seeds
	if testenv.Small(t) {
		n = min(n, 3)
	}
	c := Campaign{Options: Options{Length: 60 * lockstep.Second}, First: 1, Seeds: n}
	r, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range r.Violations {
		t.Errorf("seed %d: %v", out.Plan.Seed, out.Violation)
	}
	if r.Compared == 0 || r.Checks == 0 || r.Accepted == 0 {
		t.Errorf("%d states and %d checksums compared, %d commands accepted", r.Compared, r.Checks, r.Accepted)
	}
	seen, all, missing := r.Edges()
	t.Logf("%d seeds, %.1f hours of play in %v, %d crashes, %d of %d edges, not %v, %d views compared", r.Seeds, r.Hours, r.Wall, r.Crashes, seen, all, missing, r.Counts["views compared"])
	if n < 48 {
		return
	}
	if r.Unaffected == 0 {
		t.Error("no player was without faults, so nothing was checked for I13")
	}
	if r.Counts["substitute"] == 0 || r.Counts["substitute failed"] == 0 || r.Rejected[lockstep.TooOften] == 0 {
		t.Errorf("%d substitutes, of which %d failed, and %d commands beyond a limit", r.Counts["substitute"], r.Counts["substitute failed"], r.Rejected[lockstep.TooOften])
	}
	for _, what := range []string{"match taken over", "match released", "clients of a server that lost its match", "takeover with lost ticks", "takeover that another server has overtaken",
		"takeover that crashed before its claim", "takeover that crashed during its claim", "takeover that crashed after its claim"} {
		if r.Counts[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
	for _, what := range []string{"views equal", "views late by a budget", "viewer at the end", "viewer seen as another team", "messages compared"} {
		if r.Counts[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
	if r.Counts["datagram to a client"] == 0 || r.Counts["datagram to the server"] == 0 {
		t.Error("no datagrams")
	}
	if r.Counts["closed as inactive"] == 0 {
		t.Error("nobody was inactive")
	}
	for _, kind := range Kinds() {
		if r.Injected[kind] == 0 {
			t.Errorf("no %s was injected", kind)
		}
	}
}

// Without one of its faults a plan draws the same numbers for everything else.
func TestStreamsAreSeparate(t *testing.T) {
	o := Options{}
	whole := Expand(o, 7)
	for i := range kinds {
		o.Only = slices.DeleteFunc(Kinds(), func(name string) bool { return name == kinds[i].name })
		for _, f := range Expand(o, 7).Faults {
			if f.Kind == kinds[i].name {
				t.Fatalf("%s is left out, and there is %+v", kinds[i].name, f)
			}
			same := func(g Fault) bool { g.ID = f.ID; return g == f }
			if slices.ContainsFunc(whole.Faults, func(g Fault) bool { return g.Kind == f.Kind }) && !slices.ContainsFunc(whole.Faults, same) {
				t.Fatalf("without %s there is %+v, which is not among the others", kinds[i].name, f)
			}
		}
	}
}

// A plan gives the same run each time, and another seed gives another.
func TestReproducible(t *testing.T) {
	o := Options{Length: 40 * lockstep.Second}
	o.fill()
	trace := func(seed uint64) uint64 {
		out, err := Run(o.Subject, Expand(o, seed))
		if err != nil || out.Violation != nil {
			t.Fatal(err, out.Violation)
		}
		return out.Trace
	}
	if a, b, other := trace(3), trace(3), trace(4); a != b || a == other {
		t.Errorf("got traces %x and %x of one seed, %x of another", a, b, other)
	}
}

// Machines whose memory was altered are asked to compute the ticks again, and are right this time, whatever happens to
// their links and to the server meanwhile. Liars say anything, and harm nobody.
func TestFlippedMachinesComputeAgain(t *testing.T) {
	testenv.Long(t)
	for _, only := range [][]string{{"flip"}, {"flip", "cut", "late", "clog", "client pause", "slow machine", "liar: lie", "liar: forge", "liar: withhold", "liar: every second check"}} {
		c := Campaign{Options: Options{Length: 120 * lockstep.Second, Only: only}, First: 1, Seeds: 12}
		r, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range r.Violations {
			t.Errorf("seed %d: %v", out.Plan.Seed, out.Violation)
		}
		honest, liars := r.Counts["computed again"], r.Counts["computed again by a liar: another result each time"]
		wrong, right, lies := r.Counts["record of a machine that was wrong"], r.Counts["record of a machine that was right"], r.Counts["trick: a false record"]
		if t.Logf("%v: %d records of wrong machines, %d of right ones, %d lies", only, wrong, right, lies); wrong < r.Injected["flip"]/8 || right < wrong || len(only) > 1 && lies == 0 {
			t.Errorf("%v: of %d flips %d machines gave records, and %d that were right; %d lied", only, r.Injected["flip"], wrong, right, lies)
		}
		t.Logf("%v: %d flips, %d machines computed again, %d liars had other results", only, r.Injected["flip"], honest, liars)
		if honest < r.Injected["flip"]/8 || honest == 0 || len(only) > 1 && liars == 0 {
			t.Errorf("%v: of %d flips %d machines computed again, and %d liars had other results", only, r.Injected["flip"], honest, liars)
		}
	}
}

// The time that was played is that of the match's ticks, and that of all runs has it once for each.
func TestPlayed(t *testing.T) {
	subject := Drones(16)
	p := Expand(Options{Subject: subject, Clients: 2, Length: 35 * sec, Calm: true}, 2)
	once, err := Run(subject, p)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Twice(subject, p)
	if err != nil {
		t.Fatal(err)
	}
	ticks := lockstep.Time(p.Settings.Micros(int64(once.Ticks)))
	if ticks == 0 || once.Violation != nil || twice.Violation != nil || p.hides() || once.Played != ticks || twice.Played != ticks || once.AllRuns != ticks || twice.AllRuns != 2*ticks {
		t.Errorf("%d ticks, which are %d µs: got %d µs once and %d µs in two runs", once.Ticks, ticks, once.AllRuns, twice.AllRuns)
	}
}
