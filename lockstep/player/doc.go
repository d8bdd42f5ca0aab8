// Package player is the player's side of one live match. A [Client] keeps a connection, follows the match, paces what
// it shows, predicts the player's own commands, and asks for a state when it differs. [client] gives it a socket and a clock.
//
// A Client is pure: time is an argument, bytes go in and out, and what happened comes back as events of a [Ready]. Two Clients with the same
// [Options] that get the same calls do the same. It belongs to one goroutine.
//
// # A connection
//
//	for c.Stage() != StageDone {
//		c.Advance(now)
//		if c.Stage() == StageDialing { dial; c.Connected(now) or c.Disconnected(now, err) }
//		out := c.Send(nil)       // send it, until there is nothing
//		if c.Stage() == StageClosing { close; c.Disconnected(now, nil) }
//		r := c.Ready()           // act on r.Events, until there are none
//		wait until r.Next, or for a message: c.Receive(now, message)
//	}
//
// The stages, and what leads from one to another:
//
//	Waiting ──(due)──> Dialing ──Connected──> Greeting ──welcome──> Syncing ──state_sync──> CatchingUp ──> Live
//	   ^                  |                      |                     |        <──(far behind)──┘          |
//	   └───(attempts left)┴────Disconnected──────┴─────────────────────┴──────(any of them)─────────────────┘
//	                  └──(none left, or told not to come back)──> Done        Closing: the client hangs up
//	a welcome that resumes leads to Live at once; the match's end to Draining, and from there to Done
//
// An owner with a path of datagrams sends [Client.SendDatagram] before each Send, and gives what comes to [Client.ReceiveDatagram].
// Without it the stream alone is enough.
//
// # A tick
//
//	Receive, ReceiveDatagram   records go in order into a backlog, by whichever way they come first
//	Advance                    the pace says how many ticks are due; each runs on the confirmed state, with the records
//	                           before and after it; then the prediction is brought up to what is shown
//	View, Sight                what a renderer draws: two states and a fraction, or two views of a client with Options.Views
//	Ready                      events, and when Advance is wanted next
//
// A client that is late runs faster; one that is far behind runs all that it has, as after a join ([PacingOptions]). One whose backlog is
// too long drops it and asks for a state.
//
// # A command
//
// [Client.Submit] queues it, and it shows at once with Options.Predict. It is sent on each connection until it is answered, and runs
// once. Its answer is a [lockstep.Receipt] among the events. A server that crashed may give it another sequence ([Renumbered]).
//
// # A desync
//
// The client reports a checksum of each checked tick, and compares its own with those that the log says are the match's. The first that
// differs is a [Desynced]; the server then sends its state, which the client goes on from ([Healed]) and compares with its own
// ([Explained]). The referee may ask for states of the past, or for ticks to be computed again ([Resimulated]). Of others the log says who
// differs ([Mismatch]).
//
// # Machines
//
// A Client only composes. Each of these has a state of its own, takes values and gives values, and its page says how it works:
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
// The roster of seats is in this package: roster.go.
//
//samestep:deterministic
package player
