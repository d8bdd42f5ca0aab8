package idle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

const second = lockstep.Second

// play counts ticks for seat 0 of a match with 20 ticks a second, while the steps happen, and returns what the ticks say.
// A step is a number of seconds, or of ticks, or a call.
func play(p Policy, guest bool, steps ...any) string {
	s := lockstep.DefaultSettings(2)
	x := New(s, p)
	var said []string
	at := 0
	for _, step := range steps {
		if f, ok := step.(func(*Seats)); ok {
			f(x)
			continue
		}
		n, ok := step.(lockstep.Tick)
		if !ok {
			n = lockstep.Tick(step.(int)) * lockstep.Tick(s.TickRate())
		}
		for range n {
			at++
			v := x.Tick(0, guest)
			if v == nil {
				continue
			}
			if v.Warn {
				said = append(said, fmt.Sprintf("%.2f warned: %d s left", float64(at)/float64(s.TickRate()), v.Left))
			}
			if v.Lost {
				said = append(said, fmt.Sprintf("%.2f lost after %d s: %d", float64(at)/float64(s.TickRate()), v.After, v.Then))
			}
		}
	}
	if x.Ticks(1) != 0 {
		said = append(said, "the other seat was counted")
	}
	return strings.Join(said, ", ")
}

func TestSeats(t *testing.T) {
	command := func(x *Seats) { x.Reset(0) }
	back := func(x *Seats) { x.Connected(0) }
	limit := func(after lockstep.Time) func(*Seats) {
		return func(x *Seats) { x.SetGuests(after); x.Ease(0) }
	}
	for _, c := range []struct {
		name   string
		policy Policy
		guest  bool
		steps  []any
		want   string
	}{
		{"silent", Policy{After: 100 * second, Then: TakeOver}, false, []any{300}, "70.00 warned: 30 s left, 100.00 lost after 100 s: 1"},
		{"a short limit", Policy{After: 3 * second, Then: Remove}, false, []any{9}, "1.50 warned: 2 s left, 3.00 lost after 3 s: 2"},
		{"only reported", Policy{After: 3 * second}, false, []any{9}, "3.00 lost after 3 s: 0"},
		{"no policy", Policy{After: -1, Then: Remove}, false, []any{900}, ""},
		{"commands", Policy{After: 100 * second, Then: Remove}, false, []any{90, command, 60}, "70.00 warned: 30 s left"},
		{"commands, and is silent again", Policy{After: 100 * second, Then: Remove}, false, []any{90, command, 71}, "70.00 warned: 30 s left, 160.00 warned: 30 s left"},
		{"is back", Policy{After: 100 * second, Then: Remove}, false, []any{80, back, 90}, "70.00 warned: 30 s left, 80.05 warned: 20 s left, 100.00 lost after 100 s: 2"},
		{"is back late", Policy{After: 100 * second, Then: Remove}, false, []any{99, back, 9}, "70.00 warned: 30 s left, 99.05 warned: 5 s left, 104.05 lost after 100 s: 2"},
		{"is back at the last tick", Policy{After: 100 * second, Then: Remove}, false, []any{lockstep.Tick(1999), back, 9}, "70.00 warned: 30 s left, 100.00 warned: 5 s left, 105.00 lost after 100 s: 2"},
		{"a guest", Policy{After: 100 * second, Then: TakeOver, Guests: 60 * second}, true, []any{90}, "30.00 warned: 30 s left, 60.00 lost after 60 s: 2"},
		{"not a guest", Policy{After: 100 * second, Then: TakeOver, Guests: 60 * second}, false, []any{60}, ""},
		{"a guest where others are reported", Policy{After: 20 * second, Guests: 60 * second}, true, []any{90}, "30.00 warned: 30 s left, 60.00 lost after 60 s: 2"},
		{"a guest where others are removed sooner", Policy{After: 20 * second, Then: TakeOver, Guests: 60 * second}, true, []any{30}, "10.00 warned: 10 s left, 20.00 lost after 20 s: 1"},
		{"guests are as others", Policy{After: 20 * second, Guests: -1}, true, []any{90}, "20.00 lost after 20 s: 0"},
		{"a new limit for an idle guest", Policy{After: -1, Guests: -1}, true, []any{90, limit(60 * second), 9}, "90.05 warned: 5 s left, 95.05 lost after 60 s: 2"},
		{"a new limit for one who has just commanded", Policy{After: -1, Guests: -1}, true, []any{90, command, limit(60 * second), 29}, ""},
	} {
		if got := play(c.policy, c.guest, c.steps...); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// A limit of one tick warns and ends at once; it cannot end before.
func TestSeatsOfOneTick(t *testing.T) {
	s := lockstep.DefaultSettings(1)
	x := New(s, Policy{After: 1, Then: Remove})
	v := x.Tick(0, false)
	if v == nil || !v.Warn || !v.Lost || v.Then != Remove || x.Tick(0, false) != nil {
		t.Errorf("got %+v, want a warning and the end, once", v)
	}
}
