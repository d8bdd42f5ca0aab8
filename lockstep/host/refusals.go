package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// maxRefusals bounds the second answers that wait for the log. Those beyond it are not told.
const maxRefusals = 4096

// refusals are second answers to commands that the rules refused when they ran, see [lockstep.Turn.Refuse]. Only viewers need them: a
// client that simulates has computed the same. Each is for its command's player alone, and waits until its tick is durable.
type refusals struct{ waiting []refusal }

type refusal struct {
	player   lockstep.Player
	sequence lockstep.Sequence
	reason   string
}

// take takes those of a tick that was sealed, after which sim is.
func (r *refusals) take(f *lockstep.Frame, sim *lockstep.Simulation, seats *seats) {
	for i := range f.Commands {
		c := &f.Commands[i]
		if c.Player == lockstep.System || len(r.waiting) == maxRefusals {
			continue
		}
		s := &seats.table[c.Player]
		if s.peer == nil || s.peer.view == nil || s.substitution.has(c.Sequence, seats.log.c.LastDecided(c.Player)) {
			continue
		}
		if reason, refused := sim.Refused(c); refused {
			r.waiting = append(r.waiting, refusal{c.Player, c.Sequence, reason})
		}
	}
}

// tell sends what waits to the viewers, of whom none has seen the tick.
func (r *refusals) tell(seats *seats, peers *peers) {
	for _, one := range r.waiting {
		if p := seats.table[one.player].peer; p != nil && p.view != nil {
			peers.send(p, protocol.Message{Kind: protocol.KindCommandRejected, Sequence: one.sequence, Reason: lockstep.Refused, Text: one.reason})
		}
	}
	clear(r.waiting) // for the garbage collector
	r.waiting = r.waiting[:0]
}
