// Package client plays and watches live matches over a WebSocket: it gives [player.Client] a socket and a clock, here
// and in a browser (GOOS=js).
//
//	s := client.Dial(ctx, "ws://127.0.0.1:8766/matches/duel/play", game, client.Options{
//		Options: player.Options{Token: token},
//		Sample: func(c *player.Client) {
//			// once a tick: look at c.Simulation(), and c.Submit what the player wants
//		},
//		Handle: func(c *player.Client, event any) {
//			// what happens: player.Welcomed, player.ConnectionLost, player.Desynced, …
//		},
//	})
//	err := s.Wait()
//
// A session dials, joins, catches up, runs each tick when it is due, answers the server's checks, and resumes after a
// lost connection. A game has three things to do:
//
//   - Draw, from a state that it only reads: in Sample, or whenever a frame is
//     due by [Session.Do] and player.Client.Interpolation, which interpolates.
//   - Submit what the player wants: in Sample or Handle by the client given, and
//     from any other goroutine by [Session.Submit]. A command runs some ticks
//     later, for everybody at once; its lockstep.Receipt comes as an event.
//   - Tell the player what happens to the connection, from the events.
//
// # Which goroutine
//
// One goroutine owns the player.Client. Sample, Handle, Observer and functions given to Do run in it, one at a time.
// They need no locks, must return soon, and must not call Do, Submit or Cut of the session, which wait for that
// goroutine.
package client
