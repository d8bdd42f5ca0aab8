package dialing_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
)

const second = lockstep.Second

var policy = dialing.Policy{First: second, Longest: 5 * second, Attempts: 4, Total: 600 * second}

// dial brings a link to its next connection.
func dial(t *testing.T, l *dialing.Link) (now lockstep.Time) {
	now = l.DialAt
	if _, dials := l.Advance(now - 1); dials && now > 0 {
		t.Error("dials too soon")
	}
	if _, dials := l.Advance(now); !dials || !l.Connected(now) || l.Connected(now) || l.Opened != now {
		t.Error("does not connect once")
	}
	l.Welcomed(now)
	return now
}

// Waits double, a server can lengthen them, and at last the link gives up; a connection that was live begins them anew.
func TestWaits(t *testing.T) {
	l := dialing.New(policy, 1)
	cut := errors.New("cut")
	for i, want := range []lockstep.Time{second, 2 * second, 9 * second, 5 * second} {
		now := dial(t, &l)
		if i == 2 {
			l.Delay(9 * second)
		}
		loss, ok := l.Lost(now, false, false, cut)
		if wait := loss.At - now; !ok || !loss.Had || loss.Attempt != i+1 || wait < want*8/10 || wait > want*12/10 {
			t.Errorf("loss %d: got attempt %d after %d ms, want %d ms", i, loss.Attempt, wait/lockstep.Millisecond, want/lockstep.Millisecond)
		}
	}
	live := l
	now := dial(t, &live)
	if loss, _ := live.Lost(now+5*second, true, false, cut); loss.Attempt != 1 {
		t.Errorf("after a live connection: got attempt %d", loss.Attempt)
	}
	now = dial(t, &l)
	if loss, _ := l.Lost(now, false, false, cut); !loss.GaveUp || !errors.Is(l.Err, dialing.ErrGaveUp) || !errors.Is(l.Err, cut) || l.State != dialing.Over {
		t.Errorf("got %+v, %v", loss, l.Err)
	}
	if _, ok := l.Lost(now, false, false, cut); ok {
		t.Error("lost once more")
	}
}

// Who hangs up comes back, with its reason; who fails or leaves does not.
func TestEnds(t *testing.T) {
	bad := errors.New("bad")
	for name, row := range map[string]struct {
		end  func(l *dialing.Link) bool
		told bool // what end returns
		over bool
	}{
		"hangs up": {func(l *dialing.Link) bool { l.HangUp(0, false, bad); return false }, false, false},
		"fails":    {func(l *dialing.Link) bool { return l.Fail(0, false, bad) }, false, true},
		"leaves":   {func(l *dialing.Link) bool { return l.Leave(0, false) }, true, true},
	} {
		l := dialing.New(policy, 1)
		dial(t, &l)
		if told := row.end(&l); told != row.told || l.State != dialing.Closing || l.Open() {
			t.Errorf("%s: got %t in state %d", name, told, l.State)
		}
		loss, ok := l.Lost(0, false, false, nil)
		if !ok || loss.Over != row.over || !row.over && loss.Err != bad {
			t.Errorf("%s: got %+v", name, loss)
		}
		if attempt, ok := l.Retry(1); ok == row.over || ok && (attempt != 1 || l.DialAt != 1) {
			t.Errorf("%s: tried again: %t", name, ok)
		}
	}
	l := dialing.New(policy, 1)
	if !l.Fail(0, false, bad) || l.Fail(0, false, bad) || l.Err != bad {
		t.Error("a link without a connection is not over at once")
	}
	if l = dialing.New(policy, 1); l.Leave(0, false) || l.State != dialing.Over || !l.Leaving {
		t.Error("nobody leaves without a connection")
	}
}
