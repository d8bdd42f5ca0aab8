package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	// spareAccounts is the number of accounts beyond those that connections can use.
	spareAccounts = 256

	// MaxKey bounds the key of an account, in bytes: a letter and the longest token, which is the subject if the grant names none.
	MaxKey = 2049

	// sweepEvery is the interval between removals of unused accounts.
	sweepEvery = 60 * lockstep.Second
)

// A Ledger holds the accounts of a match, in a table of bounded size, and the use of the whole match.
type Ledger struct {
	rates   Limits
	all     []*account      // by key
	byID    map[ID]*account // only looked up, never ranged over
	last    ID
	most    int
	sweptAt lockstep.Time
	unknown account       // of players who are not known since a recovery
	match   account       // the pace of all players together
	used    [Kinds]Bucket // of the kinds with a rate for the match
}

// New returns the Ledger of a match with at most the given number of welcomed connections.
func New(r Limits, connections int) *Ledger {
	return &Ledger{rates: r, byID: make(map[ID]*account), most: 2*connections + spareAccounts}
}

// Resize changes the largest number of welcomed connections. Accounts in use stay.
func (l *Ledger) Resize(now lockstep.Time, connections int) {
	l.most = 2*connections + spareAccounts
	for len(l.all) > l.most {
		l.evict(now)
	}
}

// open returns the account of a key for one more user.
func (l *Ledger) open(now lockstep.Time, key string, shared bool) *account {
	key = key[:min(len(key), MaxKey)]
	if now-l.sweptAt >= sweepEvery || len(l.all) >= l.most {
		l.sweep(now)
	}
	i, found := l.find(key)
	if !found {
		if len(l.all) >= l.most {
			l.evict(now)
			i, _ = l.find(key)
		}
		l.last++
		a := &account{id: l.last, key: strings.Clone(key), shared: shared}
		l.all, l.byID[a.id] = slices.Insert(l.all, i, a), a
	}
	a := l.all[i]
	a.users++
	return a
}

func (l *Ledger) find(key string) (int, bool) {
	return slices.BinarySearchFunc(l.all, key, func(a *account, key string) int { return cmp.Compare(a.key, key) })
}

// sweep removes the unused accounts without a debt.
func (l *Ledger) sweep(now lockstep.Time) {
	l.sweptAt = now
	l.all = slices.DeleteFunc(l.all, func(a *account) bool {
		gone := a.users == 0 && a.debt(now, &l.rates) == 0
		if gone {
			delete(l.byID, a.id)
		}
		return gone
	})
}

// evict removes the unused account with the smallest debt. There is one, because the table has more room than there are users.
func (l *Ledger) evict(now lockstep.Time) {
	found, least := -1, never
	for i, a := range l.all {
		if d := a.debt(now, &l.rates); a.users == 0 && d < least {
			found, least = i, d
		}
	}
	delete(l.byID, l.all[found].id)
	l.all = slices.Delete(l.all, found, found+1)
}

// of returns the account with an ID. It is in use, so it is in the table.
func (l *Ledger) of(id ID) *account {
	if id == 0 {
		return &l.unknown
	}
	return l.byID[id]
}

// Memory returns the size of the table in bytes.
func (l *Ledger) Memory() int {
	sum := 0
	for _, a := range l.all {
		sum += accountMemory + len(a.key)
	}
	return sum
}

// MemoryBound returns the limit of Memory.
func (l *Ledger) MemoryBound() int { return l.most * (accountMemory + MaxKey) }

// Check returns an error if the table is inconsistent. users is the expected number of uses. It is for tests.
func (l *Ledger) Check(users int) error {
	sum := 0
	for i, a := range l.all {
		sum += a.users
		if i > 0 && l.all[i-1].key >= a.key || l.byID[a.id] != a {
			return fmt.Errorf("lockstep: host: account %d of %d is not in order", i, len(l.all))
		}
	}
	if sum != users || len(l.all) > l.most || len(l.byID) != len(l.all) {
		return fmt.Errorf("lockstep: host: got %d accounts with %d users, want at most %d with %d", len(l.all), sum, l.most, users)
	}
	return nil
}
