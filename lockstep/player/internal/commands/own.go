// Package commands has a player's own commands from the moment at which they are submitted until their tick has run.
//
// An [Own] belongs to one player, and outlives its connections. It knows neither messages nor states: its owner brings answers and
// frames, and takes what is to be sent.
//
// # States of a command
//
//	pending ──(accepted)──> answered ──(its tick has run: Forget)──> gone
//	   |                       |
//	   |                       └──(a server that crashed has forgotten the answer: Known)──> pending
//	   └──(refused)──> gone
//
// A pending command is in [Own.Pending], for the stream and for datagrams, and is sent on each new connection ([Own.Unsent]).
//
// # Sequences
//
// A server takes no sequence that is further ahead of the highest decided one than its window; so [Own.Submit] takes no more commands
// than that. Sequences that were refused without a decision are used again. Each connection begins with what the server knows
// ([Own.Known]): if a crash has taken decisions back, so that sequences are now too far ahead, or if a substitute has used them, the
// undecided commands get new ones.
//
// # Assumptions
//
// A prediction runs commands before their tick is known. A command is assumed for the tick in which the prediction runs it:
//
//	Assume       the newest command, in one of the next two ticks
//	AssumeRest   those that were submitted while nothing was predicted
//	Answer       moves it to the tick of the answer, unless what is shown would vanish
//	Confirm      a frame that has run: what is not in it moves to the tick after
//	Frame        what is assumed for a tick
//
// Answer and Confirm return an [Error] of the assumptions, which makes a prediction begin again. The machine does not predict itself.
//
//samestep:deterministic
package commands

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Own has the commands of one player without a final result, by rising sequence. No sequence is further ahead of the highest
// decided one than the window of sequences that a Coordinator takes.
type Own struct {
	list []command
	open []*datagram.Pending // for Pending
	next lockstep.Sequence   // of the next command
	high lockstep.Sequence   // the highest that the server has decided, as far as it is known
}

type command struct {
	datagram.Pending
	answered bool          // and accepted
	tick     lockstep.Tick // answered: when it runs
	assumed  lockstep.Tick // the tick in which the prediction runs it; 0 for none
	expected lockstep.Tick // the tick in which the server was expected to run it; 0 if nothing was
	run      bool          // a frame that was run has it

	refused bool   // by the rules, when it ran
	reason  string // of that, until it is told
}

// New returns an Own without commands.
func New() Own { return Own{next: 1} }

// Submit queues a command, and reports false if the window is full or no sequence is left. Sequences that were rejected
// without a decision are reused once they fill the window and no other command is undecided.
func (o *Own) Submit(now lockstep.Time, kind lockstep.Kind, payload []byte) (lockstep.Sequence, bool) {
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
		o.list = append(o.list, command{})
	}
	s := &o.list[n]
	*s = command{Pending: datagram.Pending{Command: datagram.Command{Sequence: o.next, Kind: kind, Payload: append(s.Payload[:0], payload...)}, At: now}}
	o.next++
	return s.Sequence, true
}

// full reports whether the server would call a sequence too far ahead.
func (o *Own) full(seq lockstep.Sequence) bool {
	return uint64(seq) > uint64(o.high)+record.CommandWindow
}

// find returns the place of a sequence, or -1.
func (o *Own) find(seq lockstep.Sequence) int {
	for i := range o.list {
		if o.list[i].Sequence == seq {
			return i
		}
	}
	return -1
}

// remove takes the command at place i out.
func (o *Own) remove(i int) {
	gone := o.list[i]
	last := len(o.list) - 1
	copy(o.list[i:], o.list[i+1:])
	o.list[last] = gone
	o.list = o.list[:last]
}

// Forget removes the accepted commands whose tick has been run.
func (o *Own) Forget(t lockstep.Tick) {
	for i := 0; i < len(o.list); {
		if s := &o.list[i]; s.answered && s.tick <= t {
			o.remove(i)
			continue
		}
		i++
	}
}

