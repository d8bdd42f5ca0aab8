// Package predict runs a player's own commands ahead of the confirmed state, on a copy, so that they show at once. While frames are
// late it goes on as if nobody had given a command. What it computes is never sent.
//
// A [Prediction] has the copy and how far ahead it runs. Which command runs in which tick is in [commands.Own], which its owner
// passes; the confirmed state, too. It has no clock and no connection.
//
// # States
//
//	none ──Advance, with a lead or owed ticks──> valid ──(a frame or an answer refutes it)──> at fault ──Advance──> valid
//	  ^                                            |
//	  └─────(catching up, no lead, or the rules fail on what is predicted)
//
// A valid prediction advances with each tick that is due: one copy and one tick. One that is at fault begins again from the
// confirmed state and runs up to the tick that was shown, so that what is shown never goes back; if its state is then another
// one although nobody could be surprised, that was a correction, which a user may see. [Prediction.Advance] returns what it
// counted. After a failure of the rules nothing is predicted until another tick is due: a server refuses such commands.
//
// # How far
//
// The lead is so long that a command submitted now takes effect in the next predicted tick: the server's input delay, the round trip
// and the time for which the player shows a tick after it was sealed, corrected by what answers teach ([Prediction.Answered]). It
// grows at once, and shrinks by a tick in a second at most, because the picture then stands still. [Prediction.SetMost] bounds it, together
// with the ticks that are owed: due by the plan of the pace, and not here.
//
// # Who calls what
//
//	a command is submitted     Assume
//	it is answered             Answered, with what Own.Answer returned
//	a frame has run            Confirm, with what Own.Confirm returned
//	the state is replaced      Refuse
//	after the due ticks        Advance
//	something is drawn         States, or Current
//
//samestep:deterministic
package predict
