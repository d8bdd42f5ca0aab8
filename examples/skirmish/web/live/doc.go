// Package live is a live match as a page shows it: a [client.Session] with a
// person, a [play.Player], and the words for what happens to both.
//
//	g := live.Join(ctx, "wss://host/matches/duel/play", token)
//	frame = g.Frame(frame[:0], live.Screen{Width: 1280, Height: 720})
//	g.Act(800, 400, false)
//	text = g.Status() // JSON, a few times a second
//
// It needs no browser, and is tested without one, against a real server.
package live
