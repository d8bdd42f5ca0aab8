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

import "github.com/seed-49bee653/samestep/lockstep"

// A Policy is how a Host treats a player who is connected and gives no command. A rejected command counts like
// any other unless it exceeds Rates; chat does not count. The time is match time: ticks at the full tick rate. So it
// stands still while the match is paused, held or waits, and while the player is away. A reconnect does not begin it again. A player who is about to lose the seat is warned on its connection, 30 s before or
// after half of the time, whichever is later. A player who comes back after that is warned again, and has at least 5 s.
type Policy struct {
	After lockstep.Time // without a command: 5 minutes, or ten ticks if they are longer, at most a day; negative: for ever, without an event
	Then  Action

	// Guests is after which time a guest is removed, if Then does nothing earlier: 2 minutes, or ten ticks, at most a day; negative: guests are as others.
	Guests lockstep.Time
}

// An Action is what follows when a player has reached the limit.
type Action uint8

// The actions.
const (
	Report   Action = iota // nothing more
	TakeOver               // end the connection and take the seat over; the player may come back
	Remove                 // end the connection and give up the seat
	Actions                // how many there are
)

// A player is warned so long before it loses its seat. Both are at most half of Policy.After.
const (
	warning      = 30 * lockstep.Second
	leastWarning = 5 * lockstep.Second // on a new connection
)

// Seats counts for each seat the ticks without a command.
type Seats struct {
	settings       lockstep.Settings
	others, guests limit
	seats          []seat
}

// A limit is after how many ticks without a command what happens; 0 for never.
type limit struct {
	ticks lockstep.Tick
	then  Action
}

type seat struct {
	ticks  lockstep.Tick // since the last command
	warned bool          // on the present connection
}

// A Notice is what a tick means for a player: nothing, a warning, the end, or both.
type Notice struct {
	Warn  bool
	Left  int64 // seconds until the player loses its seat, of Warn
	Lost  bool
	After int64 // seconds without a command, of Lost
	Then  Action
}

// New returns the Seats of a match with settings s.
func New(s lockstep.Settings, p Policy) *Seats {
	x := &Seats{settings: s, seats: make([]seat, s.Players)}
	x.others = limit{x.inTicks(p.After), p.Then}
	x.SetGuests(p.Guests)
	return x
}

// inTicks returns a time of the policy in ticks, 0 for a negative one.
func (x *Seats) inTicks(t lockstep.Time) lockstep.Tick {
	if t <= 0 {
		return 0
	}
	return max(1, lockstep.Tick(x.settings.TicksIn(int64(t))))
}

// SetGuests changes the limit for guests.
func (x *Seats) SetGuests(after lockstep.Time) {
	x.guests = x.others
	if t := x.inTicks(after); t > 0 && (x.others.ticks == 0 || x.others.then == Report || t < x.others.ticks) {
		x.guests = limit{t, Remove}
	}
}

// Limit returns after how many ticks without a command what happens to a player; 0 for never.
func (x *Seats) Limit(guest bool) (ticks lockstep.Tick, then Action) {
	if guest {
		return x.guests.ticks, x.guests.then
	}
	return x.others.ticks, x.others.then
}

// Tick counts a tick in which the player of a seat could have given a command. It returns nil if that means nothing.
func (x *Seats) Tick(player lockstep.Player, guest bool) *Notice {
	s := &x.seats[player]
	limit, then := x.Limit(guest)
	if s.ticks++; limit == 0 || s.ticks < limit-limit/2 || s.ticks > limit { // nobody is warned before half of the time
		return nil
	}
	left, warn := x.warn(s, limit, then) // at the limit too: the player may just be back
	lost := s.ticks == limit
	if !warn && !lost {
		return nil
	}
	v := &Notice{Warn: warn, Left: left, Lost: lost}
	if lost {
		v.After, v.Then = x.settings.Micros(int64(limit))/int64(lockstep.Second), then
	}
	return v
}

// warn returns in how many seconds the player of a seat loses it, and whether the player is told now.
func (x *Seats) warn(s *seat, limit lockstep.Tick, then Action) (seconds int64, now bool) {
	left := limit - s.ticks
	if then == Report || s.warned || left > x.warningTicks(limit, warning) {
		return 0, false
	}
	left = max(left, x.warningTicks(limit, leastWarning))
	s.warned, s.ticks = true, limit-left
	return (x.settings.Micros(int64(left)) + int64(lockstep.Second) - 1) / int64(lockstep.Second), true
}

func (x *Seats) warningTicks(limit lockstep.Tick, t lockstep.Time) lockstep.Tick {
	return min(limit/2, lockstep.Tick(x.settings.TicksIn(int64(t))))
}

// Reset begins the count of a seat again.
func (x *Seats) Reset(player lockstep.Player) { x.seats[player] = seat{} }

// Connected says that a new connection has the seat.
func (x *Seats) Connected(player lockstep.Player) { x.seats[player].warned = false }

// Ease gives a connected guest time after its limit has changed: the next tick warns.
func (x *Seats) Ease(player lockstep.Player) {
	if limit, _ := x.Limit(true); limit > 0 {
		s := &x.seats[player]
		s.ticks, s.warned = min(s.ticks, max(limit, 2)-2), false
	}
}

// Ticks returns the ticks since the last command of a seat's player.
func (x *Seats) Ticks(player lockstep.Player) lockstep.Tick { return x.seats[player].ticks }
