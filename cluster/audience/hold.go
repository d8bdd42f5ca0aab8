package audience

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// SourceLost is the reason of a [Audience.Hold] while the mirror has no connection to the match.
const SourceLost = "the mirror has lost the match, and tries to find it again"

// A wait says why the match stands still or runs slower.
type wait struct {
	version uint64
	reason  string // "" if it does not
	seats   []byte
	since   lockstep.Time
	until   lockstep.Time // 0 if nobody knows
}

// Hold tells the spectators why the match stands still or runs slower, and nothing any more with an empty reason. since is the
// time for which it has done so; until, if it is not 0, the time that it may last.
func (a *Audience) Hold(now lockstep.Time, reason string, seats []byte, since, until lockstep.Time) {
	a.at(now)
	w := &a.hold
	reason = pack.Clip(reason, record.MaxNote)
	if reason == w.reason && slices.Equal(seats, w.seats) && until == 0 && w.until == 0 {
		return
	}
	*w = wait{version: w.version + 1, reason: reason, seats: slices.Clone(seats), since: a.now - since}
	if until > 0 {
		w.until = a.now + until
	}
	for _, p := range a.peers {
		if p.state != host.Connecting && p.state != host.Closed {
			a.mark(p)
		}
	}
}

// Held returns the reason of the last [Audience.Hold], or "".
func (a *Audience) Held() string { return a.hold.reason }

// appendWait appends what the match waits for, unless the peer knows it.
func (a *Audience) appendWait(p *peer, dst []byte) []byte {
	if p.told == a.hold.version || p.state == host.Connecting || p.state == host.Closed {
		return dst
	}
	p.told = a.hold.version
	w := &a.hold
	a.message = protocol.Message{Kind: protocol.KindHeld, Text: w.reason, Seats: w.seats, UntilMS: milliseconds(w.until - a.now)}
	if w.reason != "" {
		a.message.SinceMS = milliseconds(a.now - w.since)
	}
	return a.writer.Append(dst, &a.message)
}

// milliseconds returns a time in milliseconds, 0 for a negative one.
func milliseconds(t lockstep.Time) uint32 { return uint32(min(max(t, 0).Milliseconds(), 1<<32-1)) }
