package server

// A matchState is what a match is doing.
type matchState uint8

// The states of matches. Each match has the last one of them that applies.
const (
	matchStarting   matchState = iota // being created
	matchRecovering                   // from its log, after a crash
	matchFailed                       // its log could not be continued, and stays as it is; or its rules do not come back from a tick
	matchLobby                        // before its first tick
	matchPlaying
	matchPaused
	matchHeld
	matchEnded // its connections are not closed yet
	matchStates
)

func (s matchState) String() string {
	return [...]string{"starting", "recovering", "failed", "lobby", "playing", "paused", "held", "ended"}[s]
}
