package local_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// With ticks of half a second to a minute, a command runs in the next tick that is sealed, and shows right after that. The owner comes
// only when it is asked to, so the client's time passes without its help. A long tick is no stall.
func TestSlowTicks(t *testing.T) {
	const ticks = 12
	for _, period := range []lockstep.Time{lockstep.Second / 2, 2 * lockstep.Second, 10 * lockstep.Second, 60 * lockstep.Second} {
		settings := lockstep.DefaultSettings(1)
		settings.TickMicros, settings.CheckEvery = uint32(period), 1
		var receipt lockstep.Receipt
		stalled := 0
		m, err := local.New(game, &minimal.Config{Size: 100}, local.Options{Settings: settings, Handle: func(e any) {
			switch e := e.(type) {
			case lockstep.Receipt:
				receipt = e
			case player.Held:
				if e.Reason == player.LinkStalled {
					stalled++
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		now := lockstep.Time(0)
		pass := func(until func() bool) {
			for last := now + 4*period; now <= last; now = max(now+1, min(m.Host().Ready().Next, m.Client().Ready().Next)) {
				if err := m.Advance(now); err != nil {
					t.Fatal(err)
				}
				if until() {
					return
				}
			}
		}
		pass(func() bool { return m.Host().Now() == 2 })
		began, joined := now, m.Client().Status().Watched
		for m.Host().Now() < ticks {
			receipt = lockstep.Receipt{}
			sealed, from := m.Host().Now(), now
			if _, err := m.Client().Submit(&minimal.Go{X: uint16(sealed), Y: 7}); err != nil {
				t.Fatal(err)
			}
			pass(func() bool { return m.Client().Tick() > sealed })
			if receipt.Reason != lockstep.Accepted || receipt.Tick != sealed+1 {
				t.Errorf("period %v: a command after tick %d got %+v", period, sealed, receipt)
			}
			if waited := now - from; waited > period+50*lockstep.Millisecond {
				t.Errorf("period %v: a command in tick %d shows after %d ms", period, receipt.Tick, waited.Milliseconds())
			}
		}
		s := m.Client().Status()
		if watched, passed := s.Watched-joined, now-began; s.Stalls+stalled > 0 || s.LateFrames > 0 || watched < passed*9/10 || watched > passed {
			t.Errorf("period %v: %d stalls, %d late frames, watched %d ms of %d", period, s.Stalls+stalled, s.LateFrames, watched.Milliseconds(), passed.Milliseconds())
		}
	}
}
