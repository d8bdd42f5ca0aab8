package budget

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// An ID identifies an account. IDs are not reused. The zero ID is the account of unknown players.
type ID uint64

// An account counts the use of a person, or of all people who share it.
type account struct {
	id     ID
	key    string
	shared bool // several people may share it
	users  int  // tabs and seats that refer to it
	used   [Kinds]Bucket

	spent   bool          // Pace is used up, and less than half of its burst has refilled
	spentAt lockstep.Time // when spent was last true

	waited               lockstep.Time // how long the match has waited for it in the minute from waitedFrom on
	waitedFrom, waitedAt lockstep.Time

	lobbyWaited lockstep.Time // how long the lobby has waited for it
	lobbyAt     lockstep.Time // when that was last counted
}

const (
	// crowd multiplies the rates of shared accounts.
	crowd = 8

	// minute is the window of [Ledger.Wait].
	minute = 60 * lockstep.Second

	// keepAwaited is how long an account keeps the time counted by [Ledger.Await].
	keepAwaited = 10 * minute

	// accountMemory is the size of an account without its key, in bytes.
	accountMemory = 512

	// never is a time later than all others.
	never lockstep.Time = 1<<63 - 1
)

// limit returns the rate of a kind for an account.
func (a *account) limit(r *Limits, k Kind) Rate {
	if a.shared && !k.forOne() {
		return r.Of[k].times(crowd)
	}
	return r.Of[k]
}

// debt returns an upper bound of the time until the account can be removed.
func (a *account) debt(now lockstep.Time, rates *Limits) (most lockstep.Time) {
	for k := range a.used {
		r := a.limit(rates, Kind(k))
		a.used[k].drain(now, r)
		most = max(most, a.used[k].used/lockstep.Time(r.N))
		if a.used[k].used > 0 {
			most = max(most, 1)
		}
	}
	if a.waited > 0 {
		most = max(most, a.waitedFrom+minute-now)
	}
	if a.lobbyWaited > 0 {
		most = max(most, a.lobbyAt+keepAwaited-now)
	}
	return most
}

// grant charges match time for an interval, and returns the granted part.
func (a *account) grant(now lockstep.Time, r Rate, ask, interval lockstep.Time) lockstep.Time {
	room := lockstep.Time(a.used[Pace].Room(now, r))
	if a.spent && room >= lockstep.Time(r.Burst)/2 {
		a.spent = false
	}
	if ask > room {
		a.spent = true
	}
	if a.spent {
		a.spentAt = now
		ask = min(ask, room, interval*lockstep.Time(r.N)/r.Per)
	}
	a.used[Pace].Take(now, r, int(ask))
	return ask
}
