// Package idle finds the players of a match who are connected and give no command.
//
// A [Seats] counts ticks by seat. It has no clock: its unit is the sealed tick, so the count stands still while a match is
// paused, held or waits. It knows neither connections nor seats, only their numbers.
//
// # States of a seat
//
//	fresh     ──Tick──►  counting  ──Tick──►  warned  ──Tick──►  lost
//
// A seat is fresh at first and after [Seats.Reset]. Each [Seats.Tick] counts one tick. The returned [Notice] says what
// the caller does:
//
//   - Warn: tell the player that it loses its seat in Left seconds. This happens once for each connection, half a minute before
//     the limit or after half of the time, whichever is later. A Policy that only reports warns nobody.
//   - Lost: the limit is reached. The caller reports it and does what Then says. The count goes on, and the seat is not
//     lost a second time.
//
// The limit is that of [Seats.Limit]: the policy's, or for a guest the shorter one for guests, which always removes.
//
// # Who calls what
//
// The host calls
//
//   - Tick after each sealed tick, for each seat whose player is live and in the simulation: who is away, joins or catches up
//     could give no command, and is not counted;
//   - Reset when a player gives a command, and when the seat's player changes;
//   - Connected when a connection takes the seat: it is warned again. If the limit is near, the warning gives it time for a
//     command: the count goes back so that a few seconds are left;
//   - SetGuests when an admin changes the limit for guests, and then Ease for each connected guest, so that a shorter limit
//     removes nobody without a warning.
//
// The host also asks for the count ([Seats.Ticks]) when it looks for the guest who has been idle for longest.
//
//samestep:deterministic
package idle
