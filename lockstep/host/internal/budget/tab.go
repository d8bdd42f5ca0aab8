package budget

import "github.com/seed-49bee653/samestep/lockstep"

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

// together returns the rate of a kind for the whole match, as it applies to an account, and false if there is none.
func (l *Ledger) together(a *account, k Kind) (r Rate, ok bool) {
	switch k {
	case Notes:
		r = l.rates.Notes
		if a.shared {
			r.Burst = (r.Burst + 1) / 2
		}
		return r, true
	case Resimulations, Comparisons:
		return l.rates.Of[k].times(matchResimulations), true
	}
	return r, false
}

// matchResimulations multiplies the rate of re-simulated ticks for a match.
const matchResimulations = 2

// Take charges n of a kind other than Keyframes and Pace. It returns false, and charges nothing, if that exceeds a limit. A note is
// charged to the account even if the match is at its limit.
func (l *Ledger) Take(now lockstep.Time, t *Tab, k Kind, n int) bool {
	a := t.account(k)
	all, bounded := l.together(a, k)
	if bounded && k != Notes && l.used[k].Room(now, all) < n {
		return false
	}
	return a.used[k].Take(now, a.limit(&l.rates, k), n) && (!bounded || l.used[k].Take(now, all, n))
}

// Room returns the largest n for which Take succeeds now.
func (l *Ledger) Room(now lockstep.Time, t *Tab, k Kind) int {
	a := t.account(k)
	room := a.used[k].Room(now, a.limit(&l.rates, k))
	if all, bounded := l.together(a, k); bounded {
		room = min(room, l.used[k].Room(now, all))
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
