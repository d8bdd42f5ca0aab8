package lockstep_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// follow gives records to a new follower, and returns the desyncs.
func follow(t *testing.T, g *lockstep.Game, log [][]byte) (found []*lockstep.DesyncError) {
	t.Helper()
	f := g.NewFollower(lockstep.FollowerOptions{})
	for i, b := range log {
		err := f.Append(b)
		if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
			found = append(found, d)
		} else if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	return found
}

// A log whose end is not that of the rules is a desync at the tick where the two part, and a true one is not.
func TestFollowerComparesEnd(t *testing.T) {
	g, log := testgame.RecordRace(t, 3, 20, coordinator.Options{})
	n := len(log) - 1
	// again writes the end record anew.
	again := func(log [][]byte, write func(e *record.Encoder) []byte) [][]byte {
		var d record.Decoder
		var e record.Encoder
		for _, b := range log {
			if _, _, err := d.Decode(b); err != nil {
				t.Fatal(err)
			}
		}
		e.Continue(&d)
		return append(slices.Clone(log), write(&e))
	}
	end := func(result string) func(e *record.Encoder) []byte {
		return func(e *record.Encoder) []byte { return e.EndByRules(coordinator.EndedByRules, []byte(result)) }
	}
	_, early := testgame.RecordRace(t, 30, 2, coordinator.Options{})
	_, relay := testgame.RecordRace(t, 3, 20, coordinator.Options{Relay: true})
	for name, c := range map[string]struct {
		log  [][]byte
		want string
		tick lockstep.Tick
	}{
		"true":            {log: log},
		"relay":           {log: relay},
		"other winner":    {again(log[:n], end("\x00\x02\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00")), "the result differs: Winner: got 1, want 0", 3},
		"no result":       {again(log[:n], end("")), "the result differs: got 13 bytes, want 0", 3},
		"by the server":   {again(log[:n], func(e *record.Encoder) []byte { return e.End("an admin") }), "our rules end the match, in the log its server did", 3},
		"too early":       {again(early, end("\x01\x00\x00\x00\x00")), "in the log the rules end the match, ours do not", 2},
		"the log goes on": {again(log[:n], func(e *record.Encoder) []byte { return slices.Clone(e.Empty(4)) }), "our rules end the match, the log goes on", 3},
	} {
		found := follow(t, g, c.log)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: got %v, want no desync", name, found[0])
		case c.want != "" && (len(found) != 1 || found[0].End != c.want || found[0].Tick != c.tick):
			t.Errorf("%s: got %v, want one desync at tick %d: %s", name, found, c.tick, c.want)
		}
	}
}

// A copy of an ended state has ended, a restored one does not tell, and the next tick is no end.
func TestEndedOfCopies(t *testing.T) {
	g, h := testgame.NewRace(t)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	kind, payload, _ := g.NewPayloads().Encode(&testgame.Run{Steps: 10})
	if err := sim.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: kind, Payload: payload}}}); err != nil {
		t.Fatal(err)
	}
	other, _ := g.AwaitState(h)
	if err := other.CopyFrom(sim); err != nil {
		t.Fatal(err)
	}
	want, ended := sim.Ended()
	if got, copied := other.Ended(); !ended || !copied || string(got) != string(want) || len(got) != 13 {
		t.Errorf("got %x %v of the state, %x %v of its copy", want, ended, got, copied)
	}
	if err := other.Restore(1, sim.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	if _, ended := other.Ended(); ended {
		t.Error("a restored state has ended")
	}
	if err := sim.Step(&lockstep.Frame{Tick: 2}); err != nil {
		t.Fatal(err)
	}
	if _, ended := sim.Ended(); ended {
		t.Error("the end of a tick is that of the next one")
	}
}

// A wrong end is a panic of the game's Step, which says what was expected.
func TestWrongEnd(t *testing.T) {
	type state struct{ N uint8 }
	for want, rules := range map[string]lockstep.Rules[state, state]{
		"want Result: lockstep.Result[T]()":               {Step: func(_ *state, _ *state, t *lockstep.Turn) { t.End(nil) }},
		"got a result of type int, want one of type":      {Result: lockstep.Result[state](), Step: func(_ *state, _ *state, t *lockstep.Turn) { t.End(3) }},
		"got a result of 65540 bytes, want at most 65536": {Result: lockstep.Result[struct{ B []byte }](), Step: func(_ *state, _ *state, t *lockstep.Turn) { t.End(struct{ B []byte }{make([]byte, record.MaxResult)}) }},
	} {
		rules.Name, rules.Build = "wrong", "1"
		rules.New = func(*state, *lockstep.Settings, *state) error { return nil }
		g, err := lockstep.NewGame(rules)
		if err != nil {
			t.Fatal(err)
		}
		h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &state{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		var panicked *lockstep.PanicError
		if err := sim.Step(&lockstep.Frame{Tick: 1}); !errors.As(err, &panicked) || panicked.Where != "Step" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	_, err := lockstep.NewGame(lockstep.Rules[state, state]{Name: "wrong", Build: "1", Result: lockstep.Result[struct{ F float64 }](),
		New: func(*state, *lockstep.Settings, *state) error { return nil }, Step: func(*state, *state, *lockstep.Turn) {}})
	if err == nil || !strings.Contains(err.Error(), "result of wrong") || !strings.Contains(err.Error(), "F") {
		t.Errorf("a result with a float: got %v", err)
	}
}

// A match with a result names the result's field that differs.
func TestResultIsIdentity(t *testing.T) {
	_, h := testgame.NewRace(t)
	rules := testgame.RaceRules()
	rules.Result = lockstep.Result[struct{ Winner uint16 }]()
	other := lockstep.MustGame(rules)
	if err := other.CheckIdentity(h); err == nil || !strings.Contains(err.Error(), "other result schema: your build has Winner uint16, the match has Winner uint8") {
		t.Errorf("another result: got %v", err)
	}
	rules.Result = lockstep.ResultType{}
	other = lockstep.MustGame(rules)
	if err := other.CheckIdentity(h); err == nil || !strings.Contains(err.Error(), "other result schema: got") {
		t.Errorf("no result: got %v", err)
	}
}

func ExampleResult() {
	type State struct{ Ticks uint32 }
	type Victory struct{ Winner uint8 }
	var victory lockstep.ResultType = lockstep.Result[Victory]()
	game := lockstep.MustGame(lockstep.Rules[State, struct{}]{
		Name: "three ticks", Build: "1",
		New: func(*State, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(w *State, _ *struct{}, turn *lockstep.Turn) {
			if w.Ticks++; w.Ticks == 3 {
				turn.End(&Victory{Winner: 1})
			}
		},
		Result: victory,
	})
	h, _ := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &struct{}{})
	var log record.Tail
	c, _ := coordinator.New(game, h, &log, coordinator.Options{})
	for c.Err() == nil {
		c.Tick()
	}
	result, _ := c.Result()
	fmt.Println(c.Now(), h.ResultJSON(result))
	// Output: 3 {"Winner":1}
}
