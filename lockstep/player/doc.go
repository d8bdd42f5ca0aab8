// Package player is the player's side of one live match. A [Client] keeps a connection, follows the match, paces what
// it shows, predicts the player's own commands, and asks for a state when it differs. [client] gives it a socket and a clock.
//
// A Client is a state machine. Times and bytes go in; bytes, states to draw and the events of a [Ready] come out. Two Clients with the same
// [Options] that get the same calls do the same. It belongs to one goroutine.
//
// # The owner's loop
//
//	c := player.New(game, player.Options{Token: token, Seed: seed})
//	for c.Stage() != player.StageDone {
//		c.Advance(now)
//		switch c.Stage() {
//		case player.StageDialing: // dial; then c.Connected(now), or c.Disconnected(now, err)
//		case player.StageClosing: // send what Send returns, close; then c.Disconnected(now, nil)
//		}
//		// c.SendDatagram(nil), then c.Send(nil), until they return nothing: each result is one datagram or message
//		for r := c.Ready(); len(r.Events) > 0; r = c.Ready() {
//			// act on the events, such as with c.Submit
//		}
//		c.Render(draw)
//		// wait until r.Next, or for a message: c.Receive(now, message), c.ReceiveDatagram(now, datagram)
//	}
//
// The owner's clock may jump: a Client moves on by at most two seconds at a time, so a machine that slept reads what has arrived before it
// hangs up. Without a path of datagrams the stream alone is enough.
//
// # Calls
//
//	what happens            call                       what follows
//	time passes             [Client.Advance]           timers; ticks that are due run; the prediction follows
//	a socket is open        [Client.Connected]         auth is sent
//	it is gone              [Client.Disconnected]      [Retrying] at a later time, or [LostForGood]
//	the user wants it now   [Client.Retry]             the next attempt is due at once
//	bytes arrive            [Client.Receive]           records wait until they are due, other messages count at once
//	a datagram arrives      [Client.ReceiveDatagram]   the same for its records, by whichever way they come first
//	the socket takes bytes  [Client.Send]              one WebSocket message, or nothing
//	a datagram may be sent  [Client.SendDatagram]      commands, which then wait for the stream
//	the player acts         [Client.Submit]            a sequence; its [lockstep.Receipt] follows among the events
//	it talks, leaves        [Client.Chat], [Client.SetReady], [Client.Leave]
//	a frame is drawn        [Client.Render], [Client.Interpolation], or [Client.Sight] with Options.Views
//
// An error of Receive or ReceiveDatagram says why the Client hangs up: it asks for that itself, and dials again.
//
// # A connection
//
// The stages, and what leads from one to another:
//
//	Waiting ──(due)──> Dialing ──Connected──> Greeting ──welcome──> Syncing ──state_sync──> CatchingUp ──> Live
//	   ^                  |                      |                     |        <──(far behind)──┘          |
//	   └───(attempts left)┴────Disconnected──────┴─────────────────────┴──────(any of them)─────────────────┘
//	                  └──(none left, or told not to come back)──> Done        Closing: the client hangs up
//	a welcome that resumes leads to Live at once; the match's end to Draining, and from there to Done
//
// The events follow in this order: [Dialing], [Connected], [Welcomed], then [StreamResumed] or [SyncProgress] until [Synced]. After a loss come
// [ConnectionLost] and [Retrying]; [ServerError] and [ServerClosing] say why a server refuses or ends a connection. The view of the
// match stays while there is none, and commands can still be submitted. The user is told of a silent server by [Held] with
// [LinkStalled] before the Client hangs up.
//
// # A tick
//
//	Receive, ReceiveDatagram     records go in order into a backlog
//	Advance                      the pace says how many ticks are due; each runs on the confirmed state, with the records before and after it
//	Interpolation, Sight         what a renderer draws: two states and a fraction, or two views
//	Ready                        events, and when Advance is wanted next
//
// A client that is late runs faster; one that is far behind runs all that it has, as after a join ([PacingOptions]). Beyond
// Options.MaxBacklog it acknowledges nothing, so the server sees that it lags; at twice as much it drops what waits and asks for a state.
//
// # A command
//
// [Client.Submit] queues it, and it shows at once with Options.Predict. It is sent on each connection until it is answered, and runs
// once. At most [record.CommandWindow] wait for an answer ([ErrUnanswered]). A server that crashed may give it another sequence ([Renumbered]).
//
// The prediction runs own commands ahead on a copy of the confirmed state, and with Options.PredictLate goes on over frames that are late. What it
// computes is never sent; what then comes replaces it ([Status].Corrections). [Client.SetPredict] bounds it on a slow machine.
//
// # The others
//
// The roster has who holds which seat, as the log tells it up to the client's tick: [Client.Seats], and [SeatChanged] with the reason.
// [Note] is what players say, [HostEvent] what the host says, and [Held] why the match stands still or runs slower.
//
// # A desync
//
// The client reports a checksum of each checked tick, and compares its own with those that the log says are the match's.
//
//	agrees ──[Desynced]──> differs ──the server sends its state──> compared: [Explained] ──a later check agrees──> [Healed]
//
// The referee may ask for states of the past, or for ticks to be computed again ([Resimulated]). Of others the log says who
// differs ([Mismatch]). A renderer that writes to a state causes a desync, which Options.CheckRender finds at once.
//
// # Views
//
// With Options.Views the server sends what the player may see, and the client simulates nothing: [Client.Simulation] is nil,
// [Client.Sight] has the last two views and the player's own commands that they lack. Everything else is the same.
//
// # Machines
//
// A Client only composes. Each of these has a state of its own, takes values and gives values (its exported fields are for reading), and its
// page says how it works:
//
//	internal/dialing    when to dial, hang up and give up
//	internal/quiet      detects a silent server
//	internal/stream     the position in the stream, and the state to join with
//	lockstep/datagram   records and commands beside the stream
//	internal/follow     runs what has arrived, compares checksums, keeps the past
//	internal/playout    when a tick that has arrived is run
//	internal/commands   the player's own commands, until they have run
//	internal/predict    runs them ahead
//	internal/answers    states and ticks that the referee asks for
//	internal/views      views, for a client that does not simulate
//	internal/outbox     messages to send
//
// The roster of seats and the measurements are in this package (roster.go, measure.go). [Client.MemoryBound] is what a Client keeps at
// most, whatever a server sends.
//
//samestep:deterministic
package player
