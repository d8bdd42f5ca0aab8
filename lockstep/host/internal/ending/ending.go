// Package ending says when a match is over, why, and how long its connections stay open then. It is one of the machines of
// lockstep/host.
//
// # States
//
//	             Finish                      ClosesAt
//	goes on ───────────► over, connections open ─────► over, connections closed
//
// The host calls [Ending.Finish] as soon as no tick can follow. There are four ways to that:
//
//   - the rules have ended the match. Its result is in the log. Players may connect until the connections close, to see it
//     ([Ending.Lingers]), and have Policy.EndLinger for that, or Policy.Linger if all have seen the end;
//   - an admin ends it ([Ending.End]), or the host itself because all its players have left for good for Policy.Abandoned
//     ([Ending.Abandoned], which counts from the first player on). The connections close after Policy.Linger;
//   - its log has failed. The error is the reason;
//   - it is suspended ([Ending.Suspend]). Its log has no end, because another host continues it. The host closes the connections at
//     once, and tells the clients when to come back.
//
// # Reasons
//
// [Ending.Reason] is why no tick follows, for the event of the end: the rules come before an admin's reason, and that before the
// error of the log. [Ending.Closing] is what a connection that is closed is told: the error, that the match is suspended, or
// no more than that it has ended, because the log's last record says more.
//
//samestep:deterministic
package ending

import (
	"cmp"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Policy says how long a match stays when its players are gone, or it is over.
type Policy struct {
	Linger    lockstep.Time // to read the end of the match
	EndLinger lockstep.Time // the same after an end by the rules, unless all players have seen it
	Abandoned lockstep.Time // after which a match ends that all players have left for good; 0: never
}

// An Ending is the end of a match, also before it comes.
type Ending struct {
	policy  Policy
	Over    bool
	at      lockstep.Time
	byRules bool
	peopled bool          // a player has had a seat
	leftAt  lockstep.Time // since when all players have left; 0 while one is there
	reason  string        // of End; "" after other ends
	Retry   uint32        // milliseconds after which clients may come back; 0: not suspended
	parting string        // why they are gone until then
}

// New returns the Ending of a match that goes on.
func New(p Policy) *Ending { return &Ending{policy: p} }

// Finish says that no tick follows. byRules says that the rules have ended the match.
func (e *Ending) Finish(now lockstep.Time, byRules bool) {
	e.Over, e.at, e.byRules = true, now, byRules
}

// End says why an end that is now in the log was wanted.
func (e *Ending) End(reason string) { e.reason = pack.Clip(reason, record.MaxNote) }

// Suspend says that another host continues the match. Clients may come back after a time.
func (e *Ending) Suspend(retry lockstep.Time, why string) {
	e.Retry, e.parting = uint32(min(max(retry.Milliseconds(), 1), 1<<31)), why
}

// Peopled says that a player has a seat.
func (e *Ending) Peopled() { e.peopled = true }

// Forgive adds the time of a stall, whose end is now.
func (e *Ending) Forgive(now, late lockstep.Time) { e.at = min(e.at+late, now) }

// ClosesAt returns when the connections of a match that is over are closed. seen says that all players have seen its end.
func (e *Ending) ClosesAt(seen bool) lockstep.Time {
	switch {
	case !e.byRules:
		return e.at + e.policy.Linger
	case seen:
		return e.at + min(e.policy.Linger, e.policy.EndLinger)
	}
	return e.at + e.policy.EndLinger
}

// Lingers reports whether the rules have ended the match and players may still connect to see its end.
func (e *Ending) Lingers(now lockstep.Time, seen bool) bool {
	return e.Over && e.byRules && e.Retry == 0 && now < e.ClosesAt(seen)
}

// Abandoned reports whether a match that goes on should end, because nobody has a seat. If it should do so later, at is when.
func (e *Ending) Abandoned(now lockstep.Time, nobody bool) (ends bool, at lockstep.Time) {
	switch {
	case e.policy.Abandoned == 0 || !e.peopled || !nobody:
		e.leftAt = 0
		return false, lockstep.Time(1<<63 - 1)
	case e.leftAt == 0:
		e.leftAt = now
	}
	at = e.leftAt + e.policy.Abandoned
	return now >= at, at
}

// Reason returns why no tick follows. err is the coordinator's.
func (e *Ending) Reason(err error, byRules bool) string {
	if byRules {
		return coordinator.EndedByRules
	}
	_, text := e.Closing(err)
	return cmp.Or(e.reason, text)
}

// Closing returns what a peer is told whose connection is closed because of the end.
func (e *Ending) Closing(err error) (code protocol.CloseCode, text string) {
	code, text = protocol.CloseEnded, "the match has ended"
	if e.Retry > 0 {
		code, text = protocol.CloseShutdown, e.parting
	}
	if err != nil && err != coordinator.ErrEnded {
		text = pack.Clip(err.Error(), record.MaxNote)
	}
	return code, text
}
