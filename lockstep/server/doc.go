// Package server hosts live matches: it gives [host.Host] sockets, a clock,
// files and an HTTP interface.
//
//	s, err := server.New(server.Options{Dir: "matches", Authorizer: tokens})
//	m, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &config})
//	err = http.ListenAndServe("127.0.0.1:8766", s)
//
// A server that strangers reach listens with [Server.Listener], which limits the
// connections that are no WebSockets. Behind a proxy it needs Options.TrustedProxies, or
// all its clients have the limits of one address.
//
// One goroutine owns a match. A connection has two more: one reads its socket
// and posts what comes into the match's inbox, one writes what the match has
// for it. The match never waits for either. The ticks of different matches are
// spread over the tick's period, which on a busy machine does more against late
// ticks than anything else.
//
// Server.MemoryBound says how much memory all of that takes at most; docs/limits.md
// has its formula. Most of it is taken only while a match, or a client, stands still.
//
// With Options.Durability replay.SyncFrame nobody sees a tick that a crash of the
// machine could take back; the match does not wait for the disk, but its players
// do. While a disk is full, or more than a second late, the match is held and
// everybody is told. When a match is over its replay is sealed, one at a time.
//
// Several servers can share a folder. The lock of a replay's file says whether its
// match is going on, see replay.Locked; a replay that a crash left open is not
// locked. Only regular files are listed, sent and resumed.
//
// The HTTP interface:
//
//	GET    /healthz               200 while the server takes new connections
//	GET    /metrics               for Prometheus
//	GET    /matches               the matches by name, as JSON, MaxListed at a time; the next ones with ?after=NAME
//	POST   /matches               create one (admin, or with Options.GuestMatches a player); the body is up to Options.NewMatch
//	GET    /matches/NAME          one match: identity, settings, seats, peers
//	DELETE /matches/NAME          end it (admin)
//	POST   /matches/NAME/pause    ?seat=N, for whom; and /resume and /kick ?seat=N, /speed ?percent=N (admin)
//	POST   /matches/NAME/ban      ?seat=N, ?peer=N, or ?subject=S and ?address=A, and &for=TIME, &reason=TEXT (admin)
//	POST   /matches/NAME/unban    ?subject=S and ?address=A (admin)
//	GET    /matches/NAME/bans     the bans that hold, also those of kicks (admin)
//	POST   /revocations           ?subject=S or ?token=ID (a JWT's jti), and &for=TIME, &reason=TEXT (admin); DELETE takes it back, GET lists
//	GET    /matches/NAME/play     the WebSocket of docs/protocol.md
//	GET    /replays               the same of the replays of matches that are over, if Options.Replays
//	GET    /replays/FILE          one of them, or a range of its bytes
//
// The metrics, of the whole server since it was started:
//
//	samestep_lateness_seconds         histogram  delay between when a match had work to do and when it did it
//	samestep_turned_away_total        counter    connections and requests refused before they reached a match, by reason
//	                                             (address, crowd, guessing, guests, handshake, host, reading, socket, subprotocol)
//	samestep_events_total             counter    events of matches, by subject (connection, match) and kind (host.EventKind)
//	samestep_rejected_commands_total  counter    commands rejected, by reason (lockstep.Reason); at most a second late
//	samestep_desyncs_total            counter    desyncs reported with their evidence, and ties
//	samestep_panics_total             counter    panics of a match, or of code that handles a desync bundle
//	samestep_replay_failures_total    counter    replays that could not be written to their end
//	samestep_matches                  gauge      matches on the server; one that has ended stays until its connections have closed
//	samestep_peers                    gauge      connections, by state (host.PeerState)
//	samestep_memory_bytes             gauge      memory that matches hold for their connections
//	samestep_guests                   gauge      what matches of guests take, by what: matches, bots, state_bytes of all copies that are simulated
//	samestep_guests_limit             gauge      the most that it may be
//	samestep_ring_records             gauge      records that matches hold for their connections
//	samestep_max_lag_ticks            gauge      lag of the live connection that is furthest behind
//
// Admins show their token as "Authorization: Bearer TOKEN".
package server
