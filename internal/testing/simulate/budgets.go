package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// budgets checks what each account costs others in a plan with attacks: a subject,
// the address of guests, the token of spectators, and the match. It counts sent
// messages, the log and the host's counters.
type budgets struct {
	w       *world
	on      bool
	spent   map[string]*bucket // only looked up, never ranged over
	sender  *wire              // of the message that the server reads
	owners  [256]*wire         // of seats
	notes   int                // bytes of all notes
	largest int                // bytes of a keyframe
	reader  protocol.Reader
	m       protocol.Message
}

// A bucket is a leaky bucket. Its level falls by N in each period of the rate.
type bucket struct{ level, at lockstep.Time }

// sharedFactor multiplies the limits of a subject for a shared account, and
// matchFactor those of keyframes for all shared accounts of a match.
const (
	sharedFactor = 8
	matchFactor  = 32
)

func newBudgets(w *world) budgets {
	return budgets{w: w, on: w.plan.Host.Limits, spent: map[string]*bucket{}}
}

// reset forgets everything, as a restarted server does.
func (l *budgets) reset() {
	clear(l.spent)
	l.owners, l.notes = [256]*wire{}, 0
}

// spend counts n units of an account against a rate.
func (l *budgets) spend(account, what string, r host.Rate, n int) {
	g := l.spent[account+what]
	if g == nil {
		g = &bucket{at: l.w.now}
		l.spent[account+what] = g
	}
	g.level = max(0, g.level-(l.w.now-g.at)*lockstep.Time(r.N)) + lockstep.Time(n)*r.Per
	g.at = l.w.now
	// The Host refills its buckets in whole units, so it may be one unit ahead of this one.
	if most := (lockstep.Time(r.Burst) + 1) * r.Per; g.level > most {
		l.w.fail("I14", "%s: %d %s more than the limit", account, (g.level-most+r.Per-1)/r.Per, what)
	}
}

// times returns n times a rate.
func times(r host.Rate, n int) host.Rate {
	r.N, r.Burst = r.N*n, r.Burst*n
	return r
}

// grant returns the grant of a connection's token.
func (wire *wire) grant() host.Grant {
	g := host.Grant{Subject: wire.token, Role: protocol.Seated}
	if wire.m != nil {
		g.Subject = wire.m.token
	} else if granted, ok := grantOf(wire.token); ok {
		g = granted
	}
	if g.Subject == "watch" {
		g.Role = protocol.Spectator
	}
	return g
}

// account returns the account that pays for a connection, and whether others may
// share it.
func (l *budgets) account(wire *wire) (name string, shared bool) {
	g := wire.grant()
	switch {
	case g.Guest:
		return "the address " + wire.from, true
	case g.Role == protocol.Spectator:
		return "the spectators' token " + g.Subject, true
	}
	return "the player " + g.Subject, false
}

// charge charges the account of a connection.
func (l *budgets) charge(wire *wire, what string, r host.Rate, n int) {
	name, shared := l.account(wire)
	if shared {
		r = times(r, sharedFactor)
	}
	l.spend(name, what, r, n)
}

// note counts a note of the log.
func (l *budgets) note(player lockstep.Player, topic string, text []byte) {
	if !l.on || int(player) >= int(l.w.plan.Settings.Players)-l.w.plan.Host.Bots || topic == record.EventSubstitute {
		return
	}
	l.notes += 16 + len(text)
	if most := l.w.plan.Host.NoteBytes; most > 0 && l.notes > most {
		l.w.fail("I14", "the notes of the match have %d bytes, want at most %d", l.notes, most)
	}
	if topic != record.TopicName && topic != record.TopicChat && topic != record.TopicReady {
		return // by the host, about a player
	}
	by := l.sender
	if by == nil {
		by = l.owners[player] // a name that the host wrote later
	}
	if by == nil {
		l.w.fail("I14", "player %d has written a note, and the seat is free", player)
		return
	}
	match := host.Rate{N: 16, Per: sec, Burst: 64}
	l.charge(by, "notes", host.Rate{N: 1, Per: sec, Burst: 8}, 1)
	l.spend("the match", "notes", match, 1)
	if _, shared := l.account(by); shared {
		match.Burst /= 2
		if l.spent["the match"+"notes"].level > lockstep.Time(match.Burst)*match.Per {
			l.w.fail("I14", "%s has written a note of the half that is for others", by.grant().Subject)
		}
	}
	if topic == record.TopicChat {
		l.spend("the subject "+by.grant().Subject, "lines of chat", host.Rate{N: 1, Per: sec, Burst: 5}, 1)
	}
}

