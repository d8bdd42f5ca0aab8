// Package host is the server's side of one live match. A [Host] owns the coordinator, the log, the seats and the connections: it
// authorizes peers, syncs those that join late or fall behind, keeps limits, and collects evidence of desyncs.
//
// A Host is a state machine. Bytes and times go in; records, bytes and events come out. It has no socket, clock, goroutine or file, so
// a test plays a whole match in one goroutine, and two Hosts with the same calls and the same Options.Random give the same answers. It belongs to one goroutine.
//
// # The owner's loop
//
//	h, err := host.New(game, header, host.Options{Random: random, Authorize: authorize})
//	for h.Err() == nil {
//		h.Advance(now)
//		for r := h.Ready(); !r.Empty(); r = h.Ready() {
//			if err := r.AppendTo(log); err != nil {
//				h.Fail(now, err) // no peer sees a record that the log does not have
//			}
//			h.Persisted(now, r.Position)
//			for _, id := range r.Peers {
//				// h.SendDatagram(id, nil), then h.Send(id, nil, max), until they return nothing or the socket is busy
//				// if h.Closed(id): close the socket after that, then h.Disconnect(now, id)
//			}
//		}
//		// wait until r.Next, or for a socket: h.Connect, h.Receive, h.ReceiveDatagram or h.Disconnect
//	}
//
// Times never go back: an earlier one counts as the latest. A log that writes slowly calls Persisted later, and sends meanwhile what is
// durable. After the end the loop goes on until no connection is left, so that peers can read the rest.
//
// # Calls
//
//	what happens                call                             what follows
//	a socket is open            [Host.Connect]                   a peer, or false: there is no room
//	bytes arrive                [Host.Receive]                   see "A message"
//	a datagram arrives          [Host.ReceiveDatagram]           acknowledgements and commands count at once
//	a socket is closed          [Host.Disconnect]                its player is away for Options.Grace
//	r.Next has come             [Host.Advance]                   ticks are sealed, timers run
//	the log is durable          [Host.Persisted]                 its readers are marked, views are made
//	the log has failed          [Host.Fail]                      the match is over at the last durable tick
//	a socket takes bytes        [Host.Send]                      answers, chunks of a keyframe, then records or views
//	a datagram may be sent      [Host.SendDatagram]              receipts and records, which then wait for the stream
//	the program plays a seat    [Host.Submit]                    a receipt
//	an operator acts            [Host.Admin], [Host.Bans]        at once, for the next tick
//	somebody asks               [Host.Status], [Host.Info], [Host.Stats]
//
// After each of them the owner calls [Host.Ready] and does its work in the order of the fields. That may make more work, so it repeats
// this until the Ready is empty. A Ready's memory is used again by the next call.
//
// # A connection
//
// [PeerState] has the states and what leads from one to another. Whoever is not welcomed after Options.AuthTimeout is closed, and so is
// a peer that is silent for Options.IdleTimeout, does not read its answers, violates the protocol, or exceeds limits again and
// again. What changes the state is in host/internal/syncing.
//
// Closing is decided in many places and carried out in one: the table of peers marks the connection as closed and queues its last message. When
// the present message, timer or tick is done, the Host releases the seats of all that were closed, in order, and says so in events. So a
// desync that removes a player, whose leaving decides another check, never meets itself.
//
// # A message
//
// Receive charges bytes and messages to the peer's account (host/internal/budget). The first message must be auth, and ends in one of
//
//	a session that resumes a seat     the connection takes the seat from an older one; with a position in the ring it gets no keyframe
//	a token of a player               its seat, its earlier one, a free one, or that of a guest who has never played
//	a token of a spectator            a place, up to Options.MaxSpectators
//	a refusal                         identity, token, ban, no room; the connection is closed
//
// Each later one goes to one machine. Beyond the limits only acks are taken, and commands answered; the rest is refused:
//
//	command                           the coordinator; the receipt goes back, and by datagrams if there are any
//	checksum                          the coordinator's comparison, or for a spectator the checks so far; see "A desync"
//	ack, view ack, ping, pong         host/internal/syncing, views and link
//	state, resimulated, phases        host/internal/evidence
//	chat, ready                       host/internal/talk, lobby and vote
//	a request for a keyframe          a new sync, within Rates.Syncs
//	panicked, leave                   an event; the connection is closed
//
// # A seat
//
// A seat belongs to the holder of its token, not to a connection: the latest welcomed connection has it. The log has each change
// before the next tick, as a command of System; while no tick is sealed, an event says it at once.
//
//	          welcome                   the connection is lost            Grace is over
//	vacant ───────────► here (Joined) ──────────────────────► away (Lost) ─────────────► taken over (TakenOver)
//	   ▲                 ▲   │                                  │   │                         │
//	   │                 └───┼────────── welcome (Joined)   ────┴───┼─────────────────────────┘
//	   └──── Left ───────────┴── leaves, kicked, banned, idle ──────┴── with Options.LeaveAfterGrace
//
// Options.Substitute plays a seat that is taken over, and Options.Bots play seats that no token gets. A bot that fails leaves; a
// substitute that fails leaves the seat idle. Account, name and readiness belong to the player, and go with it.
//
// # A tick
//
// Advance asks host/internal/pace whether one is due and may be sealed: not in a lobby, while the server holds the match, or while a
// WaitPolicy waits. Then it writes the changes of seats, has the coordinator seal and run the tick, lets bots look at the new state, and
// counts who gives no command. After a stall it seals at most Options.MaxCatchUp ticks and skips the others, and nobody's timers
// run for that time.
//
// # A desync
//
// The coordinator decides which checksum is agreed and whether the referee was wrong. The Host reports it as an event, tells the
// client, asks it for states ([Options].Evidence), and applies the [DesyncPolicy]: a keyframe, nothing, or removal once the
// answers are there. Ticks that are computed again are paid by the player who reports.
//
// # Parts
//
// A Host composes. Its tables are in this package: seats.go (who holds which seat) and seating.go (what becomes of players), peers.go
// (the connections), journal.go (the log, and what each reader may have of it) and bots.go. The machines in host/internal do not know it;
// their pages have their states, and their exported fields are for reading:
//
//	bans      who is kept out                              pace      when a tick is due, its delay, who is waited for and pays
//	budget    what a person may spend                      syncing   where a reader is, with which keyframe it begins
//	ending    why the match is over, who may still read    talk      which names and lines of chat are written
//	evidence  whom to ask about a desync                   views     what viewers are sent
//	idle      who gives no command                         vote      votes to kick
//	link      round trips, silence                         lobby     who is waited for before the first tick
//
// # Again
//
// A [Recovery] reads the log of a match that was interrupted and makes the Host that goes on: players are away and come back with
// their tokens. [Recovery.Begin] makes one of a new match that begins in its state. Sessions, connections and unsealed commands are lost.
//
// # Bounds
//
// Whatever peers do, [Info.Memory] stays below [Info.MemoryBound], which has the formula. A player's error never stops the match; a
// failed log always does.
//
//samestep:deterministic
package host
