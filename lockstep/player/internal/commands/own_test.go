package commands

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A server that recovers from a crash accepts the commands that a client sends again and submits then, for every
// history of submitted, answered and lost commands. The oracle is the rule of the server's seat.
func TestOutstandingAfterCrash(t *testing.T) {
	for _, row := range []struct {
		name                               string
		decided, undecided, limited, known lockstep.Sequence
	}{
		{name: "nothing lost", decided: 10, undecided: 3, known: 10},
		{name: "all lost, nothing undecided", decided: 1000, known: 0},
		{name: "within the window", decided: 200, undecided: 5, known: 0},
		{name: "to the end of the window", decided: 255, undecided: 1, known: 0},
		{name: "beyond the window", decided: 256, undecided: 1, known: 0},
		{name: "far beyond the window", decided: 1000, undecided: 1, known: 700},
		{name: "a full window", decided: 1000, undecided: record.CommandWindow, known: 0},
		{name: "a full window, nothing lost", decided: 7, undecided: record.CommandWindow, known: 7},
		{name: "a burst beyond the rate", decided: 300, limited: 1000, known: 300},
		{name: "a burst beyond the rate, and a crash", decided: 300, limited: 1000, undecided: 1, known: 300},
		{name: "an answer was lost", decided: 5, undecided: 3, known: 8},
		{name: "the last sequences", decided: 1<<32 - 20, undecided: 10, known: 1<<32 - 20},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := Own{next: row.known + 1, high: row.known}
			if row.decided > row.known {
				o = Own{next: row.decided + 1, high: row.decided}
			}
			for range row.limited {
				seq, ok := o.Submit(0, 1, nil)
				if !ok || o.full(seq) {
					t.Fatalf("sequence %d is refused or too far ahead of %d", seq, o.high)
				}
				o.remove(o.find(seq)) // rejected as rate limited
			}
			for range row.undecided {
				if _, ok := o.Submit(0, 1, nil); !ok {
					t.Fatal("a command is refused")
				}
			}
			o.Unsent()
			far := row.undecided > 0 && uint64(o.list[len(o.list)-1].Sequence) > uint64(row.known)+record.CommandWindow
			if got := o.Known(row.known, 0); far != (len(got) > 0) || far && len(got) != int(row.undecided) {
				t.Errorf("%d got new sequences, want %d: %t", len(got), row.undecided, far)
			}
			known := row.known // the highest sequence that the server has decided
			for i := range 600 {
				if _, ok := o.Submit(0, 1, nil); !ok && len(o.list) == 0 && i < 5 {
					t.Fatalf("command %d is refused", i)
				}
				for _, c := range o.list {
					stale := c.Sequence <= row.known || known >= record.CommandWindow && c.Sequence <= known-record.CommandWindow
					far := uint64(c.Sequence) > uint64(known)+record.CommandWindow
					if (stale || far) && row.known <= row.decided {
						t.Fatalf("sequence %d: stale: %t, too far ahead: %t, the server knows %d", c.Sequence, stale, far, known)
					}
					known = max(known, c.Sequence)
					o.high = max(o.high, c.Sequence)
				}
				for len(o.list) > 0 {
					o.remove(0)
				}
			}
		})
	}
}

// After a crash a substitute may have used the sequences of commands that the crash took back. Their ticks are too far ahead.
func TestOutstandingTakenBack(t *testing.T) {
	o := Own{next: 1}
	for i, tick := range []lockstep.Tick{750, 751, 0, 900} {
		seq, _ := o.Submit(0, 1, []byte{byte(i)})
		if c := &o.list[o.find(seq)]; tick > 0 {
			c.answered, c.run, c.tick = true, true, tick
		}
	}
	got := o.Known(20, 500)
	if want := []Renumbered{{2, 21}, {4, 22}}; !slices.Equal(got, want) {
		t.Errorf("got new sequences %v, want %v", got, want)
	}
	var order []lockstep.Sequence
	for _, c := range o.list {
		order = append(order, c.Sequence)
		if c.Sequence > 20 && (c.answered || c.run) {
			t.Errorf("command %d is still answered", c.Sequence)
		}
	}
	if want := []lockstep.Sequence{1, 3, 21, 22}; !slices.Equal(order, want) || o.next != 23 {
		t.Errorf("got sequences %v and then %d, want %v and then 23", order, o.next, want)
	}
}

// A command may run before its answer comes: that the rules refused it then is told once, with the answer. A tick that runs again, and a
// command that a crash took back, tell nothing of before.
func TestRefusedBeforeItsAnswer(t *testing.T) {
	o := New()
	for range 3 {
		o.Submit(0, 1, nil)
	}
	if o.Refused(1, "poor") || o.Refused(1, "poor again") || o.Refused(9, "nobody's") {
		t.Error("told before the answer")
	}
	if reason, refused := o.Owed(1); !refused || reason != "poor" {
		t.Errorf("with the answer: got %q, %v", reason, refused)
	}
	if _, refused := o.Owed(2); refused {
		t.Error("another command is refused")
	}
	o.Answer(&lockstep.Receipt{Sequence: 2, Tick: 5}, true, 0)
	if !o.Refused(2, "poor") || o.Refused(2, "poor") {
		t.Error("after the answer: not told once")
	}
	o.Known(0, 0) // a crash
	if _, refused := o.Owed(1); refused {
		t.Error("a command that a crash took back is still refused")
	}
	if ran, ok := o.Late(2); !ok || ran != 5 || o.Awaits(2) {
		t.Errorf("got tick %d, %v, want 5", ran, ok)
	}
	if _, ok := o.Late(2); ok {
		t.Error("taken twice")
	}
}
