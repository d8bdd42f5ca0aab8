package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Kinds of the commands of the system about seats; docs/protocol.md numbers them.
const (
	kindJoined = 1
	kindLeft   = 2
)

// A roster is who is seated, as the log says, and who has left without the log
// saying so yet.
type roster struct {
	seated   [256]bool
	departed [256]lockstep.Tick // one tick after the last one before; 0 if nobody has left
}

// sayLeft is how many ticks later the log says at the latest that a player left,
// whose last command may be an input delay ahead. That of plans is 12 at most.
const sayLeft = 20

// departs takes note of a player who has left.
func (r *roster) departs(p lockstep.Player, t lockstep.Tick) {
	if r.seated[p] && r.departed[p] == 0 {
		r.departed[p] = t + 1
	}
}

// command takes a command of the system.
func (r *roster) command(kind uint64, payload []byte) {
	p := packed{b: payload}
	p.array()
	switch player := uint8(p.uint()); kind {
	case kindJoined:
		r.seated[player] = true
	case kindLeft:
		r.seated[player], r.departed[player] = false, 0
	}
}

// evidence checks what is collected about a desync.
func (w *world) evidence(e *host.Evidence) {
	w.count("evidence")
	if r := &e.Report; r.Agreed >= r.Tick {
		w.fail("I7", "player %d is said to differ at tick %d, and to have agreed last at tick %d", r.Player, r.Tick, r.Agreed)
	}
}

// rostered checks that the log records each departure within sayLeft ticks, even
// if another player has the seat by then.
func (o *oracle) rostered() {
	for p, t := range o.roster.departed {
		if t > 0 && o.tick() > t+sayLeft {
			o.w.fail("I2", "player %d has left after tick %d, and the log does not say so", p, t-1)
		}
	}
}
