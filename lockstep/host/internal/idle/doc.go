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
//   - Tick after each sealed tick, for each seat whose player is live and in the simulation. Players who are away, join or catch
//     up can give no command, so their ticks do not count;
//   - Reset when a player gives a command, and when the seat's player changes;
//   - Connected when a connection takes the seat, so that it is warned again. If the limit is near, the warning moves the count
//     back so that a few seconds are left for a command;
//   - SetGuests when an admin changes the limit for guests, and then Ease for each connected guest, so that a shorter limit
//     removes nobody without a warning.
//
// When the host needs a seat for a newcomer, [Seats.Ticks] tells it which guest has been idle for longest.
//
//samestep:deterministic
package idle
