package lockstep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A flown follower has a ring, and goes on by itself.
type flown struct {
	*lockstep.Follower
	t    *testing.T
	game *lockstep.Game
}

// fly returns a follower of game g that records into a ring, from tick 0 on.
func fly(t *testing.T, g *lockstep.Game, match byte, config any, o lockstep.FollowerOptions) *flown {
	t.Helper()
	h, err := g.NewHeader(lockstep.MatchID{match}, lockstep.DefaultSettings(1), config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	if o.Flight == nil {
		o.Flight = new(flight.Ring)
	}
	return &flown{g.NewFollowerAt(h, s, o), t, g}
}

// to applies frames up to a tick. Each tick divisible by 5 has a command.
func (f *flown) to(tick lockstep.Tick) {
	f.t.Helper()
	for f.Tick() < tick {
		frame := &lockstep.Frame{Tick: f.Tick() + 1}
		if frame.Tick%5 == 0 && f.game.Name() == "null" {
			frame.Commands = []lockstep.Command{{Tick: frame.Tick, Sequence: lockstep.Sequence(frame.Tick), Kind: 3, Payload: []byte{1, 0, 0, 0, 9}}}
		}
		if err := f.Advance(frame); err != nil {
			f.t.Fatal(err)
		}
	}
}

// copied returns a simulation with the follower's state.
func (f *flown) copied() *lockstep.Simulation {
	f.t.Helper()
	s, err := f.game.AwaitState(f.Header())
	if err == nil {
		err = s.CopyFrom(f.Simulation())
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// text has the whole record.
func (f *flown) text() string { return fmt.Sprintf("%+v", f.Flight().Record()) }

// marked returns the ticks of the record whose state came from elsewhere.
func (f *flown) marked() (ticks []lockstep.Tick) {
	for _, x := range f.Flight().Record().Ticks {
		if x.Restored {
			ticks = append(ticks, x.Tick)
		}
	}
	return ticks
}

// A follower records each tick as it computes it: commands, phases, and the draws of elements in their order, on any schedule.
func TestFlight(t *testing.T) {
	f := fly(t, nullgame.New(), 1, &nullgame.Config{}, lockstep.FollowerOptions{})
	f.to(12)
	r := f.Flight().Record()
	if r.Match != (lockstep.MatchID{1}) || r.First() != 1 || r.Last() != 12 || len(r.Ticks) != 12 || r.Prints != 3 {
		t.Fatalf("got %+v", r)
	}
	for i, x := range r.Ticks {
		commands := uint32(0)
		if x.Tick%5 == 0 {
			commands = 1
		}
		if x.Commands != commands || len(x.Prints) != 3 || x.Restored {
			t.Errorf("tick %d: got %+v", x.Tick, x)
		}
		if i > 0 && (x.Prints[0] == r.Ticks[i-1].Prints[0] || (x.Prints[1] != r.Ticks[i-1].Prints[1]) != (commands == 1)) {
			t.Errorf("tick %d: the prints %v after %v do not follow the state", x.Tick, x.Prints, r.Ticks[i-1].Prints)
		}
	}
	want := ""
	for _, s := range schedules() {
		h := fly(t, lockstep.MustGame(herdRules(nil)), 1, &herdConfig{}, lockstep.FollowerOptions{})
		h.Simulation().Schedule(s.workers, s.order)
		h.to(5)
		if want == "" {
			want = h.text()
			if x := h.Flight().Record().Ticks[3]; fmt.Sprint(x.Phases, x.Draws[0].Phase, x.Draws[0].Streams) != "[herd] 1 [{step 200}]" {
				t.Errorf("got %+v", x)
			}
		}
		if got := h.text(); got != want {
			t.Errorf("%s: got another record: %s\nwant %s", s.name, got, want)
		}
	}
}

// What a copy of the follower's state computes, such as a prediction, is not recorded.
func TestFlightWithoutPredictions(t *testing.T) {
	g := lockstep.MustGame(herdRules(nil))
	alone := fly(t, g, 1, &herdConfig{}, lockstep.FollowerOptions{})
	alone.to(10)
	f := fly(t, g, 1, &herdConfig{}, lockstep.FollowerOptions{})
	for tick := range lockstep.Tick(10) {
		f.to(tick)
		ahead := f.copied()
		for i := range lockstep.Tick(3) {
			if err := ahead.Step(&lockstep.Frame{Tick: tick + 1 + i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.to(10)
	if got, want := f.text(), alone.text(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// The tick of a panic in the log leaves nothing in the record, and the follower goes on with it.
func TestFlightOfPanic(t *testing.T) {
	fails := false
	g := lockstep.MustGame(herdRules(func(_ *herd, i int, own, _ *lockstep.Turn) {
		if fails {
			own.Drew("the last one", uint32(i))
			if i == 150 {
				panic("as in the log")
			}
		}
	}))
	alone := fly(t, g, 1, &herdConfig{}, lockstep.FollowerOptions{})
	alone.to(6)
	f := fly(t, g, 1, &herdConfig{}, lockstep.FollowerOptions{})
	f.to(3)
	p := (*lockstep.PanicError)(nil)
	fails = true
	if err := f.Apply(&record.Record{Kind: record.KindPanic, Tick: 3, Panic: &record.Panic{Frame: lockstep.Frame{Tick: 4}}}); !errors.As(err, &p) {
		t.Fatalf("got the error %v", err)
	}
	fails = false
	f.to(6)
	if got, want := f.text(), alone.text(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}

	// A tick that panics itself is not there. The state from which the follower goes on then is marked.
	state := f.Simulation().AppendState(nil)
	fails = true
	if err := f.Advance(&lockstep.Frame{Tick: 7}); !errors.As(err, &p) {
		t.Fatalf("got the error %v", err)
	}
	fails = false
	if got, want := f.text(), alone.text(); got != want {
		t.Errorf("after a panic: got %s\nwant %s", got, want)
	}
	if err := f.Restore(state); err != nil {
		t.Fatal(err)
	}
	f.to(8)
	alone.to(8)
	c, ok := flight.Compare(f.Flight().Record(), alone.Flight().Record(), 0)
	if !ok || c.Ticks != 8 || c.Same != 8 || c.Draws != nil || fmt.Sprint(f.marked()) != "[7]" {
		t.Errorf("restored: got %+v, %t, marks at %v", c, ok, f.marked())
	}
}

// A state that replaces the follower's is marked in the next tick, so that a difference that it brings is not taken for a computed one.
func TestFlightOfRestore(t *testing.T) {
	g := nullgame.New()
	alone := fly(t, g, 1, &nullgame.Config{}, lockstep.FollowerOptions{})
	alone.to(12)
	for _, row := range []struct {
		bit           byte // that the state from elsewhere has changed
		same, differs lockstep.Tick
	}{{0, 12, 0}, {1, 7, 8}} {
		f := fly(t, g, 1, &nullgame.Config{}, lockstep.FollowerOptions{})
		f.to(7)
		b := f.Simulation().AppendState(nil)
		b[len(b)-1] ^= row.bit
		if err := f.Restore(b); err != nil {
			t.Fatal(err)
		}
		f.to(12)
		c, ok := flight.Compare(alone.Flight().Record(), f.Flight().Record(), 0)
		if !ok || c.Same != row.same || c.Differs != row.differs || c.Restored != (row.bit > 0) || c.Exact() || fmt.Sprint(f.marked()) != "[8]" {
			t.Errorf("bit %d: got %+v, marks at %v", row.bit, c, f.marked())
		}
	}
}

// Followers of one match share a ring, one after the other: ticks that none of them computed are missing, and one that is there before it is
// needed takes nothing from the one before. Another match begins the record anew.
func TestFlightOfKeyframe(t *testing.T) {
	g := nullgame.New()
	whole := fly(t, g, 1, &nullgame.Config{}, lockstep.FollowerOptions{})
	first := fly(t, g, 1, &nullgame.Config{}, lockstep.FollowerOptions{})
	first.to(6)
	o := lockstep.FollowerOptions{Flight: first.Flight()}
	at := func(tick lockstep.Tick) *flown {
		source := fly(t, g, 1, &nullgame.Config{}, lockstep.FollowerOptions{})
		source.to(tick)
		return &flown{g.NewFollowerAt(first.Header(), source.copied(), o), t, g}
	}
	later := at(20)
	first.to(8)
	later.to(25)
	r := later.Flight().Record()
	if len(r.Ticks) != 8+5 || r.First() != 1 || r.Ticks[7].Tick != 8 || r.Ticks[8].Tick != 21 || r.Last() != 25 || fmt.Sprint(later.marked()) != "[21]" {
		t.Errorf("got %s", later.text())
	}
	if back, err := flight.Parse(r.Append(nil)); err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", r) {
		t.Errorf("got %+v, %v, want %+v", back, err, r)
	}
	whole.to(25)
	if c, ok := flight.Compare(r, whole.Flight().Record(), 0); !ok || c.Ticks != 13 || c.Same != 25 || c.Every != 13 || c.Exact() {
		t.Errorf("got %+v, %t", c, ok)
	}
	earlier := at(22)
	earlier.to(24)
	if r := earlier.Flight().Record(); r.Last() != 24 || len(r.Ticks) != 8+4 || fmt.Sprint(earlier.marked()) != "[21 23]" {
		t.Errorf("back to tick 22: got %s", earlier.text())
	}
	other := fly(t, g, 2, &nullgame.Config{}, o)
	other.to(2)
	if r := other.Flight().Record(); r.Match != (lockstep.MatchID{2}) || len(r.Ticks) != 2 || other.marked() != nil {
		t.Errorf("another match: got %s", other.text())
	}
}

const cells = 20_000

// A grid is the state of rules that run here and elsewhere.
type grid struct {
	Tick uint8
	Of   [cells]uint8
}

// A distantGrid computes a grid elsewhere.
type distantGrid struct{ grid }

// New implements abi.Machine.
func (*distantGrid) New() (abi.Caller, error) { return new(distantGrid), nil }

// Call implements abi.Caller.
func (d *distantGrid) Call(f abi.Function, _ []byte) ([]byte, error) {
	switch f {
	case abi.Describe:
		return []byte(`{"abi":1,"game":"grid","build":"1","state":"struct { Tick uint8; Of [20000]uint8 }","config":"struct {}","commands":[]}`), nil
	case abi.Step:
		d.step()
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	case abi.Save:
		return append([]byte{d.Tick}, d.Of[:]...), nil
	}
	return nil, nil
}

// Close implements abi.Caller.
func (*distantGrid) Close() {}

func (g *grid) step() {
	g.Tick++
	g.Of[int(g.Tick)*7] += g.Tick
}

// Rules elsewhere have the same prints as those that run here. Theirs cost more, so fewer ticks of them have prints.
func TestFlightElsewhere(t *testing.T) {
	g, err := lockstep.NewGameElsewhere(new(distantGrid))
	if err != nil {
		t.Fatal(err)
	}
	config, err := g.ReadConfig([]byte("{}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	distant := fly(t, g, 1, config, lockstep.FollowerOptions{})
	distant.to(20)
	native := fly(t, lockstep.MustGame(lockstep.Rules[grid, struct{}]{
		Name: "grid", Build: "1",
		New:  func(*grid, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(g *grid, _ *struct{}, _ *lockstep.Turn) { g.step() },
	}), 1, &struct{}{}, lockstep.FollowerOptions{})
	native.to(20)
	a, b := native.Flight().Record(), distant.Flight().Record()
	c, ok := flight.Compare(a, b, 0)
	if !ok || c.From != 1 || c.To != 20 || c.Ticks != 11 || c.Every != 2 || c.Same != 20 || c.Differs != 0 {
		t.Errorf("got %+v, %t", c, ok)
	}
	for i := range a.Ticks {
		if a.Ticks[i].Prints == nil || (b.Ticks[i].Prints == nil) != (i%2 == 0 && i > 0) {
			t.Errorf("tick %d: prints %v here, %v elsewhere", i+1, a.Ticks[i].Prints, b.Ticks[i].Prints)
		}
	}
	if strings.Count(native.text(), "Prints:[]") == len(a.Ticks) {
		t.Error("no prints")
	}
}
