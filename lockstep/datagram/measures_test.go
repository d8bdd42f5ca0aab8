package datagram_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Both sides say how many datagrams the path loses and how much comes twice.
func TestLossIsTold(t *testing.T) {
	for _, percent := range []uint32{0, 3, 20} {
		t.Run(fmt.Sprintf("%d percent", percent), func(t *testing.T) {
			m := newMatch(t, 2, host.Options{})
			s, stream := m.join(float64(percent)/100, true), m.join(0, false)
			m.run(2 * lockstep.Second)
			for range 300 {
				m.run(200 * ms)
				s.earn(&testgame.Earn{Coins: 1})
			}
			told, h := s.client.Status(), m.host.Stats()
			for name, got := range map[string]uint32{"the server's": told.LossIn, "ours": told.LossOut} {
				if want := percent * 10_000; got > 3*want || got < want/10 {
					t.Errorf("got a loss of %d of a million of %s, want about %d", got, name, want)
				}
			}
			sent, lost := uint64(s.datagramsDown.n), uint64(s.datagramsDown.lost)
			if h.Datagrams != sent || h.DatagramsLost > lost || h.DatagramsLost+8+lost/20 < lost {
				t.Errorf("the host has lost %d of %d datagrams, want %d of %d, or a few less", h.DatagramsLost, h.Datagrams, lost, sent)
			}
			if got := s.repeats; told.Repeats != got || got == 0 {
				t.Errorf("got %d repeats, want %d", told.Repeats, got)
			}
			if h.RepeatBytes == 0 || h.RepeatBytes > h.BytesOut {
				t.Errorf("got %d bytes of repetitions of %d", h.RepeatBytes, h.BytesOut)
			}
			if other := stream.client.Status(); !told.Datagrams || other.Datagrams || other.Repeats > 0 {
				t.Errorf("got datagrams %t of the player with them, and %t with %d repeats of the other", told.Datagrams, other.Datagrams, other.Repeats)
			}
		})
	}
}

// Whatever the way, ten minutes of a path that loses 3 % of its packets have no visible stall, and less than a correction in a second, if
// the client goes on over late ticks; also if it shows the player's own commands, two in a second, at once. Control: one that does not
// go on, over the stream.
func TestLateTicksAreNotSeen(t *testing.T) {
	m := newMatch(t, 5, host.Options{})
	join := func(datagrams bool, late, predict lockstep.Tick) *seat {
		s := m.join(0.03, datagrams)
		s.client = player.New(m.game, player.Options{Token: fmt.Sprint("player", len(m.players)-1), PredictLate: late, Predict: predict, Interpolate: true})
		return s
	}
	control, stream, both, page := join(false, 0, 0), join(false, 16, 0), join(true, 10, 0), join(true, 10, 6)
	other := m.join(0, false)
	minutes := 10
	if testenv.Small(t) {
		minutes = 3
	}
	for range minutes * 60 * 2 {
		m.run(500 * ms)
		other.earn(&testgame.Earn{Coins: 1})
		m.run(lockstep.Time(m.rand.IntN(50)) * ms)
		page.earn(&testgame.Earn{Coins: 1})
	}
	for name, s := range map[string]*seat{"control": control, "stream": stream, "datagrams": both, "own commands": page} {
		told := s.client.Status()
		t.Logf("%s: %d stalls, %d corrections, %d rollbacks, %d late frames, a delay of %d ms", name, told.Stalls, told.Corrections, told.Rollbacks, told.LateFrames, told.RenderDelay/ms)
		if s == control && told.Stalls < minutes/3 || s != control && told.Stalls > 0 {
			t.Errorf("%s: got %d stalls", name, told.Stalls)
		}
		if told.Corrections > 60*minutes {
			t.Errorf("%s: got %d corrections", name, told.Corrections)
		}
	}
}
