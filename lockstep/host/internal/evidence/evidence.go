package evidence

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Evidence is the data that a host collects about a desync, or a panic of the rules.
type Evidence struct {
	Report       coordinator.DesyncReport
	Participants []Participant

	// Began is the tick of the last state that the player was sent before the reported tick; 0 if unknown. At that tick
	// both sides were equal.
	Began lockstep.Tick

	// Exhibits are the states of the last checked tick at which the player agreed, if there is one, and of the first
	// one at which it differed.
	Exhibits []Exhibit

	// Panic is why the rules ended the match, or on the machine of Report.Player, as it says; nil of a desync. Its frame is in the log.
	Panic *record.Panic

	// Resimulation is what the player computed when it was asked to compute the ticks again; nil if it did not. Exhibits
	// then has its first tick that was wrong, too, with the player's state as it computed it again.
	Resimulation *Resimulation

	// Commands are the commands of the ticks after the agreed one up to the reported one, as far back as the ring
	// reaches, in canonical order.
	Commands []lockstep.Command
}

// An Exhibit is one tick's state of both sides, in canonical bytes.
type Exhibit struct {
	Tick    lockstep.Tick
	Referee []byte // nil if it is no longer kept, or there is no referee
	Player  []byte // nil if the player did not send it; untrusted

	// Hash is the checksum of the player's state, if the bytes are canonical.
	Hash uint64
}

// A Participant is a player or spectator of a match, as its client describes it.
type Participant struct {
	Player   lockstep.Player // System for a spectator
	Name     string
	Build    string
	Platform string
	Sources  string // of its program, see [record.ParseSources]; empty if not known
}

// A Resimulation is what a player whose checksum differed has computed when it was asked to compute the ticks again. The
// player's part is untrusted.
type Resimulation struct {
	From, To lockstep.Tick // from the state of tick From on
	Outcome  protocol.Outcome

	// First is the first tick at which the player, computing again, had another state hash than the referee, and
	// Section the first section that differed; 0 and "" if not known.
	First   lockstep.Tick
	Section string

	// Altered is the first tick of which the player's state hash differed when it was computed at first, if the player
	// keeps the hashes of all ticks; else 0.
	Altered lockstep.Tick

	// RightPhases are the parts of tick First that the rules of the referee mark (lockstep.Turn.Phase), and Phases those of the
	// player, as it says: at most [protocol.MaxPhases]. Nil if not known.
	RightPhases, Phases []PhaseSum

	Right []uint64   // the referee's state hashes of the ticks after From, up to First if that is known
	Runs  [][]uint64 // the player's, each time
}

// A PhaseSum is a part of a tick, and the state hash at its beginning.
type PhaseSum struct {
	Name string
	Hash uint64
}

// Frames returns the frames of the ticks after one up to another one, which have some commands.
func Frames(commands []lockstep.Command, after, to lockstep.Tick) []lockstep.Frame {
	for len(commands) > 0 && commands[0].Tick <= after {
		commands = commands[1:]
	}
	all := make([]lockstep.Frame, 0, to-after)
	for t := after + 1; t <= to; t++ {
		n := 0
		for n < len(commands) && commands[n].Tick == t {
			n++
		}
		all = append(all, lockstep.Frame{Tick: t, Commands: commands[:n]})
		commands = commands[n:]
	}
	return all
}
