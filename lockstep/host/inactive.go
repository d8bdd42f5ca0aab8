package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An InactivePolicy is how a Host treats a player who is connected and gives no command. Its time is match time: ticks at
// the full tick rate. So it stands still while the match is paused, held or waits, and while the player is away. A
// reconnect does not begin it again.
type InactivePolicy struct {
	After lockstep.Time // without a command; 0 disables the policy, at most a day
	Then  InactiveAction
}

// An InactiveAction is what follows the event [PeerInactive].
type InactiveAction uint8

// The actions.
const (
	ReportInactive   InactiveAction = iota // nothing more
	TakeOverInactive                       // end the connection and take the seat over, see Options.Substitute; the player may come back
	RemoveInactive                         // end the connection and give up the seat
	inactiveActions
)

const noCommand = "no command for a long time"

// countIdle counts a tick for the players who could have commanded in it.
func (h *Host) countIdle() {
	if h.inactive == 0 {
		return
	}
	for i := range h.seats {
		s := &h.seats[i]
		if s.peer == nil || s.peer.state != Live || s.told != here {
			continue
		}
		if s.idle++; s.idle != h.inactive {
			continue
		}
		h.event(Event{Kind: PeerInactive, Peer: s.peer.id, Player: lockstep.Player(i), Number: h.options.Inactive.After.Milliseconds() / 1000})
		h.announce(lockstep.Player(i), record.TopicInactive, noCommand)
		if h.options.Inactive.Then != ReportInactive {
			h.close(s.peer, protocol.CloseInactive, noCommand)
		}
	}
}

// takeOver gives the seat of a player that is not connected to a substitute, if there is one. The player may come back
// with its token, not with a session: commands that it has sent could have the sequences of the substitute's.
func (h *Host) takeOver(p lockstep.Player) {
	s := &h.seats[p]
	s.want, s.session, s.before, s.idle = takenOver, protocol.SessionToken{}, protocol.SessionToken{}, 0
	h.event(Event{Kind: PeerTakenOver, Player: p, Text: s.why})
	h.seatsChanged = true
}
