package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// An EventKind is the kind of an event of a hosted match.
type EventKind uint8

// The events of a Host.
const (
	PeerJoined    EventKind = 1 + iota // a player took a seat, or a spectator came
	PeerResumed                        // a player is back, with a new connection
	PeerLost                           // a player's connection is gone
	PeerLeft                           // a player left, or a spectator went
	PeerTakenOver                      // the player did not come back in time
	PeerLive                           // a connection has reached the present
	PeerSynced                         // a keyframe is sent to a connection, Text says why
	PeerClosed                         // a connection was ended, Text says why
	PeerRefused                        // a connection was not let in
	PeerDesynced                       // a checksum differs from the agreed one
	ChecksTied                         // no checksum has a majority, and there is no referee
	TicksSkipped                       // the clock stood still, Number ticks were left out
	DelayChanged                       // the input delay is Number ticks now
	SpeedChanged                       // the match runs at Number percent now
	MatchPaused
	MatchResumed
	MatchOver     // no tick follows
	MatchHeld     // no tick is sealed, Text says why; without a text they are again
	RefereeHealed // the referee's own state was wrong at Tick, and is computed again
	TimeLost      // because of a player, Text says how; Number milliseconds of its Rates.Pace are used
)

var eventTexts = [...]string{
	"", "joined", "resumed", "lost", "left", "taken over", "live", "synced", "closed", "refused", "desynced",
	"checks tied", "ticks skipped", "delay changed", "speed changed", "paused", "resumed", "over", "held", "referee healed", "costs time",
}

func (k EventKind) String() string { return eventTexts[k] }

// An Event is one thing that happened in a hosted match. Those that are not of
// a peer have the ID 0.
type Event struct {
	Kind   EventKind
	Tick   lockstep.Tick   // the last sealed one, or the one that a check is of
	Peer   PeerID          // 0 if it is not about a connection
	Player lockstep.Player // System for a spectator, or for none
	Code   protocol.CloseCode
	Number int64
	Text   string
}

func (e Event) String() string {
	s := fmt.Sprintf("tick %d: ", e.Tick)
	switch {
	case e.Player != lockstep.System:
		s += fmt.Sprintf("player %d ", e.Player)
	case e.Peer != 0:
		s += "spectator "
	}
	s += e.Kind.String()
	if e.Number != 0 {
		s += fmt.Sprintf(" %d", e.Number)
	}
	if e.Code != 0 {
		s += " " + e.Code.String()
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}