// A Renumbered says that the command with sequence From has sequence To from now on.
type Renumbered struct{ From, To lockstep.Sequence }

// Known takes the highest sequence that the server has decided, and its last sealed tick. A server that recovered from a
// crash may have forgotten later ones; their answers are awaited again. If sequences are now too far ahead, the undecided
// commands get new ones from last + 1 on, and Known returns these. So they do if a sequence is now that of a command of a
// substitute: an accepted command runs in at most record.MaxInputDelay ticks.
func (o *Own) Known(last lockstep.Sequence, now lockstep.Tick) (renumbered []Renumbered) {
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
		s.answered, s.run, s.refused = false, false, false
		if far {
			renumbered = append(renumbered, Renumbered{s.Sequence, o.next})
			s.Sequence = o.next
			o.next++
		}
	}
	o.next = max(o.next, last+1)
	slices.SortStableFunc(o.list, func(a, b command) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return renumbered
}

// takenBack reports whether the tick of an accepted command is so far ahead that a crash must have taken it back.
func (s *command) takenBack(now lockstep.Tick) bool {
	return s.answered && s.tick > now && s.tick-now > record.MaxInputDelay
}

// Unsent makes the player send all commands again.
func (o *Own) Unsent() {
	for i := range o.list {
		o.list[i].Streamed, o.list[i].SentIn, o.list[i].expected = false, 0, 0
	}
}

// Awaits reports whether a command has no answer yet: another answer is to a repeat.
func (o *Own) Awaits(seq lockstep.Sequence) bool {
	i := o.find(seq)
	return i >= 0 && !o.list[i].answered
}

// An Answered says what the answer to a command, which is awaited, means for the assumptions.
type Answered struct {
	Expected bool // a tick was expected for it
	Late     int  // then: the tick compared with that: -1 if it is earlier, 1 later
	Error    Error
}

// Answer takes the answer to a command that is awaited, which was accepted or not. shown is the last tick that a prediction shows; 0 for none.
func (o *Own) Answer(r *lockstep.Receipt, accepted bool, shown lockstep.Tick) (a Answered) {
	i := o.find(r.Sequence)
	s := &o.list[i]
	if r.Reason.Final() {
		o.high = max(o.high, r.Sequence)
	}
	if !accepted {
		o.remove(i)
		return Answered{Error: Surprise}
	}
	s.answered, s.tick = true, r.Tick
	if s.expected > 0 {
		a.Expected, a.Late = true, cmp.Compare(s.tick, s.expected)
	}
	shows := func(t lockstep.Tick) bool { return t != 0 && t <= shown }
	if s.run || s.assumed == s.tick || shows(s.assumed) && !shows(s.tick) {
		return a // what is shown does not vanish
	}
	if shows(s.tick) {
		a.Error = Wrong
	}
	s.assumed = s.tick
	for k := i + 1; k < len(o.list); k++ {
		if later := &o.list[k]; later.assumed > 0 {
			later.assumed = max(later.assumed, s.tick) // they keep their order
		}
	}
	return a
}

// Refused notes that the rules refused a command when it ran. It reports whether this is to be told now: not again, not before the answer
// to the command ([Own.Owed]), and nothing of a command that the player does not have.
func (o *Own) Refused(seq lockstep.Sequence, reason string) (now bool) {
	i := o.find(seq)
	if i < 0 || o.list[i].refused {
		return false
	}
	s := &o.list[i]
	s.refused, s.reason = true, reason
	return s.answered
}

// Owed returns with which reason the rules have refused a command that is answered only now, if they have.
func (o *Own) Owed(seq lockstep.Sequence) (reason string, refused bool) {
	if i := o.find(seq); i >= 0 && o.list[i].refused {
		return o.list[i].reason, true
	}
	return "", false
}

