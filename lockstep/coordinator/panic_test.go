package coordinator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// crashed plays a match in which a command panics in tick 8, and returns its log.
func crashed(t *testing.T, g *lockstep.Game, h *lockstep.Header) testgame.Records {
	t.Helper()
	var log testgame.Records
	ring := &frames{}
	c, err := coordinator.New(g, h, &log, coordinator.Options{Frames: func(from, to lockstep.Tick) []lockstep.Frame { return (*ring)[from:to] }, Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}})
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if c.Now() == 7 {
			for seq, value := range []any{&testgame.Earn{Coins: 5}, &testgame.Crash{}} {
				kind, payload := testgame.Encode(t, g, value)
				if r := c.Submit(1, lockstep.Sequence(seq+1), kind, payload); r.Tick != 8 {
					t.Fatalf("got %+v, want that it is accepted for tick 8", r)
				}
			}
		}
		f, err := c.Tick()
		if err != nil {
			return log
		}
		*ring = append(*ring, *f.Clone())
	}
}

// decode returns the records of a log.
func decode(t *testing.T, log testgame.Records) (all []record.Record) {
	t.Helper()
	var dec record.Decoder
	for _, raw := range log {
		r, _, err := dec.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		own := *r
		own.Frame = *r.Frame.Clone()
		all = append(all, own)
	}
	return all
}

// A log that ends with a panic has the state before it and the frame, and the rules panic in it again. Rules that do not leave the
// follower as it was.
func TestPanicComesAgain(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 2)
	all := decode(t, crashed(t, g, h))
	last := all[len(all)-3:]
	if last[0].Kind != record.KindKeyframe || last[0].Tick != 7 || last[1].Kind != record.KindPanic || last[2].Kind != record.KindEnd {
		t.Fatalf("the log ends with %+v", last)
	}
	p := last[1].Panic
	if text := testgame.FrameText(t, g, &p.Frame); text != "tick 8: 1#1 earn{Coins:5}, 1#2 crash{}" || len(p.Stack) == 0 {
		t.Errorf("got %s, and a stack of %d bytes", text, len(p.Stack))
	}
	for name, c := range map[string]struct {
		rules lockstep.Rules[testgame.Bank, testgame.BankConfig]
		want  string
	}{
		"the same rules":  {testgame.BankRules(), "lockstep: tick 8: the game panicked in Step: crash"},
		"rules that hold": {mended(), "<nil>"},
	} {
		f := lockstep.MustGame(c.rules).NewFollower(lockstep.FollowerOptions{})
		for i := range all[:len(all)-2] {
			if err := f.Apply(&all[i]); err != nil {
				t.Fatal(err)
			}
		}
		before := f.Simulation().AppendState(nil)
		for range 2 {
			if got := fmt.Sprint(f.Apply(&all[len(all)-2])); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
		if f.Tick() != 7 || !slices.Equal(f.Simulation().AppendState(nil), before) {
			t.Errorf("%s: the follower is at tick %d with another state", name, f.Tick())
		}
	}
}

// mended returns rules that pass over the command that panics.
func mended() lockstep.Rules[testgame.Bank, testgame.BankConfig] {
	r := testgame.BankRules()
	r.Step = func(w *testgame.Bank, config *testgame.BankConfig, turn *lockstep.Turn) {
		turn.Commands = slices.DeleteFunc(turn.Commands, func(c lockstep.Command) bool { _, is := c.Value.(*testgame.Crash); return is })
		testgame.StepBank(w, config, turn)
	}
	return r
}

// A server that ends before it can write the end of a match that panicked leaves a log that goes on: with the commands that were
// accepted for that tick, once. With the same rules it panics again, and ends; with mended ones it goes on.
func TestRecoveryAfterPanic(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 2)
	log := crashed(t, g, h)
	log = log[:len(log)-1]
	for name, c := range map[string]struct {
		rules  lockstep.Rules[testgame.Bank, testgame.BankConfig]
		panics bool
	}{"the same rules": {testgame.BankRules(), true}, "mended rules": {mended(), false}} {
		again := slices.Clone(log)
		rules := lockstep.MustGame(c.rules)
		recovery := coordinator.NewRecovery(rules)
		var dec record.Decoder
		for _, raw := range log {
			rec, _, err := dec.Decode(raw)
			if err == nil {
				err = recovery.Apply(rec)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m, err := recovery.Coordinator(&dec, &again, coordinator.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		kind, payload := testgame.Encode(t, g, &testgame.Earn{Coins: 5})
		if r := m.Submit(1, 1, kind, payload); r.Tick != 8 {
			t.Errorf("%s: the command that was accepted is submitted again: got %+v, want tick 8", name, r)
		}
		f, err := m.Tick()
		if (err != nil) != c.panics {
			t.Fatalf("%s: got %v", name, err)
		}
		if err == nil {
			if text := testgame.FrameText(t, g, f); text != "tick 8: 1#1 earn{Coins:5}, 1#2 crash{}" {
				t.Errorf("%s: got %s", name, text)
			}
			_, err = m.Tick()
		}
		all := decode(t, again)
		if end := all[len(all)-1]; c.panics != (end.Kind == record.KindEnd) || !c.panics && err != nil {
			t.Errorf("%s: got %v, the log ends with %+v", name, err, end)
		}
	}
}
