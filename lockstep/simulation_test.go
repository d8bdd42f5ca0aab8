package lockstep

import (
	"errors"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// After a panic a state cannot be copied, but another one can be restored over it.
func TestBrokenSimulation(t *testing.T) {
	type world struct{ N uint32 }
	g := MustGame(Rules[world, struct{}]{
		Name: "fragile", Build: "1",
		New: func(*world, *Settings, *struct{}) error { return nil },
		Step: func(w *world, _ *struct{}, turn *Turn) {
			if w.N++; turn.Tick == 2 {
				panic("fault")
			}
		},
	})
	h, err := g.NewHeader(MatchID{}, DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	other, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	good := sim.AppendState(nil)
	sim.Step(&Frame{Tick: 1})
	fault := sim.Step(&Frame{Tick: 2})
	var p *PanicError
	if !errors.As(fault, &p) || p.Tick != 2 || p.Where != "Step" || len(p.Stack) == 0 {
		t.Fatalf("got %v, want a panic in Step at tick 2", fault)
	}
	if err := sim.Step(&Frame{Tick: 2}); err != fault {
		t.Errorf("step again: got %v", err)
	}
	if err := other.CopyFrom(sim); err != fault || other.Tick() != 0 {
		t.Errorf("copied: got %v, tick %d", err, other.Tick())
	}
	if err := sim.Restore(0, good); err != nil || sim.Tick() != 0 || sim.Step(&Frame{Tick: 1}) != nil {
		t.Errorf("restored: %v, tick %d", err, sim.Tick())
	}
	if err := sim.Restore(0, good[:1]); err == nil || sim.Tick() != 1 {
		t.Errorf("restored from one byte: %v, tick %d", err, sim.Tick())
	}
}

// Step, Derive and Validate read the match's configuration, also in a state that was restored.
func TestConfiguration(t *testing.T) {
	type world struct {
		Sum    uint32
		Double uint32 `state:"derived"`
	}
	type config struct{ Gain []uint32 }
	g := MustGame(Rules[world, config]{
		Name: "gain", Build: "1",
		New:    func(*world, *Settings, *config) error { return nil },
		Step:   func(w *world, c *config, turn *Turn) { w.Sum += c.Gain[turn.Tick] },
		Derive: func(w *world, c *config) { w.Double = 2 * c.Gain[0] },
		Validate: func(_ *world, c *config, _ *Command) error {
			return errors.New(strconv.Itoa(int(c.Gain[1])))
		},
	})
	h, err := g.NewHeader(MatchID{}, DefaultSettings(1), &config{Gain: []uint32{5, 7, 9}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Step(&Frame{Tick: 1}); err != nil {
		t.Fatal(err)
	}
	restored, err := g.AwaitState(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.Restore(1, first.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	if err := restored.Step(&Frame{Tick: 2}); err != nil {
		t.Fatal(err)
	}
	if w := World[world](restored); w.Sum != 7+9 || w.Double != 10 {
		t.Errorf("got %+v, want a sum of 16 and a double of 10", w)
	}
	if err := restored.Validate(&Command{}); err == nil || err.Error() != "7" {
		t.Errorf("Validate: got %v, want 7", err)
	}
	bad := *h
	bad.Config = h.Config[:1]
	if _, err := g.AwaitState(&bad); err == nil {
		t.Error("a cut configuration was accepted")
	}
}

// The module with the rules is the program's own, or one that it needs.
func TestSourcesOf(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "3b18e512dba79e4c"}, {Key: "vcs.modified", Value: modified}}
	}
	own := func(version string, s []debug.BuildSetting) debug.BuildInfo {
		return debug.BuildInfo{Main: debug.Module{Path: "example.com/hex", Version: version}, Settings: s, Deps: []*debug.Module{
			{Path: "example.com/hex/rules", Version: "v2.1.0"},
			{Path: "example.com/fork", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/mine", Version: "v1.0.1"}},
			{Path: "example.com/near", Version: "v1.0.0", Replace: &debug.Module{Path: "../near"}},
		}}
	}
	for _, row := range []struct {
		name string
		info debug.BuildInfo
		pkg  string
		want record.Sources
	}{
		{"a program", own("(devel)", vcs("false")), "main", record.Sources{Module: "example.com/hex", Revision: "3b18e512dba79e4c"}},
		{"a package of it", own("v1.3.0+dirty", vcs("true")), "example.com/hex/world", record.Sources{Module: "example.com/hex", Version: "v1.3.0", Revision: "3b18e512dba79e4c", Modified: true}},
		{"its revision twice", own("v0.0.0-20260101000000-3b18e512dba7", vcs("false")), "example.com/hex", record.Sources{Module: "example.com/hex", Revision: "3b18e512dba79e4c"}},
		{"a module below", own("v1.3.0", vcs("true")), "example.com/hex/rules/world", record.Sources{Module: "example.com/hex/rules", Version: "v2.1.0"}},
		{"not below", own("", nil), "example.com/hexagon", record.Sources{Module: "example.com/hex"}},
		{"a fork", own("", nil), "example.com/fork", record.Sources{Module: "example.com/fork", Version: "v1.0.1"}},
		{"a folder", own("", nil), "example.com/near/world", record.Sources{Module: "example.com/near"}},
	} {
		if got := sourcesOf(&row.info, row.pkg); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}

// sums counts how often a state is hashed.
type sums struct {
	world
	n int
}

func (s *sums) sum(dst *checksum.Sum) {
	s.n++
	s.world.sum(dst)
}

// A log that has the checksum of one tick again and again does not make its reader
// hash the state each time: a record of four bytes would cost as much as the
// largest state.
func TestChecksumsOfOneTick(t *testing.T) {
	type counter struct{ N uint64 }
	g := MustGame(Rules[counter, struct{}]{
		Name: "count", Build: "1",
		New:  func(*counter, *Settings, *struct{}) error { return nil },
		Step: func(w *counter, _ *struct{}, _ *Turn) { w.N++ },
	})
	h, err := g.NewHeader(MatchID{1}, DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	f := g.NewFollowerAt(h, sim, FollowerOptions{History: HistoryOptions{Length: 2}})
	counted := &sums{world: sim.world}
	sim.world = counted
	for tick := Tick(1); tick <= 3; tick++ {
		if err := f.Advance(&Frame{Tick: tick}); err != nil {
			t.Fatal(err)
		}
		hash := sim.Hash()
		before := counted.n
		for range 100 {
			if err := f.compare(tick, hash, false); err != nil {
				t.Fatal(err)
			}
		}
		if n := counted.n - before; n != 1 {
			t.Errorf("tick %d: hashed the state %d times for 100 checksums of it, want 1", tick, n)
		}
		if f.compare(tick, hash+1, false) == nil {
			t.Errorf("tick %d: a wrong checksum passed", tick)
		}
	}
}
