package ending

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const second = lockstep.Second

var policy = Policy{Linger: 5 * second, EndLinger: 15 * second, Abandoned: 60 * second}

// Each way in which a match ends has its reason, and its time to read the end.
func TestEndings(t *testing.T) {
	full := errors.New("the disk is full")
	for _, c := range []struct {
		name    string
		end     func(e *Ending)
		err     error
		byRules bool
		seen    bool
		reason  string
		code    protocol.CloseCode
		closing string
		closes  lockstep.Time
		lingers bool
	}{
		{"by the rules", func(*Ending) {}, coordinator.ErrEnded, true, false, coordinator.EndedByRules, protocol.CloseEnded, "the match has ended", 15, true},
		{"by the rules, and all have seen it", func(*Ending) {}, coordinator.ErrEnded, true, true, coordinator.EndedByRules, protocol.CloseEnded, "the match has ended", 5, true},
		{"by the rules, and then the log fails", func(*Ending) {}, full, true, false, coordinator.EndedByRules, protocol.CloseEnded, "the disk is full", 15, true},
		{"by the rules, and then it is suspended", func(e *Ending) { e.Suspend(second, "maintenance") }, coordinator.ErrEnded, true, false, coordinator.EndedByRules, protocol.CloseShutdown, "maintenance", 15, false},
		{"by an admin", func(e *Ending) { e.End("too late") }, coordinator.ErrEnded, false, true, "too late", protocol.CloseEnded, "the match has ended", 5, false},
		{"by an admin without a reason", func(e *Ending) { e.End("") }, coordinator.ErrEnded, false, false, "the match has ended", protocol.CloseEnded, "the match has ended", 5, false},
		{"suspended", func(e *Ending) { e.Suspend(second, "maintenance") }, nil, false, false, "maintenance", protocol.CloseShutdown, "maintenance", 5, false},
		{"the log fails", func(*Ending) {}, full, false, false, "the disk is full", protocol.CloseEnded, "the disk is full", 5, false},
		{"the log fails when it is suspended", func(e *Ending) { e.Suspend(second, "maintenance") }, full, false, false, "the disk is full", protocol.CloseShutdown, "the disk is full", 5, false},
	} {
		e := New(policy)
		if e.Over || e.Lingers(0, c.seen) {
			t.Errorf("%s: over before the end", c.name)
		}
		c.end(e)
		e.Finish(100*second, c.byRules)
		code, closing := e.Closing(c.err)
		if got := e.Reason(c.err, c.byRules); got != c.reason || code != c.code || closing != c.closing {
			t.Errorf("%s: got reason %q, and %v: %q", c.name, got, code, closing)
		}
		at := e.ClosesAt(c.seen)
		if !e.Over || at != (100+c.closes)*second || e.Lingers(at-1, c.seen) != c.lingers || e.Lingers(at, c.seen) {
			t.Errorf("%s: closes after %d us, lingers %t", c.name, at-100*second, e.Lingers(at-1, c.seen))
		}
		if e.Forgive(110*second, 3*second); e.ClosesAt(c.seen) != at+3*second {
			t.Errorf("%s: a stall counts as time to read the end", c.name)
		}
	}
}

// Clients come back to a suspended match after a time that fits in its message.
func TestRetry(t *testing.T) {
	for retry, want := range map[lockstep.Time]uint32{-second: 1, 0: 1, 2 * second: 2000, 1 << 60: 1 << 31} {
		e := New(policy)
		if e.Suspend(retry, ""); e.Retry != want {
			t.Errorf("%d: got %d ms, want %d", retry, e.Retry, want)
		}
	}
}

// A match that all players have left for good ends, but none that nobody has ever joined.
func TestAbandoned(t *testing.T) {
	ask := func(e *Ending, now lockstep.Time, nobody bool) string {
		ends, at := e.Abandoned(now*second, nobody)
		if at == 1<<63-1 {
			return fmt.Sprint(ends)
		}
		return fmt.Sprint(ends, " ", at/second)
	}
	e := New(policy)
	got := []string{ask(e, 1, true)}
	e.Peopled()
	got = append(got, ask(e, 2, false), ask(e, 10, true), ask(e, 69, true), ask(e, 69, false), ask(e, 70, true), ask(e, 129, true), ask(e, 130, true))
	if want := "[false false false 70 false 70 false false 130 false 130 true 130]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	e = New(Policy{})
	if e.Peopled(); ask(e, 1, true) != "false" || ask(e, 1000, true) != "false" {
		t.Error("a match without the policy ends")
	}
}
