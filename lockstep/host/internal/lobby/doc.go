// Package lobby decides when a match begins: which players are ready, whom the lobby waits for, and for how long. It is one of the
// machines that lockstep/host composes.
//
// # States
//
//	   ┌── enough players are present, and ready if required ──┐
//	   │                                                       ▼
//	waiting                                              counting down ──Countdown──► closed
//	   ▲                                                       │
//	   └── a player leaves, or is no longer ready ─────────────┘
//
// With the zero [Policy] a Lobby starts closed. [Lobby.Close] closes it at once. A closed Lobby never opens again, and ignores
// what players say about being ready.
//
// # Input
//
// A Lobby knows no connections. With each call the host passes the occupants of the seats ([Seat]) and the time. Bots are not counted.
//
// A Lobby does track readiness. [Lobby.Say] records what a player says, and [Lobby.Unwritten] reports whether the log still lacks it.
// A player counts as ready once the host has written that to the log and called [Lobby.Written], because only then does everybody
// know. [Lobby.Leave] resets a seat. Saying "ready" is free; taking it back is rate limited, so that a player cannot
// restart the countdown over and over.
//
// # Patience
//
// With Policy.Ready, the lobby waits for players who are away, and for players who are present but not ready. The clock runs while at
// least half of the present players are ready and the server does not hold the match ([Lobby.Hold]):
//
//   - per account: after a fifth of Policy.Deadline the lobby treats the account's players as present and ready. The accounts keep
//     this time, so leaving and joining again does not reset it, and guests of one address share it;
//   - overall: it starts when enough players are present for the first time. After Policy.Deadline the match begins without
//     the others.
//
// # Calls
//
// The host calls [Lobby.Time] before it seals a tick, and ends the lobby if the result is true. It calls [Lobby.Wait] for the
// reason that players are shown, [Lobby.Hold] when an admin or the server holds the match, and [Lobby.Forgive] after a stall. [Lobby.Awaits]
// tells which players can be voted out.
//
//samestep:deterministic
package lobby
