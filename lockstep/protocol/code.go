package protocol

import "fmt"

// An ErrorCode is the Code of a [KindError]: why a server refuses a message of a client.
type ErrorCode uint8

// The error codes. The first four end the connection, and so does a limit that is exceeded again and again.
const (
	ErrorMalformed ErrorCode = 1 // not a message, or not where it can stand
	ErrorIdentity  ErrorCode = 2 // another protocol, game, build or schema
	ErrorRefused   ErrorCode = 3 // the token is not known here
	ErrorFull      ErrorCode = 4 // no seat or place is free
	ErrorLimit     ErrorCode = 5 // a rate or a size
	ErrorReport    ErrorCode = 6 // a checksum report that was not compared
	ErrorRole      ErrorCode = 7 // only for players
	ErrorInactive  ErrorCode = 8 // a warning: without a command the player soon loses its seat
)

var errorTexts = [...]string{"", "malformed", "identity", "refused", "full", "limit", "report", "role", "inactive"}

func (c ErrorCode) String() string { return codeText(errorTexts[:], uint8(c)) }

// A CloseCode says why a connection ends: the Code of a [KindClosing].
type CloseCode uint8

// The close codes.
const (
	CloseLeft      CloseCode = 1  // the client asked for it
	CloseReplaced  CloseCode = 2  // another connection has the seat now
	CloseSlow      CloseCode = 3  // too far behind, or reads too slowly
	CloseTimeout   CloseCode = 4  // nothing was heard
	CloseAbuse     CloseCode = 5  // limits were exceeded again and again
	CloseKicked    CloseCode = 6  // removed by an admin or by policy
	CloseEnded     CloseCode = 7  // the match is over
	CloseShutdown  CloseCode = 8  // the server stops; come back later
	CloseMalformed CloseCode = 9  // after error malformed
	CloseRefused   CloseCode = 10 // after error identity, refused or full
	CloseBusy      CloseCode = 11 // the seat is taken again too often, or there are too many strangers; come back later
	CloseBanned    CloseCode = 12 // kept out, for the time that the text says
	CloseInactive  CloseCode = 13 // no command for a long time, by the match's policy
)

var closeTexts = [...]string{
	"", "left", "replaced", "slow", "timeout", "abuse", "kicked", "ended", "shutdown", "malformed", "refused", "busy", "banned", "inactive",
}

func (c CloseCode) String() string { return codeText(closeTexts[:], uint8(c)) }

func codeText(texts []string, code uint8) string {
	if code == 0 || int(code) >= len(texts) {
		return fmt.Sprintf("code %d", code)
	}
	return texts[code]
}

// Reasons of a [KindHeld]: in the lobby of a match, and while it runs.
const (
	LobbyPlayers = "more players are awaited"
	LobbyReady   = "not all players are ready"
	LobbyBegins  = "the match begins"

	HeldPaused    = "a player has paused the match"
	HeldForSlow   = "the match waits for players who are behind or away"
	HeldSlower    = "the match is slower for players whose machines are behind"
	HeldForReturn = "the players have not come back yet" // after an interruption of the server
)
