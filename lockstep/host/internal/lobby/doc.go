// Package lobby decides when a match begins: who is ready, whom it waits for, and for how long. It is one of the machines of
// lockstep/host.
//
// # States
//
//	        ┌── enough players are there, and ready if they must be ──┐
//	        │                                                         ▼
//	closed  waiting                                                   counting down ──Countdown──► closed
//	        ▲                                                         │
//	        └── somebody leaves, or is no longer ready ───────────────┘
//
// A Lobby with the zero [Policy] is closed from the start. [Lobby.Close] closes it at once. A closed one never opens again, and then
// the readiness of players means nothing.
//
// # Who is there
//
// The lobby knows no connections. The host says with each call who has the seats now ([Seat]), and gives the time. A bot is in no
// count. Readiness belongs to the lobby: [Lobby.Say] takes a player's word, and [Lobby.Unwritten] says if the log has another one. The
// log counts, because everybody sees it: a player is ready once the host has written it ([Lobby.Written]). [Lobby.Leave] forgets it.
//
// A player may say that it is ready at any time. Taking it back costs, so that nobody can begin the countdown again and again.
//
// # How long
//
// With Policy.Ready, the lobby waits for a player who is away, and for one who is there and not ready. Time counts while at least half of
// those who are there are ready, and the server does not hold the match ([Lobby.Hold]):
//
//   - for each account that is waited for. After a fifth of Deadline the lobby is out of patience with it, and treats its players as
//     there and ready. The accounts remember, so that coming and going does not help, nor do more guests at one address;
//   - for everybody together, from the first moment at which enough players were there. After Deadline the match begins with those
//     who are there.
//
// # Who calls what
//
// The host asks [Lobby.Time] before it seals a tick: true ends the lobby. [Lobby.Wait] says what to tell the players.
//
//samestep:deterministic
package lobby
