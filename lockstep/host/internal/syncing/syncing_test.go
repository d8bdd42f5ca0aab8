package syncing

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Late readers see a tick when the delay is over and it is durable, and after a recovery nothing until the last recovered tick may be seen.
func TestBarrier(t *testing.T) {
	var b Barrier
	b.Begin(3, 10, 100)
	b.Durable(100)
	for tick := lockstep.Tick(11); tick < 20; tick++ {
		end := protocol.Position(100 + 2*(tick-10))
		b.Seal(tick, end)
		if got := b.Visible(false, end); got != b.Persisted || b.Shown(false, end) != end {
			t.Errorf("tick %d: a player sees up to %d", tick, got)
		}
		b.Durable(end)
		b.Reveal(tick)
		want := protocol.Position(0)
		if tick >= 13 {
			want = 100 + 2*protocol.Position(tick-3-10)
		}
		if got := b.Visible(true, end); got != want || b.Hidden(tick) != want {
			t.Errorf("tick %d: a late reader sees up to %d, want %d", tick, got, want)
		}
	}
	var begun Barrier
	begun.Begin(3, 0, 1)
	if begun.Seal(1, 5); begun.Hidden(2) != 1 {
		t.Errorf("at the beginning the records up to %d are shown", begun.Hidden(2))
	}
}

// begun are keyframes after a first one at a tick, whose records begin at position 10·tick.
func begun(hides bool, tick lockstep.Tick) *Keyframes {
	s := NewKeyframes(100, false)
	s.First([]byte("header"), []byte("state"))
	s.latest.Position = protocol.Position(10 * tick)
	s.Begin(0, tick, hides)
	return &s
}

func (s *Keyframes) at(now lockstep.Time, t lockstep.Tick) *Keyframe {
	return s.Put(now, &State{Tick: t, Position: protocol.Position(10 * t)})
}

// A keyframe is shared while it is young and the ring has the records after it.
func TestLatest(t *testing.T) {
	s := begun(false, 1)
	for _, row := range []struct {
		now       lockstep.Time
		first     protocol.Position
		made      uint64
		elsewhere bool
		have, due bool
	}{
		{99, 10, 0, false, true, false},
		{100, 10, 0, false, false, true},
		{99, 11, 0, false, false, true}, // the first one was not made to be sent
		{99, 11, 1, false, false, false},
		{100, 10, 1, false, false, true},
		{100, 10, 0, true, true, false},
		{100, 11, 0, true, false, false},
	} {
		s.Made, s.elsewhere = row.made, row.elsewhere
		if k, due := s.Latest(row.now, row.first); (k != nil) != row.have || due != row.due {
			t.Errorf("%+v: got %v, due %t", row, k, due)
		}
	}
	if s.First(nil, []byte("x")); string(s.latest.Bytes) != "headerstate" {
		t.Errorf("the first keyframe is %q", s.latest.Bytes)
	}
	if s.elsewhere = false; !s.After(11) || s.After(10) {
		t.Error("wrong order")
	}
}

// Late readers get the latest keyframe that they may see, and wait for one that is not durable yet.
func TestKeyframesOfLateReaders(t *testing.T) {
	s := begun(true, 1)
	first := s.latest
	second := s.at(50, 5)
	s.Keep(second, 10)
	third := s.at(60, 9)
	s.Keep(third, 10)
	s.Keep(third, 10)
	for _, row := range []struct {
		shown, visible, first protocol.Position
		want                  *Keyframe
		awaited               bool
	}{
		{90, 90, 1, third, false},
		{90, 80, 1, nil, true},
		{80, 80, 1, second, false},
		{49, 49, 1, first, false},
		{49, 49, 11, nil, false},
	} {
		if got := s.For(third, row.shown, row.visible, row.first); got != row.want || s.Awaited() != row.awaited {
			t.Errorf("%+v: got %v", row, got)
		}
	}
	if got := s.UntilSeen(10, 20); got != 11 || s.UntilSeen(21, 20) != 0 || s.UntilSeen(10, 0) != 0 {
		t.Errorf("seen in %d ticks, want 11", got)
	}
	if s.Memory() != len(first.Bytes)+len(second.Bytes)+len(third.Bytes) || !s.Keeps(second) || s.Keeps(&Keyframe{}) {
		t.Errorf("got %d bytes", s.Memory())
	}
	s.Distrust(60, 6) // the referee was right at tick 6, so the third is wrong
	if !slices.Equal(s.late, []*Keyframe{first, second}) {
		t.Errorf("%d are kept", len(s.late))
	}
	if k, due := s.Latest(60, 1); k != nil || !due {
		t.Error("no other one is due")
	}
	fourth := s.at(70, 10)
	if s.Keep(fourth, 50); !slices.Equal(s.late, []*Keyframe{second, fourth}) {
		t.Errorf("%d are kept, want those of ticks 5 and 10", len(s.late))
	}
}

