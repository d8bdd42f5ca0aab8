//go:build !js

package lockstep_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/stale"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// heavyRun steps a match of rules with a planted cache until its twins differ, or to a tick. It returns the difference, or nil.
func heavyRun(tb testing.TB, kind string, seed uint64, percent int, last lockstep.Tick) (found *twin.Difference, f *lockstep.Follower, n twin.Count) {
	f = heavyFollower(tb, stale.Rules(kind), seed, twin.Options{Percent: percent, Count: &n, Found: func(d *twin.Difference) {
		if found == nil {
			found = d
		}
	}})
	advance(tb, f, last, func() bool { return found != nil })
	return found, f, n
}

// heavyFollower returns a follower of a match of rules, at its beginning.
func heavyFollower(tb testing.TB, rules lockstep.Rules[stale.World, struct{}], seed uint64, o twin.Options) *lockstep.Follower {
	tb.Helper()
	g := lockstep.MustGame(rules)
	s := lockstep.DefaultSettings(1)
	s.Seed = seed
	h, err := g.NewHeader(lockstep.MatchID{15: byte(seed)}, s, &struct{}{})
	if err != nil {
		tb.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	return g.NewFollowerAt(h, sim, lockstep.FollowerOptions{Heavy: o})
}

// advance steps a follower without commands to a tick, or until done.
func advance(tb testing.TB, f *lockstep.Follower, last lockstep.Tick, done func() bool) {
	tb.Helper()
	for f.Tick() < last && !done() {
		if err := f.Advance(&lockstep.Frame{Tick: f.Tick() + 1}); err != nil {
			tb.Fatal(err)
		}
	}
}

// Each planted cache is found, and nothing in rules without one. With -v it prints how long that takes.
func TestHeavyFindsPlantedCaches(t *testing.T) {
	const seeds, last = 9, 20_000
	for _, kind := range stale.Kinds {
		line := fmt.Sprintf("%-18s", kind)
		for _, percent := range []int{10, 100} {
			var ticks []int
			for seed := range uint64(seeds) {
				d, f, _ := heavyRun(t, kind, seed+1, percent, last)
				if d == nil {
					t.Fatalf("%s: seed %d: nothing found in %d ticks at %d %%", kind, seed+1, f.Tick(), percent)
				}
				if d.Section != "Score" && kind != "drawn ahead" || d.Tick != f.Tick() || d.Since >= d.Tick || d.Began != 0 || d.Warm == d.Cold {
					t.Errorf("%s: got %+v", kind, d)
				}
				if d.Unfixed && kind != "package variable" {
					t.Errorf("%s: seed %d: unfixed %t: %v", kind, seed+1, d.Unfixed, d)
				}
				ticks = append(ticks, int(d.Tick))
			}
			slices.Sort(ticks)
			line += fmt.Sprintf(" | %3d %%: median %5d, slowest %5d", percent, ticks[seeds/2], ticks[seeds-1])
		}
		t.Log(line)
	}
	for seed := range uint64(3) {
		if d, f, n := heavyRun(t, stale.None, seed+1, 100, 3000); d != nil {
			t.Errorf("without a cache: seed %d: %v", seed+1, d)
		} else if n.Twins < 100 || n.Ticks < 1000 {
			t.Errorf("seed %d: only %d twins and %d of their ticks in %d", seed+1, n.Twins, n.Ticks, f.Tick())
		}
	}
}

// A result that each twin has otherwise is none that a cache explains.
func TestHeavyUnfixed(t *testing.T) {
	d, _, _ := heavyRun(t, "a clock", 1, 100, 1000)
	if d == nil || !d.Unfixed || !strings.HasPrefix(d.String(), "no fixed result at tick ") {
		t.Errorf("got %v", d)
	}
}

// The twins take no more than their share.
func TestHeavyShare(t *testing.T) {
	for _, percent := range []int{1, 10, 50, 100} {
		_, _, n := heavyRun(t, stale.None, 1, percent, 5000)
		twins, ticks := n.Twins, n.Ticks
		if took, want := ticks+2*twins, uint64(5000*percent/100); took > want+18 || took < want/10*9 {
			t.Errorf("%d %%: %d twins and %d of their ticks in 5000 ticks: want the time of %d ticks", percent, twins, ticks, want)
		}
	}
	if _, f, _ := heavyRun(t, "made by New", 1, 0, 500); f.Memory() > 1<<20 {
		t.Error("a follower without twins keeps memory")
	}
}

// With a clock, what counts is the time.
func TestHeavyClock(t *testing.T) {
	now, calls, n := int64(0), 0, twin.Count{}
	busy, begun := false, uint64(0)
	f := heavyFollower(t, stale.Rules(stale.None), 1, twin.Options{Percent: 10, Count: &n, Busy: func(begins bool) {
		if busy == begins {
			t.Fatal("the rules compute for two twins at a time")
		}
		if busy = begins; begins {
			begun++
		}
	}, Clock: func() int64 {
		calls++
		now += 1000
		return now
	}})
	advance(t, f, 1000, func() bool { return false })
	if twins, ticks := n.Twins, n.Ticks; twins+ticks < 90 || twins+ticks > 170 || calls < 2000 {
		t.Errorf("got %d twins and %d ticks with %d calls of the clock, want 100 in all", twins, ticks, calls)
	}
	if busy || begun != n.Twins+n.Ticks {
		t.Errorf("the rules were said to compute %d times, want %d", begun, n.Twins+n.Ticks)
	}
}

// A twin ends when the follower's state is replaced, and what was restored is where the follower began.
func TestHeavyAfterRestore(t *testing.T) {
	var found *twin.Difference
	f := heavyFollower(t, stale.Rules("derived sum"), 1, twin.Options{Percent: 100, Found: func(d *twin.Difference) { found = d }})
	other := f.Simulation().AppendState(nil)
	for f.Tick() < 4000 && found == nil {
		if f.Tick() == 7 {
			if err := f.Restore(other); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Advance(&lockstep.Frame{Tick: f.Tick() + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if found == nil || found.Began != 7 || !strings.HasPrefix(found.String(), fmt.Sprintf("warm and cold differ at tick %d, restored at tick %d: Score ", found.Tick, found.Since)) {
		t.Errorf("got %v", found)
	}
}

// A twin of before does not outlive it: rules without a cache have no difference, whenever the state is replaced.
func TestHeavyTwinEndsWithItsState(t *testing.T) {
	for at := lockstep.Tick(4); at < 24; at++ {
		f := heavyFollower(t, stale.Rules(stale.None), 1, twin.Options{Percent: 100, Found: func(d *twin.Difference) { t.Errorf("replaced at tick %d: %v", at, d) }})
		first := f.Simulation().AppendState(nil)
		advance(t, f, at, func() bool { return false })
		if err := f.Restore(first); err != nil {
			t.Fatal(err)
		}
		advance(t, f, at+20, func() bool { return false })
	}
}

// heavyPanics returns what the heavy mode finds in rules whose restored states panic.
func heavyPanics(t *testing.T, value any) (all []*twin.Difference) {
	t.Helper()
	rules := stale.Rules(stale.None)
	derive := rules.Derive
	rules.Derive = func(w *stale.World, c *struct{}) {
		derive(w, c)
		if w.Next > 20 {
			panic(value)
		}
	}
	f := heavyFollower(t, rules, 1, twin.Options{Percent: 100, Found: func(d *twin.Difference) { all = append(all, d) }})
	advance(t, f, 2000, func() bool { return false })
	return all
}

// A twin whose rules panic differs, too; one that meets a limit of this machine shows nothing.
func TestHeavyPanic(t *testing.T) {
	all := heavyPanics(t, "no room")
	if len(all) != 1 || !strings.Contains(all[0].Cold, "no room") || all[0].Unfixed || all[0].ColdState != nil {
		t.Errorf("got %v", all)
	}
	if all := heavyPanics(t, &abi.Fault{Text: "the call took too long", Limit: true}); len(all) > 0 {
		t.Errorf("a limit: got %v", all)
	}
	if all := heavyPanics(t, &abi.Fault{Text: "no room"}); len(all) != 1 {
		t.Errorf("a fault of a module: got %v", all)
	}
}

// A lending machine counts the instances that were to be unused.
type lending struct {
	answering
	unused *int
}

// Unused implements abi.Unused.
func (l lending) Unused() (abi.Caller, error) {
	*l.unused++
	return l.answering, nil
}

// A cold twin of rules elsewhere runs in an instance that had no world, which would be warm; nothing else needs one.
func TestTwinElsewhere(t *testing.T) {
	unused, n := 0, twin.Count{}
	g, err := lockstep.NewGameElsewhere(lending{answering{
		abi.Describe: `{"abi":1,"game":"a","build":"1","state":"struct { A bool }","config":"struct {}","commands":[]}`,
		abi.Step:     string(abi.Outcomes.Append(nil, &abi.Outcome{})), abi.Save: "\x01",
	}, &unused})
	if err != nil {
		t.Fatal(err)
	}
	h := g.Identity()
	h.Settings = lockstep.DefaultSettings(1)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	f := g.NewFollowerAt(h, sim, lockstep.FollowerOptions{Heavy: twin.Options{Percent: 100, Count: &n}})
	advance(t, f, 50, func() bool { return false })
	if n.Twins < 5 || uint64(unused) != n.Twins {
		t.Errorf("got %d unused instances for %d twins", unused, n.Twins)
	}
}

// A twin computes on as many processors as its follower may.
func TestTwinWorkers(t *testing.T) {
	var inside, most atomic.Int32
	rules := stale.Rules(stale.None)
	step := rules.Step
	rules.Step = func(w *stale.World, c *struct{}, turn *lockstep.Turn) {
		turn.Each(16, func(int, *lockstep.Turn) {
			n := inside.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(20 * time.Microsecond)
			inside.Add(-1)
		})
		step(w, c, turn)
	}
	for _, workers := range []int{1, 4} {
		most.Store(0)
		g := lockstep.MustGame(rules)
		h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		f := g.NewFollowerAt(h, sim, lockstep.FollowerOptions{Workers: workers, Heavy: twin.Options{Percent: 100}})
		advance(t, f, 12, func() bool { return false })
		if got := int(most.Load()); got > workers || workers > 1 && got < 2 {
			t.Errorf("%d workers: got %d at a time", workers, got)
		}
	}
}

// The next twin gets the memory of the last one, but not of what was found.
func TestDifferenceStays(t *testing.T) {
	var found *twin.Difference
	var before []byte
	f := heavyFollower(t, stale.Rules("derived sum"), 1, twin.Options{Percent: 100, Found: func(d *twin.Difference) { found, before = d, slices.Clone(d.Before) }})
	advance(t, f, 5000, func() bool { return found != nil })
	memory := f.Memory()
	advance(t, f, f.Tick()+50, func() bool { return false })
	if found == nil || !slices.Equal(found.Before, before) || memory == 0 {
		t.Errorf("the difference has changed, or is none: %v, %d bytes", found, memory)
	}
}

// A short match pays for its first twin, too.
func TestHeavyShareOfShortMatches(t *testing.T) {
	took := uint64(0)
	for last := lockstep.Tick(100); last < 400; last++ {
		_, _, n := heavyRun(t, stale.None, 1, 10, last)
		took += n.Ticks + 2*n.Twins
	}
	if want := uint64(249.5 * 300 / 10); took > want*21/20 || took < want*3/4 {
		t.Errorf("got the time of %d ticks, want %d", took, want)
	}
}
