package playout_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/playout"
)

const each = 50 * lockstep.Millisecond

// steady returns a playout whose buffer is full, and the time.
func steady(t *testing.T) (p playout.Playout, now lockstep.Time) {
	p = playout.New(playout.Options{MaxDelay: 10 * each, Behind: 5 * each, CatchUp: 800, FarBehind: 100 * each})
	settings := lockstep.DefaultSettings(2)
	p.Arriving(100)
	p.Begin(&settings)
	if p.Steady() || p.Tick() != each || p.Arrival() != each {
		t.Fatalf("it begins with ticks of %d", p.Tick())
	}
	level := int64(0)
	for now = each; now < 20*each; now += each / 5 {
		if now%each == 0 {
			p.Came(now, 1, false)
			level++
		}
		n := p.Pass(now, level)
		p.Ran(n, 0)
		if level -= n; n > 1 {
			t.Fatalf("got %d ticks at once", n)
		}
	}
	if !p.Steady() || p.Owed != 0 || level > 0 {
		t.Fatalf("it does not become steady: %d ticks left, %d owed", level, p.Owed)
	}
	return p, now
}

// A tick that comes late is owed no more, and those after it still are: what was shown in their place is not shown again.
func TestOwed(t *testing.T) {
	p, now := steady(t)
	for range 4 {
		now += each
		p.Pass(now, 0)
		p.Ran(0, 5)
	}
	owed := p.Owed
	if owed < 3 {
		t.Fatalf("got %d ticks owed", owed)
	}
	for left := owed - 1; left >= 0; left-- {
		p.Came(now, 1, false)
		if n := p.Pass(now, 1); n != 1 {
			t.Fatalf("a late tick does not run: %d", n)
		}
		if p.Ran(1, 5); p.Owed != left {
			t.Errorf("got %d ticks owed, want %d", p.Owed, left)
		}
	}
}

// Nothing runs while the buffer fills after an interruption, and time without ticks is lost beyond what may be owed.
func TestStands(t *testing.T) {
	p, now := steady(t)
	p.Interrupted()
	p.Came(now, 1, false)
	if p.Pass(now, 0); p.Steady() || p.Next(0) <= now {
		t.Errorf("it is steady at once, and the next tick runs at %d", p.Next(0)-now)
	}
	if p.Skip(now + each); p.FarBehind(90) || !p.FarBehind(101) {
		t.Error("far behind is another distance")
	}
	p, now = steady(t)
	lost := lockstep.Time(0)
	for range 10 {
		now += each
		p.Pass(now, 0)
		lost += p.Ran(0, 2)
	}
	if p.Owed != 2 || lost < 6*each || lost > 9*each {
		t.Errorf("got %d ticks owed, and %d ms lost", p.Owed, lost/lockstep.Millisecond)
	}
}
