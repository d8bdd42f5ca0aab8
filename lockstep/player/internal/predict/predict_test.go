package predict_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/commands"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/predict"
)

const each = 50 * lockstep.Millisecond

// A table is a prediction beside a confirmed state.
type table struct {
	t   *testing.T
	own commands.Own
	predict.Prediction
	in  predict.Input
	now lockstep.Time
}

func newTable(t *testing.T, o predict.Options) *table {
	g, header := testgame.NewBankMatch(t, 2)
	sim, err := g.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	return &table{
		t: t, own: commands.New(), Prediction: predict.New(o), now: 10 * lockstep.Second,
		in: predict.Input{Game: g, Confirmed: sim, Path: predict.Path{Tick: each, Ahead: 40 * lockstep.Millisecond, InputDelay: 2}},
	}
}

func (s *table) advance() predict.Counts {
	s.now += each
	return s.Advance(s.now, &s.own, &s.in)
}

// earn submits a command.
func (s *table) earn(coins uint16, expects bool) lockstep.Command {
	kind, payload := testgame.Encode(s.t, s.in.Game, &testgame.Earn{Coins: coins})
	seq, ok := s.own.Submit(s.now, kind, payload)
	if !ok {
		s.t.Fatal("the command was not taken")
	}
	s.Assume(&s.own, &s.in.Path, expects, 0)
	return lockstep.Command{Sequence: seq, Kind: kind, Payload: payload}
}

// confirm runs the next tick with some commands.
func (s *table) confirm(list ...lockstep.Command) (corrected bool) {
	f := lockstep.Frame{Tick: s.in.Confirmed.Tick() + 1, Commands: list}
	for i := range list {
		list[i].Tick = f.Tick
	}
	if err := s.in.Confirmed.Step(&f); err != nil {
		s.t.Fatal(err)
	}
	return s.Confirm(s.in.Confirmed, s.own.Confirm(&f, s.in.Seat, s.Due))
}

// A prediction shows a command at once, and is confirmed without a trace if the command runs in the tick in which it was shown.
func TestConfirmed(t *testing.T) {
	s := newTable(t, predict.Options{Ahead: 6})
	s.advance()
	cmd := s.earn(3, true)
	for tick := lockstep.Tick(1); tick < 4; tick++ {
		if n := s.advance(); n != (predict.Counts{}) || s.Shown() != tick {
			t.Errorf("got %+v at tick %d, want tick %d", n, s.Shown(), tick)
		}
		if tick == 2 && s.Current().Hash() == s.Previous.Hash() {
			t.Error("the command is not shown")
		}
		if tick != 2 {
			s.confirm()
		} else if s.confirm(cmd) {
			t.Error("a correction")
		}
	}
}

// What is shown never goes back when fewer ticks are predicted.
func TestNeverBack(t *testing.T) {
	s := newTable(t, predict.Options{Ahead: 6})
	s.in.Path.InputDelay = 5
	s.advance()
	shown := s.Shown()
	if shown != 4 {
		t.Fatalf("got tick %d", shown)
	}
	s.SetMost(2)
	if s.Most != 2 {
		t.Error("the limit is not kept")
	}
	kind, payload := testgame.Encode(t, s.in.Game, &testgame.Earn{Coins: 1})
	for tick := lockstep.Tick(1); tick < 5; tick++ {
		s.confirm(lockstep.Command{Player: 1, Sequence: lockstep.Sequence(tick), Kind: kind, Payload: payload}) // a surprise
		n := s.advance()
		if shown = max(shown, tick+2); n.Rollbacks != 1 || n.Corrections != 0 || s.Shown() != shown || s.Stands != (tick <= 2) {
			t.Errorf("tick %d: got %+v at tick %d, want %d; it stands: %t", tick, n, s.Shown(), shown, s.Stands)
		}
	}
}

// A late tick that was shown, and confirmed as another state, is a correction, once.
func TestLateTickIsCorrected(t *testing.T) {
	s := newTable(t, predict.Options{Late: 5})
	s.in.Owed = 1
	if s.advance(); s.Shown() != 1 || s.MostOwed() != 5 {
		t.Fatalf("got tick %d", s.Shown())
	}
	kind, payload := testgame.Encode(t, s.in.Game, &testgame.Earn{Coins: 2})
	cmd := lockstep.Command{Player: 1, Sequence: 1, Kind: kind, Payload: payload}
	if !s.confirm(cmd) {
		t.Error("the shown state was another one, and nobody has seen it")
	}
	if n := s.advance(); n.Rollbacks != 1 || n.Corrections != 0 || s.Shown() != 2 {
		t.Errorf("got %+v at tick %d", n, s.Shown())
	}
	if s.confirm() {
		t.Error("a tick as it was shown is a correction")
	}
	s.in.Late = true
	if s.advance(); s.Current() != nil {
		t.Error("a player who catches up predicts")
	}
}

// A command teaches how late commands arrive only if its tick was expected, and not if it was sent again.
func TestTeaches(t *testing.T) {
	for _, row := range []struct {
		expected, again, want bool
	}{{true, false, true}, {false, false, false}, {true, true, false}} {
		s := newTable(t, predict.Options{Ahead: 6})
		s.advance()
		cmd := s.earn(1, row.expected)
		if row.again {
			s.own.Unsent()
		}
		a := s.own.Answer(&lockstep.Receipt{Sequence: cmd.Sequence, Tick: 9}, true, s.Shown())
		if a.Expected != row.want || a.Late > 0 != row.want {
			t.Errorf("%+v: got %+v", row, a)
		}
		s.Answered(a, each)
	}
}
