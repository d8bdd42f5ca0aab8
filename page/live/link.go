package live

import (
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// holds are the sorts of a Link's Hold by the reason. The server's own reasons have none.
var holds = map[string]string{
	protocol.LobbyPlayers: "players", protocol.LobbyReady: "ready", protocol.LobbyBegins: "begins", protocol.HeldPaused: "paused",
	protocol.HeldForSlow: "slow", protocol.HeldSlower: "slower", protocol.HeldForReturn: "return", player.LinkStalled: "stalled", "": "",
}

// A Link is the state of the connection.
type Link struct {
	State   string `json:"state"` // "connecting", "joining", "syncing", "live", "lost", "ended" or "failed"
	Text    string `json:"text"`
	Attempt int    `json:"attempt"`  // after a loss
	RetryMS int64  `json:"retry_ms"` // to the next attempt
	Bytes   uint32 `json:"bytes"`    // received bytes of the state
	Total   uint32 `json:"total"`
	Tick    uint32 `json:"tick"`   // simulated while catching up
	Target  uint32 `json:"target"` // the last tick to catch up to
	Losses  int    `json:"losses"`
	LostMS  int64  `json:"lost_ms"`  // for how long there has been no connection; 0 with one
	GaveUp  bool   `json:"gave_up"`  // to connect; the page may join again
	Held    string `json:"held"`     // why the match stands still or is slower; "" if it does not
	Hold    string `json:"hold"`     // the sort of that: "players", "ready", "begins", "paused", "slow", "slower", "return", "stalled", or "server" for its own reasons
	HeldFor []int  `json:"held_for"` // seats
	SinceMS int64  `json:"since_ms"` // for how long
	UntilMS int64  `json:"until_ms"` // the longest time until it goes on; 0 if nobody knows
	Lobby   bool   `json:"lobby"`    // it has not begun
	Refused bool   `json:"refused"`  // the server does not know the token
	Views   bool   `json:"views"`    // the server refuses the page because it must ask for views
}
