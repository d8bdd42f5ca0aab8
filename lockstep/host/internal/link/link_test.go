package link

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	ms    = lockstep.Millisecond
	every = 5000 * ms
)

func TestSilence(t *testing.T) {
	l := New(100 * ms)
	l.Begin(100 * ms)
	for _, c := range []struct {
		now, next   lockstep.Time
		due, silent bool
		heard       bool
	}{
		{now: 100 * ms, due: true, next: 5100 * ms},
		{now: 5099 * ms, next: 5100 * ms},
		{now: 5100 * ms, due: true, next: 10_100 * ms},
		{now: 10_099 * ms, next: 10_100 * ms},
		{now: 10_100 * ms, due: true, silent: true, next: 10_100 * ms},
		{now: 10_101 * ms, heard: true, next: 15_100 * ms},
		{now: 15_100 * ms, due: true, next: 20_100 * ms},
		{now: 20_100 * ms, due: true, next: 20_101 * ms},
		{now: 20_101 * ms, silent: true, next: 20_101 * ms},
	} {
		if c.heard {
			l.Heard(c.now)
		}
		due, silent := l.Due(c.now), l.Silent(c.now, 10_000*ms)
		if due {
			l.Ping(c.now, every, 0)
		}
		if next := l.Next(10_000 * ms); due != c.due || silent != c.silent || next != c.next {
			t.Errorf("at %d ms: due %t, silent %t, next %d ms", c.now.Milliseconds(), due, silent, next.Milliseconds())
		}
	}
	l.Forgive(30_000*ms, 5000*ms)
	if l.Silent(30_000*ms, 20_000*ms) || !l.Silent(35_101*ms, 20_000*ms) {
		t.Error("the time of a stall counts as silence, or more than it does not")
	}
}

// Connections do not ping at once.
func TestPingsDiffer(t *testing.T) {
	seen := map[lockstep.Time]bool{}
	for id := range uint64(16) {
		l := New(0)
		l.Ping(0, every, id)
		if seen[l.pingAt] = true; l.pingAt > every || l.pingAt <= every*3/4 {
			t.Errorf("connection %d pings again after %d ms", id, l.pingAt.Milliseconds())
		}
	}
	if len(seen) != 16 {
		t.Errorf("got %d times, want 16", len(seen))
	}
}

// Only the first answer to the latest ping of a live client is a measurement.
func TestPong(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(l *Link, nonce uint64)
		want   lockstep.Time
	}{
		{"an answer", func(l *Link, n uint64) { l.Pong(40*ms, n, true) }, 40 * ms},
		{"an answer to nothing", func(l *Link, n uint64) { l.Pong(40*ms, n+1, true) }, 0},
		{"twice", func(l *Link, n uint64) { l.Pong(40*ms, n, true); l.Pong(10*ms, n, true) }, 40 * ms},
		{"of one who catches up", func(l *Link, n uint64) { l.Pong(40*ms, n, false); l.Pong(50*ms, n, true) }, 0},
		{"after a stall", func(l *Link, n uint64) { l.Forgive(40*ms, 30*ms); l.Pong(40*ms, n, true) }, 0},
		{"to a ping from before it was live", func(l *Link, n uint64) { l.Live(); l.Pong(40*ms, n, true) }, 0},
	} {
		l := New(0)
		c.answer(&l, l.Ping(0, every, 0))
		if l.RTT != c.want {
			t.Errorf("%s: got a round trip of %d us, want %d", c.name, l.RTT, c.want)
		}
	}
	l := New(0)
	l.Pong(40*ms, l.Ping(0, every, 0), true)
	n := l.Ping(0, every, 0)
	if l.Live(); l.pinged {
		l.Pong(20*ms, n, true)
	}
	if l.RTT != 20*ms {
		t.Errorf("live again: got a round trip of %d us, want 20,000", l.RTT)
	}
}

// The round trip does not follow the first measurement of a client that is busy with its start, and later follows slowly.
func TestMeasuredAfterBusyStart(t *testing.T) {
	var l Link
	for _, rtt := range []lockstep.Time{1400, 4, 5} {
		l.measured(rtt * ms)
	}
	if l.RTT > 5*ms || l.Jitter > 2*ms {
		t.Errorf("got a round trip of %v and a jitter of %v", l.RTT, l.Jitter)
	}
	l = Link{RTT: 80 * ms, Jitter: 8 * ms, measurements: early}
	if l.measured(160 * ms); l.RTT != 90*ms || l.Jitter != 26*ms {
		t.Errorf("got a round trip of %v and a jitter of %v, want 90 ms and 26 ms", l.RTT, l.Jitter)
	}
	if l.measured(10 * ms); l.RTT != 80*ms {
		t.Errorf("got a round trip of %v, want 80 ms", l.RTT)
	}
}
