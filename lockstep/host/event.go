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
	PeerJoined    EventKind = 1 + iota // a player took a seat, or a spectator was welcomed
	PeerResumed                        // a player returned with a new connection
	PeerLost                           // a player's connection ended; Text is the reason
	PeerLeft                           // a player or spectator left; Text is the reason
	PeerTakenOver                      // the player did not come back in time, or gave no command; Text is the reason
	PeerLive                           // a connection has reached the present
	PeerSynced                         // a connection is sent a keyframe; Text is the reason
	PeerClosed                         // the host ended a connection; Text is the reason
	PeerRefused                        // a connection was refused
	PeerDesynced                       // a checksum differs from the agreed one
	ChecksTied                         // no checksum has a majority, and there is no referee
	TicksSkipped                       // after a stall, Number ticks were skipped
	DelayChanged                       // the input delay is Number ticks now
	SpeedChanged                       // the match runs at Number percent now
	MatchPaused
	MatchResumed
	MatchOver        // no more ticks; Text is the reason
	MatchHeld        // no ticks are sealed; Text is the reason
	RefereeHealed    // the referee, computing again, has another state at Tick, and takes it
	TimeLost         // a player costs the match time; Text says how. Number is the used part of its Rates.Pace in milliseconds
	BotFailed        // a bot panicked, or returned what is no command, and has left; Text is the error
	SubstituteFailed // the substitute of a player panicked, or returned what is no command; the seat stays idle. Text is the error
	MatchBegun       // the match has left its lobby
	PeerInactive     // a player has given no command for Number seconds, see Options.Inactive
	MatchGoesOn      // it is no longer held
	PeerPanicked     // the rules panicked on a client's machine, as it says, at Tick; Text is what it says
)

var eventTexts = [...]string{
	"", "joined", "resumed", "lost", "left", "taken over", "live", "synced", "closed", "refused", "desynced",
	"checks tied", "ticks skipped", "delay changed", "speed changed", "paused", "resumed", "over", "held", "referee healed", "costs time", "failed", "substitute failed", "begun", "inactive", "goes on", "panicked",
}

func (k EventKind) String() string { return eventTexts[k] }

// An Event is an event of a hosted match.
type Event struct {
	Kind   EventKind
	Tick   lockstep.Tick   // the last sealed one, or the checked one
	Peer   PeerID          // 0 if it does not concern a connection
	Player lockstep.Player // System for a spectator, or for no player
	Code   protocol.CloseCode
	Number int64
	Text   string

	// ByRules of MatchOver says that the rules ended the match; Result is their result as JSON, "" for none.
	ByRules bool
	Result  string

	Stack string // of BotFailed and SubstituteFailed: where the bot panicked, or ""; of PeerPanicked: as the client says
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
	if e.Result != "" {
		s += ": " + e.Result
	}
	return s
}