// Late takes the second answer to a command, that the rules refused it when it ran, of a player who does not simulate. It returns that tick,
// and false if the player has no such command.
func (o *Own) Late(seq lockstep.Sequence) (ran lockstep.Tick, ok bool) {
	i := o.find(seq)
	if i < 0 {
		return 0, false
	}
	ran = o.list[i].tick
	o.remove(i)
	return ran, true
}

// Pending returns the commands without an answer, by rising sequence. They are valid until the next call of another method.
func (o *Own) Pending() []*datagram.Pending {
	o.open = o.open[:0]
	for i := range o.list {
		if s := &o.list[i]; !s.answered {
			o.open = append(o.open, &s.Pending)
		}
	}
	return o.open
}

// Len returns how many commands there are, with those that are accepted and have not run.
func (o *Own) Len() int { return len(o.list) }

// Append appends all of them as the commands of a seat.
func (o *Own) Append(dst []lockstep.Command, seat lockstep.Player) []lockstep.Command {
	for i := range o.list {
		s := &o.list[i]
		dst = append(dst, lockstep.Command{Tick: s.tick, Player: seat, Sequence: s.Sequence, Kind: s.Kind, Payload: s.Payload})
	}
	return dst
}

// Memory returns how many bytes of payloads there are.
func (o *Own) Memory() (n int) {
	for _, s := range o.list[:cap(o.list)] {
		n += cap(s.Payload)
	}
	return n
}

// An Error is what was wrong with the assumptions about a tick; the greater one counts.
type Error uint8

// The errors.
const (
	None     Error = iota
	Surprise       // nobody can predict that: another player's command in a frame that came in time, or an own one that was refused
	Wrong          // a frame was late, or an own command ran in another tick
)

// Assume notes that the prediction runs the newest command in the next tick, or in the one after that if the server is expected to
// run it then; expected is 0 if nobody knows. So it does if the command before runs then.
func (o *Own) Assume(next, expected lockstep.Tick) {
	n := len(o.list)
	s := &o.list[n-1]
	s.assumed, s.expected = next, expected
	if expected == next+1 {
		s.assumed++
	}
	if n > 1 {
		s.assumed = max(s.assumed, o.list[n-2].assumed)
	}
}

// AssumeRest notes that the prediction runs those in a tick of which nothing is assumed and which have not run.
func (o *Own) AssumeRest(t lockstep.Tick) {
	for i := range o.list {
		if s := &o.list[i]; s.assumed == 0 && !s.run {
			s.assumed = t
		}
	}
}

// Confirm compares a frame that was run with what was assumed of it. Own commands that it lacks are assumed for the tick after. Frames
// up to due came late.
func (o *Own) Confirm(f *lockstep.Frame, seat lockstep.Player, due lockstep.Tick) (e Error) {
	for i := range f.Commands {
		cmd := &f.Commands[i]
		k := -1
		if cmd.Player == seat {
			k = o.find(cmd.Sequence)
		}
		switch {
		case k < 0 && f.Tick > due:
			e = max(e, Surprise)
		case k < 0 || o.list[k].assumed != f.Tick:
			e = Wrong
		}
		if k >= 0 {
			o.list[k].run, o.list[k].assumed = true, 0
		}
	}
	for i := range o.list {
		if s := &o.list[i]; s.assumed != 0 && s.assumed <= f.Tick {
			s.assumed, e = f.Tick+1, Wrong
		}
	}
	return e
}

// Frame makes f the frame of tick t as far as it is assumed.
func (o *Own) Frame(f *lockstep.Frame, t lockstep.Tick, seat lockstep.Player) {
	f.Tick, f.Commands = t, f.Commands[:0]
	for i := range o.list {
		if s := &o.list[i]; s.assumed == t {
			f.Commands = append(f.Commands, lockstep.Command{Tick: t, Player: seat, Sequence: s.Sequence, Kind: s.Kind, Payload: s.Payload})
		}
	}
}
