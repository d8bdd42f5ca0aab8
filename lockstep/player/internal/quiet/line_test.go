package quiet_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/quiet"
)

const second = lockstep.Second

// A line stalls once, goes on with anything that comes, and is silent at last.
func TestLine(t *testing.T) {
	l := quiet.Begin(10*second, 5*second)
	if l.Notice(10*second+quiet.Time-1, 1, quiet.Time) || l.Stalled {
		t.Error("stalled too soon")
	}
	if !l.Notice(11*second, 1, quiet.Time) || l.Notice(12*second, 1, quiet.Time) || !l.Stalled || l.Due(quiet.Time) != l.SilentAt() {
		t.Error("not stalled once")
	}
	if !l.Datagram(13*second) || l.Datagram(13*second) || l.Last != 13*second {
		t.Error("what goes on is not told once")
	}
	if got := l.SilentAt(); got != 18*second {
		t.Errorf("silent at %d", got)
	}
	for now := 14 * second; now < 30*second; now += second {
		l.Datagram(now)
	}
	if got := l.SilentAt(); got != 25*second { // three times as long after the stream's last
		t.Errorf("with datagrams: silent at %d", got)
	}
	if l.Stream(30 * second); l.SilentAt() != 35*second || l.Notice(40*second, 1, quiet.Time) {
		t.Error("a silent line stalls")
	}
}

// An owner that was not called cannot blame the server.
func TestLateOwner(t *testing.T) {
	l := quiet.Begin(0, 5*second)
	if l.Notice(2*second, 2*second, quiet.Time) || l.Notice(2*second+quiet.Time/2, second/2, quiet.Time) {
		t.Error("the quiet did not begin anew")
	}
	if !l.Notice(2*second+quiet.Time, second/2, quiet.Time) {
		t.Error("not stalled after it")
	}
}
