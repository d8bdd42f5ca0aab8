package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The events of a [Ready]. Others are [lockstep.Receipt], the answer to a command, once for each, and [*twin.Difference] of package lockstep/twin, see
// Options.Heavy.
type (
	// Dialing: a connection is wanted. Attempt is 0 for the first one, and n for the n-th attempt after a loss.
	Dialing struct{ Attempt int }

	// Connected: there is a connection, and the client identifies itself.
	Connected struct{}

	// Welcomed: the server knows the client.
	Welcomed struct {
		Seat lockstep.Player // System for a spectator
		Role protocol.Role
	}

	// Renumbered: the command with sequence From has sequence To from now on. A server that recovered from a crash
	// forgot sequences, and From is too far ahead of the last one that it knows, or is that of a substitute's command now.
	Renumbered struct{ From, To lockstep.Sequence }

	// Refused: the rules refused a command of this client when it ran, although it was accepted, see [lockstep.Turn.Refuse]. It comes once,
	// behind the receipt; a command that ran while the client was away, or not connected to a match of views, has none.
	Refused struct {
		Sequence lockstep.Sequence
		Tick     lockstep.Tick // in which it ran
		Reason   string        // may be empty
	}

	// StreamResumed: the stream continues after Tick without a gap.
	StreamResumed struct{ Tick lockstep.Tick }

	// SyncProgress: a state is arriving, Bytes of TotalBytes; or it is here, and the client, at Tick, catches up with
	// Target, the last sealed tick.
	SyncProgress struct {
		Bytes, TotalBytes uint32
		Tick, Target      lockstep.Tick
	}

	// Synced: the client has caught up, at Tick.
	Synced struct{ Tick lockstep.Tick }

	// ConnectFailed: an attempt has made no connection.
	ConnectFailed struct{ Err error }

	// ConnectionLost: the connection is gone. Commands can still be submitted.
	ConnectionLost struct{ Err error }

	// Retrying: the next attempt, the n-th after a loss, is due At a time.
	Retrying struct {
		Attempt int
		At      lockstep.Time
	}

	// LostForGood: the client gives up. It is the last event.
	LostForGood struct{ Err error }

	// Desynced: this client's state is not the match's. Only the first mismatch in a row makes an event. If the client finds it, by a
	// checksum in the stream, Got and Want are set; if the server reports it, Agreed and Section; End says how the end by the rules differs.
	Desynced = follow.Desynced

	// Mismatch: the log says that players, this one or others, computed another checksum of a tick than the match has. Only a player's
	// first mismatch in a row makes an event. Groups are all that the log has of the check, first the agreed one if there is one.
	Mismatch = follow.Mismatch

	// Reporters are the players with one checksum of a tick.
	Reporters = follow.Reporters

	// Healed: after a desync the client's state is the match's again.
	Healed = follow.Healed

	// Explained: after a desync this client has compared its state with the match's, which the server sent.
	Explained = follow.Explained

	// Note: what a player gives or says to people, such as a name or a line of chat; see [record.TopicChat].
	Note struct {
		Player lockstep.Player
		Topic  string
		Text   string
	}

	// HostEvent: what the server tells about a seat or the match, see [record.EventTypes].
	HostEvent struct {
		Player lockstep.Player
		Event  string
		Text   string
	}

	// SeatChanged: somebody took a seat, left it, was lost, came back, was taken over, or has another name. Reason says why
	// somebody is gone. It is empty otherwise, and for what a state sync has told.
	SeatChanged struct {
		Seat
		Before Seat
		Reason string
	}

	// Ended: the match is over. ByRules says that its rules ended it. Result is then a pointer to their result, of the
	// type that the game's Rules name, or nil for none.
	Ended struct {
		Reason  string
		ByRules bool
		Result  any
	}

	// Held: the match stands still or runs slower, or nothing comes from the server ([LinkStalled]). Without a Reason it
	// goes on. A later Held replaces an earlier one. Our host's reasons are protocol.LobbyPlayers and the constants beside it.
	Held struct {
		Reason  string
		Players []lockstep.Player // whom it waits for, ascending; nil if it is for nobody
		Since   lockstep.Time     // on the clock of the client's owner; negative if the wait is older than that clock
		Until   lockstep.Time     // on the same clock, when it ends at the latest; 0 if nobody knows
	}

	// ServerError: the server refused a message of the client.
	ServerError struct {
		Code  protocol.ErrorCode
		Text  string
		Field string
	}

	// ServerClosing: the server ends the connection. RetryAfter is how long to wait before the next attempt; 0 means
	// not to reconnect.
	ServerClosing struct {
		Code       protocol.CloseCode
		Text       string
		RetryAfter lockstep.Time
	}
)

// A Presence says what the owner of a seat does.
type Presence uint8

// The presences.
const (
	Vacant    Presence = iota // nobody has the seat
	Here                      // plays
	Away                      // was lost, and may come back
	TakenOver                 // did not come back in time; may still come back
	Bot                       // a bot of the server plays
)

var presenceTexts = [...]string{record.PresenceVacant, record.PresenceHere, record.PresenceAway, record.PresenceTakenOver, record.PresenceBot}

func (p Presence) String() string { return presenceTexts[p] }

// A Seat is a seat of the match, as the log tells it up to the client's tick.
type Seat struct {
	Player   lockstep.Player
	Name     string // "" if it is not known
	Presence Presence
	Ready    bool // it has said so in the lobby, since it came; see [Client.SetReady]
}

// A Ready is what a Client wants done. Its memory is used again by the next call of [Client.Ready].
type Ready struct {
	Events []any         // in the order in which they happened; see [Dialing] and the types after it
	Next   lockstep.Time // when to call Advance, unless something else is called before
}

const (
	// maxEvents is how many events wait before the client stops running records until the next call of Advance, and how
	// many an empty queue keeps memory for. One message of a server can add more.
	maxEvents = 1 << 10

	minEventMessage = 5  // bytes of the shortest message that makes an event: an error without texts
	eventBytes      = 96 // about the size of an event
)

// LinkStalled is the Reason of a [Held] that the client finds by itself, at the latest a second after the last message of
// the server, or later in a match whose ticks are longer.
const LinkStalled = "nothing comes from the server"

// InLobby reports whether the match has not begun: it waits for players, or for them to be ready, or counts down.
func (h Held) InLobby() bool {
	return h.Reason == protocol.LobbyPlayers || h.Reason == protocol.LobbyReady || h.Reason == protocol.LobbyBegins
}

// heldOf returns the server's word that the match stands, or goes on, which comes now on the clock of the client's owner.
func heldOf(m *protocol.Message, now lockstep.Time) Held {
	h := Held{Reason: m.Text}
	if m.Text != "" {
		h.Since = now - lockstep.Time(m.SinceMS)*lockstep.Millisecond
		for _, seat := range m.Seats {
			h.Players = append(h.Players, lockstep.Player(seat))
		}
		if m.UntilMS > 0 {
			h.Until = now + lockstep.Time(m.UntilMS)*lockstep.Millisecond
		}
	}
	return h
}

// Resimulated: after a desync the server has asked this client to compute the ticks after From up to To again. Outcome
// says what that shows. A later one for the same ticks replaces an earlier one.
type Resimulated struct {
	From, To lockstep.Tick
	Outcome  protocol.Outcome
}

// Looking: the client sees, for the first time or as another viewer than before. Whatever it knows of entities begins anew.
type Looking struct{ Viewer string }