// sent counts the welcomes, states and receipts that the server sends.
func (l *budgets) sent(wire *wire, b []byte) {
	if !l.on {
		return
	}
	for len(b) > 0 && !protocol.IsRecord(b) {
		rest, err := l.reader.Read(&l.m, b)
		if err != nil {
			return // another check reports that
		}
		b = rest
		switch m := &l.m; m.Kind {
		case protocol.KindWelcome:
			if m.Welcome.Seat != lockstep.System {
				l.charge(wire, "welcomes", host.Rate{N: 20, Per: 60 * sec, Burst: 20}, 1)
			}
		case protocol.KindStateSync:
			l.keyframe(wire, len(m.Bytes), int(m.Total))
		case protocol.KindCommandAccepted, protocol.KindCommandRejected:
			if wire.m == nil && (m.Kind == protocol.KindCommandAccepted || m.Reason != lockstep.RateLimited) {
				l.charge(wire, "commands", host.Rate{N: 50, Per: sec, Burst: 300}, 1)
			}
		}
	}
}

// keyframe counts n bytes of a state. A subject may receive at least four states at
// once, and four more per minute, whatever their size. The sizes differ, so the largest
// one so far counts.
func (l *budgets) keyframe(wire *wire, n, size int) {
	most := l.w.plan.Host.limits().Keyframes
	l.largest = max(l.largest, size)
	r := host.Rate{N: max(most.N, l.largest/15), Per: sec, Burst: max(most.Burst, 4*l.largest)}
	l.charge(wire, "bytes of keyframes", r, n)
	if _, shared := l.account(wire); shared {
		l.spend("all shared accounts", "bytes of keyframes", times(r, matchFactor), n)
	}
}

// observe follows the events of the host.
func (l *budgets) observe(e *host.Event) {
	wire := l.w.server.byID[e.Peer]
	if !l.on || wire == nil {
		return
	}
	switch e.Kind {
	case host.PeerJoined, host.PeerResumed:
		l.owners[e.Player] = wire
	case host.PeerSynced:
		if e.Text == "asked for" {
			l.charge(wire, "keyframes that were asked for", host.Rate{N: 4, Per: 60 * sec, Burst: 4}, 1)
		}
	}
}

// receive lets the server read a message, and counts the ticks that it re-simulates
// for it.
func (l *budgets) receive(wire *wire, read func()) {
	if !l.on {
		read()
		return
	}
	l.sender = wire
	defer func() { l.sender = nil }()
	hosted := l.w.server.host
	if wire.m == nil || wire.m.liar == nil {
		read()
		return
	}
	before := hosted.Stats().Resimulated
	read()
	n := int(hosted.Stats().Resimulated - before)
	if n == 0 {
		return
	}
	l.w.count("check that was computed again")
	if wire.m.plan.Spectator {
		l.w.fail("I14", "a spectator has %d ticks computed again", n)
	}
	s := &l.w.plan.Settings
	r := host.Rate{N: max(1, int(s.TickRate())/16), Per: sec, Burst: 8 * int(s.CheckEvery)}
	name, _ := l.account(wire)
	l.spend(name, "ticks computed again", r, n)
	l.spend("the match", "ticks computed again", times(r, 2), n)
}
