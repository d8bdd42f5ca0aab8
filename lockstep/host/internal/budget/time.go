package budget

import "github.com/seed-49bee653/samestep/lockstep"

// matchPace multiplies the pace of a player for a match.
const matchPace = 2

// Bill lets a seat pay with another account than before. The zero ID is that of nobody, or of an unknown player.
func (l *Ledger) Bill(before, now ID) {
	if before != 0 {
		l.of(before).users--
	}
	if now != 0 {
		l.of(now).users++
	}
}

// Grant charges match time for an interval to an account, and returns the granted part. Once the account cannot pay, it is granted
// at most the refill of the interval until half of the burst is back. This avoids one short slowdown after another. Grant also
// returns how much the account has used and not refilled, and whether its share is spent.
func (l *Ledger) Grant(now lockstep.Time, id ID, ask, interval lockstep.Time) (granted, used lockstep.Time, spent bool) {
	a, rate := l.of(id), l.rates.Of[Pace]
	granted = a.grant(now, rate, ask, interval)
	return granted, a.used[Pace].used / rate.Per, a.spent
}

// GrantAll charges match time for an interval to all players together, and returns the granted part.
func (l *Ledger) GrantAll(now, ask, interval lockstep.Time) lockstep.Time {
	return l.match.grant(now, l.rates.Of[Pace].times(matchPace), ask, interval)
}

// patience returns how much match time an account and all players together have left; 0 while the account's is spent.
func (l *Ledger) patience(now lockstep.Time, a *account) lockstep.Time {
	rate := l.rates.Of[Pace]
	if a.spent {
		return 0
	}
	return lockstep.Time(min(a.used[Pace].Room(now, rate), l.match.used[Pace].Room(now, rate.times(matchPace))))
}

// SpentLately reports whether the account's share of the match time was spent in the last minute.
func (l *Ledger) SpentLately(now lockstep.Time, id ID) bool {
	a := l.of(id)
	return a.spentAt != 0 && now-a.spentAt <= minute
}

// Wait counts that the match has waited for an account for another dt, once at each time. It returns for how long it has waited in
// the present minute of the account, and how much longer the account and all players together can pay for it.
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

// Await counts that a lobby has waited for an account for another dt, once at each time: guests of one address are charged once.
// It returns the sum.
func (l *Ledger) Await(now lockstep.Time, id ID, dt lockstep.Time) lockstep.Time {
	a := l.of(id)
	if a.lobbyAt != now {
		a.lobbyAt = now
		a.lobbyWaited += dt
	}
	return a.lobbyWaited
}

// Awaited returns for how long a lobby has waited for an account.
func (l *Ledger) Awaited(id ID) lockstep.Time { return l.of(id).lobbyWaited }
