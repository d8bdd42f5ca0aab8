package views_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

const period = 50 * lockstep.Millisecond

type purse struct{ Mine int64 }

func seePurse(w *testgame.Bank, _ *testgame.BankConfig, viewer lockstep.Viewer, v *purse) error {
	v.Mine = w.Piles[0].Coins
	return nil
}

var codec = state.MustCompile[purse]()

// A stage sends views.
type stage struct {
	t      *testing.T
	sender *feed.Sender
	sync   protocol.Message
	*views.Views
}

func newStage(t *testing.T) *stage {
	rules := testgame.BankRules()
	rules.Validate, rules.View = nil, lockstep.View(seePurse, nil)
	g := lockstep.MustGame(rules)
	plan, err := feed.NewPlan(g.ViewSchema(), g.ViewTags())
	if err != nil {
		t.Fatal(err)
	}
	return &stage{
		t: t, sender: feed.NewSender(plan), Views: views.New(g),
		sync: protocol.Message{Kind: protocol.KindViewSync, Text: "player:0", Players: 2, Period: uint32(period), Every: 2, Bytes: plan.AppendDescription(nil)},
	}
}

func (s *stage) begin() (other bool) {
	plan, err := s.Check(&s.sync)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Begin(plan, &s.sync)
}

// see sends a view in parts of some bytes.
func (s *stage) see(tick lockstep.Tick, coins int64, now lockstep.Time, size int) (first bool) {
	if err := s.sender.Set(codec.Append(nil, &purse{coins}), 0); err != nil {
		s.t.Fatal(err)
	}
	base, delta := s.sender.Delta(0)
	for at := 0; at < len(delta); at += size {
		part := delta[at:min(at+size, len(delta))]
		whole, one, err := s.Delta(&protocol.Message{View: uint64(s.sender.Number()), Base: uint64(base), Tick: tick, Offset: uint32(at), Total: uint32(len(delta)), Bytes: part}, now)
		if err != nil || whole != (at+size >= len(delta)) {
			s.t.Fatalf("byte %d of %d: whole %t, %v", at, len(delta), whole, err)
		}
		first = one
	}
	return first
}

// Views are put together, acknowledged once, and seen beyond a connection; between two of them is a fraction of their time.
func TestLooks(t *testing.T) {
	s := newStage(t)
	if _, ok := s.Look(0, 0); ok || !s.Blind() || s.Looks() {
		t.Error("it sees before there is anything")
	}
	if s.Keep([]byte{1, 2}); !bytes.Equal(s.Notes, []byte{1, 2}) || !s.begin() || len(s.Notes) > 0 || s.Period != period {
		t.Error("it does not begin")
	}
	if !s.see(2, 5, 100*lockstep.Millisecond, 3) || s.see(4, 7, 200*lockstep.Millisecond, 1) {
		t.Error("the first view is not the first")
	}
	var m protocol.Message
	if !s.Ack(&m) || m.View != 2 || m.Tick != 4 || s.Ack(&m) {
		t.Errorf("got acknowledgement %+v", m)
	}
	if whole, _, err := s.Delta(&protocol.Message{Tick: 6}, 300*lockstep.Millisecond); err != nil || !whole || s.Tick() != 6 {
		t.Errorf("nothing new: got %t, %v at tick %d", whole, err, s.Tick())
	}
	for now, want := range map[lockstep.Time]uint32{300: 0, 350: 1 << 15, 400: 1 << 16, 900: 3 << 15} {
		l, ok := s.Look(now*lockstep.Millisecond, period)
		if !ok || l.Fraction != want || l.PreviousTick != 4 || l.Tick != 6 || !bytes.Equal(l.Current, codec.Append(nil, &purse{7})) {
			t.Errorf("at %d ms: got %+v", now, l)
		}
	}
	if s.Drop(); s.Looks() || !s.Blind() || s.Memory() == 0 {
		t.Error("a lost connection is not blind")
	}
	if l, ok := s.Look(0, 0); !ok || l.Tick != 6 {
		t.Error("the picture is gone")
	}
	if s.begin() {
		t.Error("the same viewer is another one")
	}
}

// What is out of place is an error.
func TestRefuses(t *testing.T) {
	s := newStage(t)
	if _, _, err := s.Delta(&protocol.Message{Tick: 2}, 0); !errors.Is(err, record.ErrOutOfPlace) {
		t.Errorf("before view_sync: got %v", err)
	}
	s.begin()
	if _, _, err := s.Delta(&protocol.Message{Tick: 2}, 0); !errors.Is(err, record.ErrOutOfPlace) {
		t.Errorf("nothing new at first: got %v", err)
	}
	if _, _, err := s.Delta(&protocol.Message{Tick: 2, Offset: 1, Total: 3, Bytes: []byte{1}}, 0); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("a hole: got %v", err)
	}
	if _, _, err := s.Delta(&protocol.Message{Tick: 2, View: 1, Total: 1, Bytes: []byte{0xff}}, 0); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("no difference: got %v", err)
	}
	if _, err := s.Check(&protocol.Message{Bytes: []byte{9}}); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("no plan: got %v", err)
	}
}
