// Package live is a live match on a page: a [client.Session], with its news and its status as text. A page asks a few times a
// second, so nothing calls it.
//
//	m := live.Join(ctx, "wss://host/matches/duel/play", token, game, live.Options{})
//	m.See(func(c *player.Client, v player.Interpolation) { draw(v.Current) })
//	m.Submit(&Move{…})
//	status, ok := m.Status() // encoded as JSON for the page
//
// It needs no browser: its tests use a real server.
package live