// Players are asked in turns, and more of them each second.
func TestDonors(t *testing.T) {
	s := lockstep.DefaultSettings(3)
	s.CheckEvery = 20
	d := NewDonors(s)
	if d.Wants(0, 0) != 0 {
		t.Error("a player is asked before the first check")
	}
	for tick := lockstep.Tick(1); tick <= 60; tick++ {
		d.Remember(tick, protocol.Position(tick), nil)
	}
	if got := d.Moments(65, 1); !slices.Equal(got, []lockstep.Tick{60, 40, 20}) {
		t.Errorf("got %d", got)
	}
	if got := d.Moments(65, 41); !slices.Equal(got, []lockstep.Tick{60}) {
		t.Errorf("got %d of those that the ring has", got)
	}
	if d.Ask(0, 1, nil) != nil || d.Wants(0, 0) != 1 {
		t.Error("nobody is there, and is asked")
	}
	var asked []Request
	for range 4 {
		asked = append(asked, d.Ask(0, 1, []Offer{{60, nil}, {40, []lockstep.Player{0, 1, 2}}})...)
	}
	d.Leave(2)
	asked = append(asked, d.Ask(0, 2, []Offer{{60, []lockstep.Player{1}}, {40, []lockstep.Player{0, 1, 2}}})...)
	if want := []Request{{0, 40}, {1, 40}, {2, 40}, {0, 40}, {1, 60}, {2, 40}}; !slices.Equal(asked, want) {
		t.Errorf("got %d, want %d", asked, want)
	}
	if d.Wants(patience-1, 1) != 0 || d.Wants(patience, 1) != 2 {
		t.Error("the next one is asked too soon or too late")
	}
}

// A player's state is taken only with the checksum on which the players agree.
func TestFalseDonors(t *testing.T) {
	s := lockstep.DefaultSettings(3)
	s.CheckEvery = 20
	d := NewDonors(s)
	d.Remember(40, 44, nil)
	agreed := coordinator.Check{Tick: 40, Status: coordinator.CheckAgreed, Hash: 7}
	for _, row := range []struct {
		name  string
		tick  lockstep.Tick
		state []byte
		hash  uint64
		check coordinator.Check
		ok    bool
		first protocol.Position
		want  bool
	}{
		{"right", 40, []byte{1}, 7, agreed, true, 44, true},
		{"none", 40, nil, 7, agreed, true, 44, false},
		{"another checksum", 40, []byte{1}, 8, agreed, true, 44, false},
		{"no check", 40, []byte{1}, 7, agreed, false, 44, false},
		{"open", 40, []byte{1}, 7, coordinator.Check{Tick: 40, Hash: 7}, true, 44, false},
		{"overwritten", 40, []byte{1}, 7, agreed, true, 45, false},
		{"another tick", 20, []byte{1}, 7, agreed, true, 1, false},
	} {
		d.askAt = 99
		x := d.Take(5, row.tick, row.state, row.hash, row.check, row.ok, row.first)
		if (x != nil) != row.want || x != nil && x.Position != 44 || (d.askAt == 5) == row.want {
			t.Errorf("%s: got %v, the next one is asked at %v", row.name, x, d.askAt)
		}
	}
}
