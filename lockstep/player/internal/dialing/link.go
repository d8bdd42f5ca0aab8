// Package dialing decides when a player dials, hangs up and gives up.
//
// A [Link] has one connection at most, one after the other. It owns no socket and no clock: its owner tells it what became of a
// connection, and does what it says.
//
// # States
//
//	Waiting ──(due)──> Dialing ──Connected──> Greeting ──Welcomed──> Up
//	   ^                  |                       |                   |
//	   |                Lost                      └──HangUp, Fail, Leave──> Closing ──Lost──┐
//	   └──(attempts left)─┴─────────────────────────────Lost──────────────────────────────┤
//	                                                                                       v
//	                                                  (none left, or it has failed or left) Over
//
// HangUp asks the owner to close the connection, and another one follows. Fail is for what no connection can mend. A player who leaves,
// or whose match is over, is not connected again.
//
// # Waits
//
// The first attempt after a loss is due after Policy.First, each one after twice the wait before, up to Policy.Longest; all vary by a
// fifth, so that clients do not come all at once. A server may ask for a longer wait ([Link.Delay]). A connection that was live for five times
// Policy.First begins anew; otherwise a client would for ever dial a server that ends each connection at once.
//
//samestep:deterministic
package dialing

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrGaveUp: all attempts to connect have failed.
var ErrGaveUp = errors.New("lockstep: client: gave up")

// A State is how far a connection has come.
type State uint8

// The states.
const (
	Waiting State = iota // for the time of the next attempt
	Dialing
	Greeting // there is a connection, and no welcome
	Up
	Closing // the owner is to close it
	Over
)

// A Link is a player's connection, and what comes after it.
type Link struct {
	policy  Policy
	backoff backoff
	State   State
	Err     error // why the link is over, if not because of the match's end
	reason  error // why it hangs up
	Leaving bool
	DialAt  lockstep.Time
	Opened  lockstep.Time // when the connection was opened
	since   lockstep.Time // of the welcome
	after   lockstep.Time // the server's wait before the next attempt
}

// New returns a Link that waits for its first attempt. The seed varies its waits.
func New(p Policy, seed uint64) Link { return Link{policy: p, backoff: backoff{random: seed}} }

// Open reports whether there is a connection that is not to be closed.
func (l *Link) Open() bool { return l.State == Greeting || l.State == Up }

// Advance reports whether the owner dials now, and how many attempts came before since a loss.
func (l *Link) Advance(now lockstep.Time) (attempt int, dials bool) {
	if l.State != Waiting || now < l.DialAt {
		return 0, false
	}
	l.State = Dialing
	return l.backoff.attempt, true
}

// Retry makes the next attempt due at once, and the waits begin anew after it. It reports false while none is awaited.
func (l *Link) Retry(now lockstep.Time) (attempt int, ok bool) {
	if l.State != Waiting {
		return 0, false
	}
	l.backoff.attempt, l.backoff.since, l.DialAt = 1, now, now
	return 1, true
}

// Connected says that a connection is open, and reports false if none was wanted.
func (l *Link) Connected(now lockstep.Time) bool {
	if l.State != Dialing {
		return false
	}
	l.State, l.Opened = Greeting, now
	return true
}

// Welcomed says that the server knows the player.
func (l *Link) Welcomed(now lockstep.Time) { l.State, l.since = Up, now }

// Delay makes the next attempt wait for a time at least.
func (l *Link) Delay(after lockstep.Time) { l.after = after }

// settle forgets failed attempts if the connection, which is live or not, was so for long enough.
func (l *Link) settle(now lockstep.Time, live bool) {
	if live && now-l.since >= 5*l.policy.First {
		l.backoff.attempt = 0
	}
}

// HangUp asks the owner to close the connection, which is live or not, because of err or of nothing.
func (l *Link) HangUp(now lockstep.Time, live bool, err error) {
	if l.Open() {
		l.settle(now, live)
		l.State, l.reason = Closing, err
	}
}

