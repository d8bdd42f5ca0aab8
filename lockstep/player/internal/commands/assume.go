package commands

import "github.com/seed-49bee653/samestep/lockstep"

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
