package budget

import "github.com/seed-49bee653/samestep/lockstep"

// matchPace multiplies the pace of a player for a match.
const matchPace = 2

// Bill moves the reference of a seat from one account to another. The zero ID is nobody, or an unknown player.
func (l *Ledger) Bill(before, now ID) {
	if before != 0 {
		l.of(before).users--
	}
	if now != 0 {
		l.of(now).users++
	}
}

// Grant charges match time for an interval to an account, and returns the granted part, the use that has not refilled yet, and whether
// the share of the account is spent. While it is spent, at most the refill of the interval is granted.
func (l *Ledger) Grant(now lockstep.Time, id ID, ask, interval lockstep.Time) (granted, used lockstep.Time, spent bool) {
	a, rate := l.of(id), l.rates.Of[Pace]
	granted = a.grant(now, rate, ask, interval)
	return granted, a.used[Pace].used / rate.Per, a.spent
}

// GrantAll charges match time for an interval to all players together, and returns the granted part.
func (l *Ledger) GrantAll(now, ask, interval lockstep.Time) lockstep.Time {
	return l.match.grant(now, l.rates.Of[Pace].times(matchPace), ask, interval)
}

// patience returns how much match time an account and all players together have left, or 0 while the share of the account is spent.
func (l *Ledger) patience(now lockstep.Time, a *account) lockstep.Time {
	rate := l.rates.Of[Pace]
	if a.spent {
		return 0
	}
	return lockstep.Time(min(a.used[Pace].Room(now, rate), l.match.used[Pace].Room(now, rate.times(matchPace))))
}

// SpentLately reports whether the share of an account was spent in the last minute.
func (l *Ledger) SpentLately(now lockstep.Time, id ID) bool {
	a := l.of(id)
	return a.spentAt != 0 && now-a.spentAt <= minute
}

// Wait adds dt to the time that the match has waited for an account, once for each now. It returns the sum in the present minute of
// the account, and how much longer the account and all players together can pay for waiting.
func (l *Ledger) Wait(now lockstep.Time, id ID, dt lockstep.Time) (waited, patience lockstep.Time) {
	a := l.of(id)
	if now-a.waitedFrom >= minute {
		a.waited, a.waitedFrom = 0, now
	}
	if a.waitedAt != now {
		a.waited, a.waitedAt = a.waited+dt, now
	}
	return a.waited, l.patience(now, a)
}

// Await adds dt to the time that the lobby has waited for an account, and returns the sum. It adds only once for each now, because
// guests of one address share an account.
func (l *Ledger) Await(now lockstep.Time, id ID, dt lockstep.Time) lockstep.Time {
	a := l.of(id)
	if a.lobbyAt != now {
		a.lobbyAt = now
		a.lobbyWaited += dt
	}
	return a.lobbyWaited
}

// Awaited returns how long the lobby has waited for an account.
func (l *Ledger) Awaited(id ID) lockstep.Time { return l.of(id).lobbyWaited }
