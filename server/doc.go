// Package server runs live matches: it gives [host.Host] sockets, a clock, files and an HTTP interface.
//
//	s, err := server.New(server.Options{Dir: "matches", Authorizer: tokens})
//	m, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &config})
//	err = http.ListenAndServe("127.0.0.1:8766", s)
//
// A public server listens with [Server.Listener], which limits the connections that are not WebSockets. A server
// behind a proxy needs Options.TrustedProxies; otherwise all its clients share the limits of one address.
// [Server.ServeDatagrams] takes datagrams on a UDP socket, so that lost packets do not delay the players' frames.
//
// # Parts
//
// A Server is a composition. Each part has its own state, and takes the others that it needs as fields; none knows the Server, except by an
// interface of two or three methods. Parts that know no match are packages under server/internal.
//
//	part        decides                                            is called by
//	hosts       is the request for a name of this server?          every request, first (server/internal/front)
//	proxies     which client did a trusted proxy name?             every request, second
//	origins     may this page open a WebSocket?                    every request, third
//	gates       how many connections, how much of each budget?     listeners, the hijacker of a WebSocket, rate limits
//	access      who is this, and may they? what is audited?        routes; a match, for the token in a message
//	matchAPI    what an admin may do with a match                  its routes
//	creator     whether and how a request creates a match          POST /matches
//	repeats     was this request made before?                      creator (server/internal/repeat)
//	replayAPI   which replay a reader may list, search, have       its routes
//	registry    which names are taken, and by what                 everybody who looks for a match
//	recoverer   which log is resumed next, and which is set aside  Resume, Recover, an admin's retry
//	denier      whose tokens are revoked, here and elsewhere       access, admins, other servers by Denials
//	guests      may a guest start another match?                   creator; a match, as it grows (server/internal/guests)
//	sealer      when a finished replay is compressed               a match that is over
//	storage     can the disk take another replay?                  GET /readyz, creator
//
// # A connection
//
// A socket counts in one limit of gates at a time. At a limit the oldest socket of the address with most of them is closed, so a new one
// is always accepted, and a crowd pushes out itself:
//
//	            beyond the budget of its address
//	accepted ──────────────────────────────────► silent ──sends──► on trial ──shows a valid token──┐
//	   │                                            └────────────────┴─► pushed out or refused     │
//	   └──► sockets ◄──────────────────────────────────────────────────────────────────────────────┘
//	           │ GET /matches/NAME/play
//	           ▼
//	        unauthenticated (or reserved: a token was shown where others crowd) ──welcome──► authenticated: player or spectator
//
// A connection has two goroutines: one reads its socket and posts messages to the match's inbox, the other writes what the match sends. The
// match never waits for either. A token is checked by access for each message that shows one: an invitation of the match first, then
// the Authorizer, then revocations. A wrong token costs the budget of its address, a right one passes in any case.
//
// # A match
//
// Each match has a goroutine that owns it. The ticks of different matches are spread over the tick period, because matches that all tick
// at once make each other late. The registry has its name from the first to the last of these states:
//
//	Create ──► starting ─────────────► lobby, playing, paused, held ──over──► ended ──► sealed, archived, forgotten
//	                                      ▲            │
//	Recover ─► recovering ──resumed───────┘            └──Shutdown──► suspended: its log has no end, the next server resumes it
//	              │    ▲
//	              ▼    │ an admin's retry
//	            failed ┘
//
// Starting and recovering reserve the name, so that two requests cannot make one match twice. A recovering match admits nobody, and its
// requests are answered with 503 and Retry-After. Before its log is played that is noted beside it: a log that ends the process twice is
// set aside, and blocks no other one. A failed match keeps its name and its log until an admin has it tried again. See [Server.Recover].
//
// A goroutine of each match writes its replay; neither the match nor GET /metrics, /healthz and /readyz wait for the disk. The
// match is held, and everybody is told, while the disk is full or more than a second late. With replay.SyncFrame as
// Options.Durability, no client sees a tick before it is safe on disk.
//
// # The stop
//
//	serving ──Drain──► draining: no new match, not ready; ends when all matches are over ──┐
//	   └───────────────────────────────── Shutdown ◄───────────────────────────────────────┘
//	                                         │ suspends all matches, tells clients when to come back
//	                                         ▼ awaits their logs, then seals until the context ends
//	                                      stopped
//
// # Files
//
// The logs of matches that are not over are in the folder "live" of Options.Dir. When a match is over, its replay moves
// to Options.Dir itself, so a start reads no finished replays. The sealer then compresses one replay at a time, and hands it to
// Options.Archive with the match's desync bundles. Several servers can share a folder. A replay's file is
// locked while its match runs, see [replay.Locked]. A log that a crash left open is not locked. The server lists, sends
// and resumes regular files only.
//
// Bans and revocations are kept by Options.Denials beyond the process. A ban belongs to a match, a revocation to all matches of all servers
// with the same Denials. A match whose bans cannot be read stays recovering.
//
// # Limits
//
// [Server.SetLimits] changes the limits of a running server at once: gates resize and close connections beyond them, budgets keep what is
// spent, matches take their limits in their own goroutines. All other options need a restart. [Server.MemoryBound] returns the most
// memory that the server uses; docs/limits.md has the formula.
//
// # Interface
//
// GET /openapi.json describes the routes to programs, docs/spec/http.md to people; GET /metrics describes each metric of the whole server.
// What matches count is at most a second late. Options.Metrics adds others, such as those of an archive and of a cluster.
//
// # Log
//
// The log has a line "match" for each event of a match or a connection, and a line "admin" for each call of an admin,
// refused ones included. Lines have no tokens.
package server
