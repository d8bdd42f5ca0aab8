package player

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// outstanding are a client's own commands without a final result, by rising sequence. No sequence is further ahead of
// the highest decided one than the window of sequences that a Coordinator takes.
type outstanding struct {
	list []submitted
	open []*datagram.Pending // those of list that are not answered, for Pending
	next lockstep.Sequence   // of the next command
	high lockstep.Sequence   // the highest that the server has decided, as far as it is known
}

// A submitted command is one of this client's own.
type submitted struct {
	datagram.Pending
	answered bool          // and accepted
	tick     lockstep.Tick // answered: when it runs
	assumed  lockstep.Tick // the tick in which the prediction runs it; 0 for none
	expected lockstep.Tick // the tick in which the server was expected to run it; 0 if nothing was
	run      bool          // a frame that was run has it
}

// add queues a command, and reports false if the window is full or no sequence is left. Sequences that were rejected
// without a decision are reused once they fill the window and no other command is undecided.
func (o *outstanding) add(now lockstep.Time, kind lockstep.Kind, payload []byte) (lockstep.Sequence, bool) {
	n := len(o.list)
	if o.full(o.next) && (n == 0 || o.list[n-1].Sequence <= o.high) {
		o.next = o.high + 1
	}
	if n == record.CommandWindow || o.next == 0 || o.full(o.next) {
		return 0, false
	}
	if n < cap(o.list) {
		o.list = o.list[:n+1] // its payload's memory is used again
	} else {
		o.list = append(o.list, submitted{})
	}
	s := &o.list[n]
	*s = submitted{Pending: datagram.Pending{Command: datagram.Command{Sequence: o.next, Kind: kind, Payload: append(s.Payload[:0], payload...)}, At: now}}
	o.next++
	return s.Sequence, true
}

// full reports whether the server would call a sequence too far ahead.
func (o *outstanding) full(seq lockstep.Sequence) bool {
	return uint64(seq) > uint64(o.high)+record.CommandWindow
}

// find returns the place of a sequence, or -1.
func (o *outstanding) find(seq lockstep.Sequence) int {
	for i := range o.list {
		if o.list[i].Sequence == seq {
			return i
		}
	}
	return -1
}

// remove takes the command at place i out.
func (o *outstanding) remove(i int) {
	gone := o.list[i]
	last := len(o.list) - 1
	copy(o.list[i:], o.list[i+1:])
	o.list[last] = gone
	o.list = o.list[:last]
}

// forget removes the accepted commands whose tick has been run.
func (o *outstanding) forget(t lockstep.Tick) {
	for i := 0; i < len(o.list); {
		if s := &o.list[i]; s.answered && s.tick <= t {
			o.remove(i)
			continue
		}
		i++
	}
}

// known takes the highest sequence that the server has decided, and its last sealed tick. A server that recovered from a
// crash may have forgotten later ones; their answers are awaited again. If sequences are now too far ahead, the undecided
// commands get new ones from last + 1 on, and known returns these. So they do if a sequence is now that of a command of a
// substitute: an accepted command runs in at most record.MaxInputDelay ticks.
func (o *outstanding) known(last lockstep.Sequence, now lockstep.Tick) (renumbered []Renumbered) {
	o.high = last
	n := len(o.list)
	far := n > 0 && o.full(o.list[n-1].Sequence)
	for i := range o.list {
		far = far || o.list[i].takenBack(now)
	}
	if far {
		o.next = last + 1
	}
	for i := range o.list {
		s := &o.list[i]
		if s.Sequence <= last && !s.takenBack(now) {
			continue
		}
		s.answered, s.run = false, false
		if far {
			renumbered = append(renumbered, Renumbered{s.Sequence, o.next})
			s.Sequence = o.next
			o.next++
		}
	}
	o.next = max(o.next, last+1)
	slices.SortStableFunc(o.list, func(a, b submitted) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return renumbered
}

// takenBack reports whether the tick of an accepted command is so far ahead that a crash must have taken it back.
func (s *submitted) takenBack(now lockstep.Tick) bool {
	return s.answered && s.tick > now && s.tick-now > record.MaxInputDelay
}

// decided takes an answer that will not change.
func (o *outstanding) decided(seq lockstep.Sequence) { o.high = max(o.high, seq) }

// unsent makes the client send all commands again.
func (o *outstanding) unsent() {
	for i := range o.list {
		o.list[i].Streamed, o.list[i].SentIn, o.list[i].expected = false, 0, 0
	}
}

// pending returns the commands without an answer. They are valid until the list changes.
func (o *outstanding) pending() []*datagram.Pending {
	o.open = o.open[:0]
	for i := range o.list {
		if s := &o.list[i]; !s.answered {
			o.open = append(o.open, &s.Pending)
		}
	}
	return o.open
}
