package budget

import "github.com/seed-49bee653/samestep/lockstep"

// A Tab is what a connection is charged for. The zero Tab is that of a connection without a welcome.
type Tab struct {
	own  account
	flow *account // counts its messages; nil for own
	cost *account // pays for its cost to others; nil for own
}

// A Holder is the person behind a connection, as its grant says.
type Holder struct {
	Subject, Address string
	Guest, Spectator bool
}

// account returns the account that counts a kind.
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

// Payer returns the account that pays for the connection's cost to others; 0 without a welcome.
func (t *Tab) Payer() ID { return t.account(Pace).id }

// Uses returns how many accounts of the table the tab uses.
func (t *Tab) Uses() (n int) {
	for _, a := range []*account{t.flow, t.cost} {
		if a != nil {
			n++
		}
	}
	return n
}

// Welcome charges a connection to the accounts of its holder from now on. A player's own messages count for its subject. A
// spectator's count for its connection, because many spectators may show one token. Costs to the match or to other people count for
// the subject, or for the address if the subject is unverified.
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

// Leave releases the accounts of a connection that is no longer read.
func (l *Ledger) Leave(t *Tab) {
	for _, a := range []*account{t.flow, t.cost} {
		if a != nil {
			a.users--
		}
	}
	t.flow, t.cost = nil, nil
}

// together returns the rate of a kind for all people of the match that an account counts for, and false for none.
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

// Take takes n of a kind, but Keyframes and Pace. It returns false, and takes nothing, if less is left. A note is charged to the
// account also if the match has no room for it.
func (l *Ledger) Take(now lockstep.Time, t *Tab, k Kind, n int) bool {
	a := t.account(k)
	all, bounded := l.together(a, k)
	if bounded && k != Notes && l.used[k].Room(now, all) < n {
		return false
	}
	return a.used[k].Take(now, a.limit(&l.rates, k), n) && (!bounded || l.used[k].Take(now, all, n))
}

// Room returns how much of a kind, but Keyframes and Pace, may be taken now.
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

// keyframeRates returns the rates, in bytes, of keyframes of some size: an account's own, and that of all shared accounts of the
// match together. A state of any size can be sent four times at once, and four times a minute.
func (l *Ledger) keyframeRates(a *account, size int) (own, all Rate) {
	r := l.rates.Of[Keyframes]
	r.N = min(max(r.N, int(lockstep.Time(size)*r.Per/(15*lockstep.Second))), maxRate)
	r.Burst = min(max(r.Burst, 4*size), maxRate)
	if a.shared {
		return r.times(crowd), r.times(MatchCrowd)
	}
	return r, r
}

// KeyframeRoom returns how many bytes of a keyframe of some size a connection may be sent now.
func (l *Ledger) KeyframeRoom(now lockstep.Time, t *Tab, size int) int {
	a := t.account(Keyframes)
	own, all := l.keyframeRates(a, size)
	room := a.used[Keyframes].Room(now, own)
	if a.shared {
		room = min(room, l.used[Keyframes].Room(now, all))
	}
	return room
}

// TakeKeyframe takes n bytes of a keyframe of some size, at most KeyframeRoom.
func (l *Ledger) TakeKeyframe(now lockstep.Time, t *Tab, n, size int) {
	a := t.account(Keyframes)
	own, all := l.keyframeRates(a, size)
	a.used[Keyframes].Take(now, own, n)
	if a.shared {
		l.used[Keyframes].Take(now, all, n)
	}
}

// Spent returns how much is used of each kind, in percent of what is allowed at once.
func (l *Ledger) Spent(now lockstep.Time, t *Tab) map[string]int {
	spent := make(map[string]int, Kinds)
	for k := range Kinds {
		a := t.account(k)
		spent[k.String()] = a.used[k].percent(now, a.limit(&l.rates, k))
	}
	return spent
}

// A Purse takes from the accounts of one connection at one time.
type Purse struct {
	ledger *Ledger
	tab    *Tab
	now    lockstep.Time
}

// Purse returns the Purse of a connection now.
func (l *Ledger) Purse(now lockstep.Time, t *Tab) Purse { return Purse{l, t, now} }

// Take is [Ledger.Take].
func (p Purse) Take(k Kind, n int) bool { return p.ledger.Take(p.now, p.tab, k, n) }
