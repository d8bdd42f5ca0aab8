// Package outbox has the messages that a player's client has to send, but for its answers to the referee. All of it is bounded: what
// is said twice is merged.
//
// A [Box] outlives connections. It has no clock and no connection: its owner says what is wanted, and when there is room asks for it.
//
// # What waits
//
//	Want            short messages without more to them: once each, on the present connection
//	Leave, Panic    the last words
//	Chat            lines, at most MaxChat; those of a lost connection are sent on the next one
//	Report          checked ticks, the last ones; their checksums are read when they are sent
//	Arrived         an acknowledgement, see below
//
// # Acknowledgements
//
//	nothing new ──Arrived, or a tick has run──> new ──(it is due)──> acknowledged
//
// What is new is acknowledged once AckEvery ticks have run, 32 records have come, or a second has passed since the last one, and at once
// after a state or a resume ([Box.AckSoon]). A client whose backlog is full acknowledges nothing, so that the server sees that it lags.
//
// # Who calls what
//
//	a connection is open      Begin, Want(Auth)
//	a record has come         Arrived
//	a state was taken         Adopted
//	something may be sent     Take(Auth) or TakePanic; otherwise Small, Reports, Commands, and at last Take(Leave)
//
//samestep:deterministic
package outbox
