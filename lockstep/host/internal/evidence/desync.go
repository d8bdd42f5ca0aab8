package evidence

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// A Desync is what the host knows of a report.
type Desync struct {
	Report       *coordinator.DesyncReport
	Participants []Participant
	Referee      *lockstep.Follower // or nil
	Began        lockstep.Tick      // of the last state that the player was sent
	Commands     []lockstep.Command // of the ticks after the agreed one up to that of the report
	From         lockstep.Tick      // the tick after which these are complete
	Afford       int                // ticks that the player and the match can pay, if they are computed again
}

// evidence returns what is known before anybody is asked.
func (d *Desync) evidence() *Evidence {
	e := &Evidence{Report: *d.Report, Participants: d.Participants, Commands: d.Commands}
	e.Report.Groups = slices.Clone(d.Report.Groups)
	if d.Report.Tie {
		return e
	}
	if d.Began < d.Report.Tick {
		e.Began = d.Began
	}
	for _, t := range []lockstep.Tick{d.Report.Agreed, d.Report.Tick} {
		if t > 0 {
			e.Exhibits = append(e.Exhibits, Exhibit{Tick: t, Referee: d.state(t)})
		}
	}
	return e
}

// state returns the referee's state of a tick at the time of the report, or nil.
func (d *Desync) state(t lockstep.Tick) []byte {
	if d.Report.Resimulation == coordinator.RefereeWrong {
		for _, s := range d.Report.Wrong {
			if s.Tick == t {
				return s.Bytes
			}
		}
		return nil
	}
	if d.Referee == nil {
		return nil
	}
	return slices.Clone(d.Referee.State(t))
}

// again returns what the player can be asked after a report, from a tick on, or nil: the referee must have found itself right, and
// must have the state and the commands with which to compare the answer. The ticks are charged at once, so it does not
// matter what the witness answers.
func (d *Desync) again(g *lockstep.Game, every, from lockstep.Tick, most int) *again {
	r := d.Report
	if r.Resimulation != coordinator.RefereeRight || r.Tick-from > maxAgain {
		return nil
	}
	kept := from - from%every
	size := againRuns * int(r.Tick-from) * 8 * (2 + g.StateSchema().NumSections())
	state := d.state(kept)
	if state == nil || d.From > kept || size > most || int(r.Tick-kept) > d.Afford {
		return nil
	}
	a := &again{begin: coordinator.State{Tick: kept, Bytes: state}, frames: Frames(d.Commands, kept, r.Tick), hash: r.Groups[0].Hash}
	a.From, a.To = from, r.Tick
	return a
}

// sorted returns exhibits by their ticks. That of the report may have been asked for once more, for its phases.
func sorted(all []Exhibit) []Exhibit {
	slices.SortStableFunc(all, func(a, b Exhibit) int { return cmp.Compare(a.Tick, b.Tick) })
	return slices.CompactFunc(all, func(a, b Exhibit) bool { return a.Tick == b.Tick })
}
