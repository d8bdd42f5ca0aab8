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
// # Routes
//
// The HTTP interface:
//
//	GET    /openapi.json          this interface for programs, as OpenAPI 3.0
//	GET    /healthz               200 while the server accepts new connections
//	GET    /readyz                200 while the server could start another match and write its replay; the text has reasons, and the matches held
//	GET    /metrics               for Prometheus: see [Server.Operators]
//	GET    /matches               the matches by name, as JSON, MaxListed at a time; ?after=NAME returns the next ones; filters and pages
//	POST   /matches               create a match (admin; with Options.GuestMatches also a player); Options.NewMatch reads the body; an Idempotency-Key makes it repeatable
//	GET    /matches/NAME          one match: identity, settings, seats, peers; its other statistics for admins, and when it has ended
//	GET    /matches/NAME/schemas  its schemas, for a client that is refused because of one
//	GET    /matches/NAME/assets   the assets that its configuration lists, such as its map
//	GET    /assets/SHA256         one that a match of this server lists, or a range of its bytes
//	GET    /rules/SHA256.wasm     the module with the rules of a game, if Options.Rules
//	DELETE /matches/NAME          end it (admin)
//	POST   /matches/NAME/pause    ?seat=N, for whom, or none; also /resume, /kick ?seat=N, /speed ?percent=N (admin)
//	POST   /matches/NAME/retry    try again to resume a match in the state failed (admin)
//	POST   /matches/NAME/ban      ?seat=N, ?peer=N, or ?subject=S and ?address=A; &for=TIME, &reason=TEXT (admin)
//	POST   /matches/NAME/unban    ?subject=S and ?address=A (admin)
//	GET    /matches/NAME/bans     the active bans, including those of kicks (admin)
//	POST   /revocations           ?subject=S or ?token=ID (a JWT's jti); &for=TIME, &reason=TEXT (admin); DELETE removes one, GET lists them
//	GET    /matches/NAME/play     the WebSocket of docs/spec/live.md
//	GET    /matches/NAME/datagrams  where its datagrams go, with [Server.ServeDatagrams]
//	GET    /replays               the replays of finished matches, in pages like /matches, if Options.Replays or for admins; with
//	                              Options.Archive also a search, and players see what they have played
//	GET    /replays/FILE          one of them, or a range of its bytes; with Options.Bundles also a desync bundle
//	DELETE /replays/FILE          delete one with its bundles (admin)
//
// Admins send their token as "Authorization: Bearer TOKEN".
// Errors are JSON with a code: {"error":{"code":"no_match","message":"no such match"}}.
//
// # Metrics
//
// The metrics, of the whole server since it started, besides those of the process (process_*) and of Go (go_*). What
// matches count is at most a second late.
//
//	samestep_lateness_seconds         histogram  delay between when a match had work to do and when it did it
//	samestep_skipped_ticks_total      counter    ticks that matches skipped because the server was too late
//	samestep_ticks_total              counter    ticks sealed
//	samestep_sync_seconds             histogram  time from the start of sending a connection a keyframe until it has reached the present
//	samestep_sync_bytes_total         counter    bytes of keyframes sent to connections
//	samestep_received_bytes_total     counter    bytes of messages from clients to matches
//	samestep_sent_bytes_total         counter    bytes of messages from matches to clients
//	samestep_datagrams_total          counter    datagrams sent to clients
//	samestep_lost_datagrams_total     counter    datagrams to clients that were lost, as far as clients have said so
//	samestep_repeated_bytes_total     counter    bytes of records that datagrams have repeated
//	samestep_disk_seconds             histogram  time that a write or a sync of a replay took, by operation
//	samestep_turned_away_total        counter    connections and requests refused before they reached a match, by reason
//	                                             (address, crowd, guessing, guests, handshake, host, reading, socket, subprotocol)
//	samestep_events_total             counter    events of matches, by subject (connection, match) and kind (host.EventKind)
//	samestep_accepted_commands_total  counter    commands accepted
//	samestep_rejected_commands_total  counter    commands rejected, by reason (lockstep.Reason)
//	samestep_desyncs_total            counter    desyncs reported with their evidence, and ties, by the build of the match
//	samestep_panics_total             counter    panics of a match, also while it is resumed, or of code that handles a desync bundle
//	samestep_replay_failures_total    counter    replays that could not be created, written, completed or sealed
//	samestep_failure_age_seconds      gauge      time since the last of the three above, by kind (desync, panic, replay) and, of a desync, by build; +Inf without one
//	samestep_recovery_mismatches_total  counter  recovered matches whose beginning did not agree with their log
//	samestep_build_info               gauge      1, with the engine's rules, the version of the program's module and of Go
//	samestep_matches                  gauge      matches by state: starting, recovering, failed, lobby, playing, paused, held, ended; the last until their connections have closed
//	samestep_held_matches             gauge      matches that seal no ticks now, by reason
//	samestep_connections              gauge      authenticated connections, by role
//	samestep_peers                    gauge      connections, by state (host.PeerState)
//	samestep_datagram_connections     gauge      connections that datagrams bring the records now; the others have the stream alone
//	samestep_memory_bytes             gauge      memory that matches use for their connections
//	samestep_ready                    gauge      1 if the server could start another match and write its replay, else 0
//	samestep_disk_write_age_seconds   gauge      how long the disk has not answered the oldest write or sync of a replay, or check of its folder; 0 if it has answered all
//	samestep_draining                 gauge      1 while the server drains or stops, so that it starts no match; else 0
//	samestep_disk_free_bytes          gauge      free bytes on the disk of the replays, or -1 if they are unknown
//	samestep_guests                   gauge      what guests' matches use: matches, bots, state_bytes
//	samestep_guests_limit             gauge      the limits of samestep_guests
//	samestep_ring_records             gauge      records that matches keep for their connections
//	samestep_max_lag_ticks            gauge      lag of the live connection that is furthest behind
//
// Options.Metrics adds others, such as those of an archive and of a cluster (docs/operations.md).
//
// # Log
//
// The log has a line "match" for each event of a match or a connection, and a line "admin" for each call of an admin,
// refused ones included. Lines have no tokens.
package server
