package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Kinds of the commands of the system about seats; docs/spec/live.md numbers them.
const (
	kindJoined = 1
	kindLeft   = 2
)

// A roster knows the players that are seated according to the log, and those that
// have left but whose departure the log does not have yet.
type roster struct {
	seated   [256]bool
	departed [256]lockstep.Tick // the tick after they left; 0: they have not
}

// sayLeft is how many ticks after a player left the log has it at the latest. The
// player's last command may be an input delay ahead, in plans at most 12 ticks.
const sayLeft = 20

// departs records that a player has left.
func (r *roster) departs(p lockstep.Player, t lockstep.Tick) {
	if r.seated[p] && r.departed[p] == 0 {
		r.departed[p] = t + 1
	}
}

// command follows a command of the system.
func (r *roster) command(kind uint64, payload []byte) {
	switch {
	case len(payload) != 1: // another kind
	case kind == kindJoined:
		r.seated[payload[0]] = true
	case kind == kindLeft:
		r.seated[payload[0]], r.departed[payload[0]] = false, 0
	}
}

// evidence checks the evidence of a desync.
func (w *world) evidence(e *host.Evidence) {
	w.count("evidence")
	if r := &e.Report; r.Agreed >= r.Tick {
		w.fail("I7", "the report says that player %d differs at tick %d and agreed last at tick %d", r.Player, r.Tick, r.Agreed)
	}
	w.oracle.flights.flew(w, e)
	for _, p := range e.Participants {
		for _, m := range w.machines {
			if e.Resimulation != nil && p.Player == e.Report.Player && p.Name == m.token {
				m.resimulated(e.Resimulation)
			}
		}
	}
}

// resimulated checks what the machine computed again. All machines have the same rules, so an honest one is right this
// time.
func (m *machine) resimulated(r *host.Resimulation) {
	if m.liar != nil {
		m.w.count("computed again by a liar: " + r.Outcome.String())
		return
	}
	m.w.count("computed again")
	if r.Outcome != protocol.RightThisTime || r.First != 0 {
		m.w.fail("I7", "honest %s computed ticks %d to %d again: %v, wrong at tick %d", m, r.From+1, r.To, r.Outcome, r.First)
	}
}

// rostered checks that the log has each departure within sayLeft ticks, even if
// another player has taken the seat.
func (o *oracle) rostered() {
	for p, t := range o.roster.departed {
		if t > 0 && o.tick() > t+sayLeft {
			o.w.fail("I2", "player %d has left after tick %d, and the log does not say so", p, t-1)
		}
	}
}
