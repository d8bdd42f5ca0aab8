// Package follow runs the records of a match that have arrived, keeps its past, and compares it with what the log says.
//
// A [Run] has the player's follower, which it owns, and the records that wait. It has no clock: its owner says how many ticks
// may run. It knows neither seats nor commands: the owner takes frames and records from it, and does with them what is not about
// the simulation.
//
// # Ticks
//
//	none ──Begin, with a state──> following ──Begin, with another state──> following
//
// [Run.Push] queues a record. [Run.Next] returns what comes next: a frame, which the owner runs ([Run.Step], then [Run.Ticked]), or a
// record between ticks ([Run.Apply]). It returns neither when no more ticks may run and the next record needs one, when nothing
// waits, or while the owner has too much to tell. [Run.Discard] drops what waits.
//
// # Checks
//
//	agrees ──(the log's checksum is another, or the server says so)──> diverged ──(a later check agrees)──> agrees
//
// Only the first mismatch in a row is told, as [Desynced], and the end of it as [Healed]. The state that differs is kept
// ([Run.KeepWrong]) when the server's state replaces it, and is compared as soon as that one has the same tick: [Explained]. What the log
// says of others is gathered until their check is closed, and told as [Mismatch] once. [Run.Checks] has the latest of all.
//
// # The past
//
// The follower keeps some checked states; the tape has the commands of all ticks after the oldest of them, and with Options.Hashes the
// state hashes, too. So [Run.Past] can say how the ticks from a state on were computed, for a referee.
//
// # Who calls what
//
//	a state has arrived       Lag, the owner runs so many ticks, KeepWrong; then Begin
//	a record has arrived      Push
//	ticks are due             Next until it returns nothing; for a frame Step and Ticked, for a record Apply
//	the server reports        Differs
//	the connection is gone    CloseCheck
//
// After each of them [Run.Events] has what is to be told, in its order.
//
//samestep:deterministic
package follow
