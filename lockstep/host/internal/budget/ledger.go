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

// A Tab refers to the accounts that a connection is charged to. The zero Tab is that of a connection before its welcome.
type Tab struct {
	own  account
	flow *account // for its own messages; nil: own
	cost *account // for its cost to others; nil: own
}

// A Holder is the person behind a connection, according to its grant.
type Holder struct {
	Subject, Address string
	Guest, Spectator bool
}

// account returns the account that a kind is charged to.
func (t *Tab) account(k Kind) *account {
	a := t.cost
	if k.ofFlow() {
		a = t.flow
	}
	if a == nil {
		return &t.own
	}
	return a
}

// Payer returns the account that is charged for the connection's cost to others, or 0 before the welcome.
func (t *Tab) Payer() ID { return t.account(Pace).id }

// Uses returns the number of references to accounts in the table.
func (t *Tab) Uses() (n int) {
	for _, a := range []*account{t.flow, t.cost} {
		if a != nil {
			n++
		}
	}
	return n
}

// Welcome attaches the accounts of a person to a connection. A player's own messages are charged to its subject. Those of a
// spectator are charged to the connection, because many spectators may use one token. Costs to the match or to other people are
// charged to the subject, or to the address if the subject is unverified.
func (l *Ledger) Welcome(now lockstep.Time, t *Tab, who Holder) {
	if !who.Spectator {
		t.flow = l.open(now, "p"+who.Subject, false)
	}
	switch {
	case who.Guest:
		t.cost = l.open(now, "a"+who.Address, true)
	case who.Spectator:
		t.cost = l.open(now, "s"+who.Subject, true)
	default:
		t.cost = l.open(now, "p"+who.Subject, false)
	}
}

// Leave detaches the accounts of a connection that is no longer read.
func (l *Ledger) Leave(t *Tab) {
	for _, a := range []*account{t.flow, t.cost} {
		if a != nil {
			a.users--
		}
	}
	t.flow, t.cost = nil, nil
}

// together returns the rate of a [Kind.ofMatch] for the whole match, as it applies to an account.
func (l *Ledger) together(a *account, k Kind) Rate {
	if k != Notes {
		return l.rates.Of[k].times(matchResimulations)
	}
	r := l.rates.Notes
	if a.shared {
		r.Burst = (r.Burst + 1) / 2
	}
	return r
}

// matchResimulations multiplies the rate of re-simulated ticks for a match.
const matchResimulations = 2

// Take charges n of a kind other than Keyframes and Pace. It returns false, and charges nothing, if that exceeds a limit. A note is
// charged to the account even if the match is at its limit.
func (l *Ledger) Take(now lockstep.Time, t *Tab, k Kind, n int) bool {
	a := t.account(k)
	if !k.ofMatch() {
		return a.used[k].Take(now, a.limit(&l.rates, k), n)
	}
	all := l.together(a, k)
	if k != Notes && l.used[k].Room(now, all) < n {
		return false
	}
	return a.used[k].Take(now, a.limit(&l.rates, k), n) && l.used[k].Take(now, all, n)
}

// Room returns the largest n for which Take succeeds now.
func (l *Ledger) Room(now lockstep.Time, t *Tab, k Kind) int {
	a := t.account(k)
	room := a.used[k].Room(now, a.limit(&l.rates, k))
	if k.ofMatch() {
		room = min(room, l.used[k].Room(now, l.together(a, k)))
	}
	return room
}

// MatchCrowd multiplies the rate of keyframes for all spectators and guests of a match together.
const MatchCrowd = 32

// keyframeRates returns the rates, in bytes, for keyframes of a size: that of an account, and that of all shared accounts together.
// A state of any size can be sent four times at once, and four times a minute.
func (l *Ledger) keyframeRates(a *account, size int) (own, all Rate) {
	r := l.rates.Of[Keyframes]
	r.N = min(max(r.N, int(lockstep.Time(size)*r.Per/(15*lockstep.Second))), maxRate)
	r.Burst = min(max(r.Burst, 4*size), maxRate)
	if a.shared {
		return r.times(crowd), r.times(MatchCrowd)
	}
	return r, r
}

// KeyframeRoom returns how many bytes of a keyframe of a size can be sent to a connection now.
func (l *Ledger) KeyframeRoom(now lockstep.Time, t *Tab, size int) int {
	a := t.account(Keyframes)
	own, all := l.keyframeRates(a, size)
	room := a.used[Keyframes].Room(now, own)
	if a.shared {
		room = min(room, l.used[Keyframes].Room(now, all))
	}
	return room
}

// TakeKeyframe charges n bytes of a keyframe of a size. n is at most KeyframeRoom.
func (l *Ledger) TakeKeyframe(now lockstep.Time, t *Tab, n, size int) {
	a := t.account(Keyframes)
	own, all := l.keyframeRates(a, size)
	a.used[Keyframes].Take(now, own, n)
	if a.shared {
		l.used[Keyframes].Take(now, all, n)
	}
}

// Spent returns the use of each kind in percent of its burst.
func (l *Ledger) Spent(now lockstep.Time, t *Tab) map[string]int {
	spent := make(map[string]int, Kinds)
	for k := range Kinds {
		a := t.account(k)
		spent[k.String()] = a.used[k].percent(now, a.limit(&l.rates, k))
	}
	return spent
}

// A Purse charges one connection at one time.
type Purse struct {
	ledger *Ledger
	tab    *Tab
	now    lockstep.Time
}

// Purse returns the Purse of a connection now.
func (l *Ledger) Purse(now lockstep.Time, t *Tab) Purse { return Purse{l, t, now} }

// Take is [Ledger.Take].
func (p Purse) Take(k Kind, n int) bool { return p.ledger.Take(p.now, p.tab, k, n) }

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