// Fail gives up because of an err that another connection cannot mend. It reports whether the link is over by that.
func (l *Link) Fail(now lockstep.Time, live bool, err error) (over bool) {
	if l.Err != nil || l.State == Over {
		return false
	}
	l.Err = err
	if l.Open() {
		l.HangUp(now, live, err)
	} else if l.State != Closing {
		l.State = Over
	}
	return l.State == Over
}

// Leave ends the link for good. It reports whether there is a server to be told.
func (l *Link) Leave(now lockstep.Time, live bool) (farewell bool) {
	l.Leaving = true
	farewell = l.State == Up
	if l.Open() {
		l.HangUp(now, live, nil)
	} else if l.State != Closing {
		l.State = Over
	}
	return farewell
}

// Left says that the server has taken the player's leave, or that it does not matter any more.
func (l *Link) Left() { l.Leaving = true }

// A Loss says what follows from the end of a connection.
type Loss struct {
	Over    bool          // nothing: it had failed, the player has left or the match is over
	Had     bool          // there was a connection
	Err     error         // why it ended, or could not be made
	GaveUp  bool          // it was the last attempt
	Attempt int           // otherwise: the next one
	At      lockstep.Time // when it is due
}

// Lost says that the connection, which was live or not, is gone or could not be made. done says that no other is wanted. It returns
// false if there was none.
func (l *Link) Lost(now lockstep.Time, live, done bool, err error) (Loss, bool) {
	if l.State == Waiting || l.State == Over {
		return Loss{}, false
	}
	loss := Loss{Had: l.State != Dialing, Err: err}
	if l.reason != nil {
		loss.Err = l.reason
	}
	if loss.Err == nil {
		loss.Err = errors.New("lockstep: client: connection lost")
	}
	l.settle(now, live)
	l.reason = nil
	if l.Err != nil || l.Leaving || done {
		l.State, loss.Over = Over, true
		return loss, true
	}
	if l.backoff.attempt == 0 { // else it is dialing again already
		l.backoff.since = now
	}
	at, ok := l.backoff.next(&l.policy, now, l.after)
	l.after = 0
	if !ok {
		l.Err = fmt.Errorf("%w after %d attempts: %w", ErrGaveUp, l.backoff.attempt, loss.Err)
		l.State, loss.GaveUp = Over, true
		return loss, true
	}
	l.State, l.DialAt = Waiting, at
	loss.Attempt, loss.At = l.backoff.attempt, at
	return loss, true
}

// A Policy says when a link that was lost is tried again.
type Policy struct {
	First    lockstep.Time // from the loss to the first attempt; each wait is twice the one before …
	Longest  lockstep.Time // … up to this
	Attempts int           // before the link gives up
	Total    lockstep.Time // from the loss to the last attempt, besides the waits that the server asks for
}

// A backoff counts the attempts of a client since it lost its connection.
type backoff struct {
	attempt int           // how many have begun since the loss
	since   lockstep.Time // the loss
	random  uint64
}

// next returns when the next attempt is due, at the earliest after the wait that the server asked for, or false if
// there is none.
func (b *backoff) next(p *Policy, now, after lockstep.Time) (at lockstep.Time, ok bool) {
	wait := p.First
	for range b.attempt {
		wait = min(2*wait, p.Longest)
	}
	wait = min(wait, p.Longest)
	wait = wait * lockstep.Time(80+b.draw()%41) / 100
	if after > wait {
		b.since += after // the server's wait is not ours
		wait = after
	}
	at = now + wait
	if b.attempt >= p.Attempts || at-b.since > p.Total {
		return 0, false
	}
	b.attempt++
	return at, true
}

// draw returns 32 bits of SplitMix64 (Steele, Lea, Flood 2014).
func (b *backoff) draw() uint64 {
	b.random += 0x9e3779b97f4a7c15
	z := b.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 32
}
