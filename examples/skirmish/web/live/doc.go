// Package live is a live match on the page: a match of package page/live, the user's [play.Player], and news and status as text.
//
//	g := live.Join(ctx, "wss://host/matches/duel/play", token)
//	frame = g.Frame(frame[:0], live.Screen{Width: 1280, Height: 720})
//	g.Act(800, 400, false)
//	text = g.Status() // JSON, a few times a second
//
// It needs no browser: its tests use a real server.
package live
