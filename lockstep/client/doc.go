// Package client plays and watches live matches over a WebSocket: it gives
// [lockstep.Client] a socket and a clock, here and in a browser (GOOS=js).
//
//	s := client.Dial(ctx, "ws://127.0.0.1:8766/matches/duel/play", game, client.Options{
//		ClientOptions: lockstep.ClientOptions{Token: token, Events: events},
//		Sample: func(c *lockstep.Client) {
//			// once a tick: look at c.Simulation(), and c.Submit what the player wants
//		},
//	})
//	err := s.Wait()
//
// One goroutine owns the lockstep.Client: Events, Observer, Sample and what is
// given to [Session.Do] all run in it, so they need no locks and must not take
// long.
package client
