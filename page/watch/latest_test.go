package watch_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
)

// The latest known state is that of the last keyframe, and beyond it that of the present tick. It is told once.
func TestLatest(t *testing.T) {
	v := open(t, "duel")
	timeline := v.Timeline(1000)
	last := timeline.Keyframes[len(timeline.Keyframes)-1]
	s := v.Latest(0)
	if s == nil || s.Tick() != last || v.Tick() != v.First() {
		t.Fatalf("got %v, want the state of tick %d without going there", s, last)
	}
	known := lockstep.World[skirmish.World](s).History(0)
	if n := int(last / 100); len(known) < n {
		t.Errorf("got %d samples, want at least %d", len(known), n)
	}
	end := v.Last()
	for _, row := range []struct{ at, after, want lockstep.Tick }{
		{0, last, 0}, {100, 50, last}, {end, last, max(end, last)}, {end, end, 0}, {0, end, 0},
	} {
		if row.want <= row.after {
			row.want = 0
		}
		at(t, v, row.at)
		var got lockstep.Tick
		if s := v.Latest(row.after); s != nil {
			got = s.Tick()
		}
		if got != row.want {
			t.Errorf("at tick %d, after %d: got tick %d, want %d", row.at, row.after, got, row.want)
		}
	}
}

// A keyframe that is damaged is no state.
func TestLatestDamaged(t *testing.T) {
	file := golden(t, "duel")
	for cut := len(file) - 1; cut > len(file)/2; cut -= len(file) / 40 {
		bad := append([]byte{}, file...)
		bad[cut] ^= 0x55
		v, err := watch.Open(bad, game)
		if err != nil {
			continue
		}
		if s := v.Latest(0); s != nil && s.Tick() > v.Last() {
			t.Errorf("byte %d: got tick %d of %d", cut, s.Tick(), v.Last())
		}
	}
}
