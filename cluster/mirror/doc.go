//go:build !js

// Package mirror serves the spectators of matches that run on other machines, over HTTP and WebSockets. It needs no game.
//
//	r, err := mirror.New(mirror.Options{Source: mirror.Upstream{URL: "http://game.example"}})
//	err = server.HTTPServer(":8080", r).Serve(r.Listener(l))
//
// A [Server] follows a match while somebody watches it, and for a time after. Each match has a goroutine with its
// [audience.Audience], and each connection two. The matches come from an [Upstream], which is a server or another mirror, or from
// the replicated logs of a [Cluster].
//
//	GET /matches/NAME/play     WebSocket for spectators, as docs/spec/live.md says
//	GET /matches/NAME          JSON: name, tick, spectators, delay, and the identity that a client without the game needs
//	GET /matches/NAME/schemas  JSON: the schemas of the match
//	GET /matches/NAME/assets   JSON: its assets, from an Upstream
//	GET /assets/SHA256         an asset, from an Upstream; the mirror keeps what it has fetched
//	GET /rules/SHA256.wasm     the module with the rules of a match that is followed, likewise
//	GET /healthz, /metrics     for operators; with an Authorizer the metrics as [server.Server.Operators] says
//	GET /readyz                200 while another match could be followed and all that are followed come, or 503 with the reasons
//
// A spectator that reads costs about 46 KiB of memory, and one that does not at most 100 KiB more in messages of usual size; see
// docs/limits.md.
package mirror
