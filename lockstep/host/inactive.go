package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/idle"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An InactivePolicy is how a Host treats a player who is connected and gives no command.
type InactivePolicy = idle.Policy

// An InactiveAction is what follows the event [PeerInactive].
type InactiveAction = idle.Action

// The actions.
const (
	ReportInactive   = idle.Report   // nothing more
	TakeOverInactive = idle.TakeOver // end the connection and take the seat over, see Options.Substitute; the player may come back
	RemoveInactive   = idle.Remove   // end the connection and give up the seat
)

const noCommand = "no command for a long time"

// countIdle counts a tick for the players who could have commanded in it.
func (h *Host) countIdle() {
	for i := range h.seats {
		s, player := &h.seats[i], lockstep.Player(i)
		if s.peer == nil || s.peer.state != Live || s.told != here {
			continue
		}
		v, p := h.idle.Tick(player, s.guest), s.peer
		if v.Warn {
			h.private(p, errorMessage(protocol.ErrorInactive, fmt.Sprintf("%s: without one you lose your seat in %d s", noCommand, v.Left), ""))
		}
		if !v.Lost {
			continue
		}
		h.made.event(h.log.now(), Event{Kind: PeerInactive, Peer: p.id, Player: player, Number: v.After})
		h.log.announce(player, record.EventInactive, noCommand)
		if v.Then != ReportInactive {
			h.close(p, protocol.CloseInactive, noCommand)
		}
	}
}
