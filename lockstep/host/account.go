package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A budget names one of the Rates.
type budget uint8

const (
	messageBudget budget = iota
	byteBudget
	commandBudget
	chatBudget
	syncBudget
	resyncBudget
	returnBudget
	noteBudget
	keyframeBudget
	resimulationBudget
	againBudget // as resimulationBudget
	readyBudget
	offenceBudget
	paceBudget
	budgets
)

// list returns the rates by their budgets.
func (r *Rates) list() [budgets]Rate {
	return [budgets]Rate{r.Messages, r.Bytes, r.Commands, r.Chat, r.Syncs, r.Resyncs, r.Returns, r.Notes, r.Keyframes, r.Resimulations, r.Resimulations, r.Ready, r.Offences, r.Pace}
}

// crowd multiplies the limits of an account that several people may share: one of an address or of a spectators' token.
const crowd = 8

// An account counts how much of the Rates a subject or an address has used. It outlives connections, so reconnecting
// does not reset it.
type account struct {
	key    string
	shared bool // the limits are those of a crowd
	users  int  // connections that use it
	used   [budgets]Bucket
	pace   accountPace

	lobbyWaited lockstep.Time // for which a lobby has waited, see patience
	lobbyAt     lockstep.Time // up to which that is counted
}

// limit returns the rate of a budget for an account. A shared account has a single player's limits of the referee's
// time, of the match's time and of the lobby's.
func (a *account) limit(rates *[budgets]Rate, b budget) Rate {
	if a.shared && b != resimulationBudget && b != againBudget && b != readyBudget && b != paceBudget {
		return rates[b].times(crowd)
	}
	return rates[b]
}

// debt returns an upper bound of the time until every bucket is full again.
func (a *account) debt(now lockstep.Time, rates *[budgets]Rate) (most lockstep.Time) {
	for b := range a.used {
		r := a.limit(rates, budget(b))
		a.used[b].drain(now, r)
		most = max(most, a.used[b].used/lockstep.Time(r.N))
		if a.used[b].used > 0 {
			most = max(most, 1)
		}
	}
	if a.pace.waited > 0 {
		most = max(most, a.pace.waitedFrom+minute-now)
	}
	if a.lobbyWaited > 0 {
		most = max(most, a.lobbyAt+keepPatience-now)
	}
	return most
}

// accounts is a table of bounded size, sorted by key.
type accounts struct {
	all     []*account
	max     int
	sweptAt lockstep.Time
}

const (
	// spareAccounts is the number of accounts kept beyond those that connections can use.
	spareAccounts = 256

	// maxAccountKey bounds the key of an account, in bytes: a letter and the longest token, which is the subject if the
	// grant names none.
	maxAccountKey = 2049

	// accountMemory is the size of an account without its key, in bytes.
	accountMemory = 512

	// sweepEvery is the period of the removal of empty accounts.
	sweepEvery = 60 * lockstep.Second
)

// open returns the account of a key for one more connection.
func (t *accounts) open(now lockstep.Time, rates *[budgets]Rate, key string, shared bool) *account {
	key = key[:min(len(key), maxAccountKey)]
	if now-t.sweptAt >= sweepEvery || len(t.all) >= t.max {
		t.sweep(now, rates)
	}
	i, found := t.find(key)
	if !found {
		if len(t.all) >= t.max {
			t.evict(now, rates)
			i, _ = t.find(key)
		}
		t.all = slices.Insert(t.all, i, &account{key: strings.Clone(key), shared: shared})
	}
	a := t.all[i]
	a.users++
	return a
}

func (t *accounts) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t.all, key, func(a *account, key string) int { return cmp.Compare(a.key, key) })
}

// sweep removes the unused accounts whose buckets are full.
func (t *accounts) sweep(now lockstep.Time, rates *[budgets]Rate) {
	t.sweptAt = now
	t.all = slices.DeleteFunc(t.all, func(a *account) bool { return a.users == 0 && a.debt(now, rates) == 0 })
}

// resize changes how many accounts there are, at least those in use.
func (t *accounts) resize(most int, now lockstep.Time, rates *[budgets]Rate) {
	t.max = most
	for len(t.all) > most {
		t.evict(now, rates)
	}
}

// evict removes the unused account with the smallest debt. There is one: the table has more places than connections
// have accounts.
func (t *accounts) evict(now lockstep.Time, rates *[budgets]Rate) {
	found, least := -1, never
	for i, a := range t.all {
		if d := a.debt(now, rates); a.users == 0 && d < least {
			found, least = i, d
		}
	}
	t.all = slices.Delete(t.all, found, found+1)
}

// memory returns the bytes that the table holds.
func (t *accounts) memory() int {
	sum := 0
	for _, a := range t.all {
		sum += accountMemory + len(a.key)
	}
	return sum
}

// charge opens the accounts of a peer that is welcomed with a grant. A player's own messages count for its subject. A
// spectator's count for its connection, because many spectators may show one token. Costs to the match or to other
// peers count for the subject, or for the address if the subject is unverified.
func (h *Host) charge(p *peer, g *Grant) {
	p.subject, p.guest, p.token = g.Subject, g.Guest, g.ID
	open := func(key string, shared bool) *account {
		return h.accounts.open(h.now, &h.rates, key, shared)
	}
	if g.Role != protocol.Spectator {
		p.flow = open("p"+g.Subject, false)
	}
	switch {
	case g.Guest:
		p.account = open("a"+p.from, true)
	case g.Role == protocol.Spectator:
		p.account = open("s"+g.Subject, true)
	default:
		p.account = open("p"+g.Subject, false)
	}
}

// discharge releases the accounts of a peer that is no longer read.
func (h *Host) discharge(p *peer) {
	p.flow.users--
	p.account.users--
	p.flow, p.account = &p.own, &p.own
}

// take takes n from a budget of an account. It returns false, and takes nothing, if less is left.
func (h *Host) take(a *account, b budget, n int) bool {
	return a.used[b].Take(h.now, a.limit(&h.rates, b), n)
}

// check returns an error if the table is inconsistent. users is the expected number of uses.
func (t *accounts) check(users int) error {
	sum := 0
	for i, a := range t.all {
		sum += a.users
		if i > 0 && t.all[i-1].key >= a.key {
			return fmt.Errorf("lockstep: host: account %d of %d is not in order", i, len(t.all))
		}
	}
	if sum != users || len(t.all) > t.max {
		return fmt.Errorf("lockstep: host: got %d accounts with %d users, want at most %d with %d", len(t.all), sum, t.max, users)
	}
	return nil
}
