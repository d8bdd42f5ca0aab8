package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A ledger counts what everybody has cost the others, of a plan of attacks: by
// subject, for guests and spectators by address or token, and for the match. What
// it knows comes from what was sent, from the log and from the host's counters.
type ledger struct {
	w        *world
	on       bool
	spent    map[string]*gauge // only looked up, never ranged over
	speaking *wire             // whose message the server is reading
	owners   [256]*wire        // who has a seat
	notes    int               // bytes of all
	reader   protocol.Reader
	m        protocol.Message
}

// A gauge is what is spent of a rate, in its spans; it falls by N in each.
type gauge struct{ level, at lockstep.Time }

// crowd is how many times the limits of one hold for those who share an account,
// and crowds how many times those of keyframes do for all of a match.
const (
	crowd  = 8
	crowds = 32
)

func newLedger(w *world) ledger {
	return ledger{w: w, on: w.plan.Host.Limits, spent: map[string]*gauge{}}
}

// begin forgets all: a server that was started anew has to, too.
func (l *ledger) begin() {
	clear(l.spent)
	l.owners, l.notes = [256]*wire{}, 0
}

// spend counts n things of an account, which may have so many.
func (l *ledger) spend(account, what string, r host.Rate, n int) {
	g := l.spent[account+what]
	if g == nil {
		g = &gauge{at: l.w.now}
		l.spent[account+what] = g
	}
	g.level = max(0, g.level-(l.w.now-g.at)*lockstep.Time(r.N)) + lockstep.Time(n)*r.Per
	g.at = l.w.now
	if most := lockstep.Time(r.Burst) * r.Per; g.level > most {
		l.w.fail("I14", "%s: %d %s more than the limit", account, (g.level-most+r.Per-1)/r.Per, what)
	}
}

// times is n times a rate.
func times(r host.Rate, n int) host.Rate {
	r.N, r.Burst = r.N*n, r.Burst*n
	return r
}

// grant returns what the token of a connection entitles to.
func (wire *wire) grant() host.Grant {
	g := host.Grant{Subject: wire.token, Role: protocol.Seated}
	if wire.m != nil {
		g.Subject = wire.m.token
	} else if visitor, ok := grantOf(wire.token); ok {
		g = visitor
	}
	if g.Subject == "watch" {
		g.Role = protocol.Spectator
	}
	return g
}

// account returns who pays for what a connection costs others, and whether others
// may have a share in it.
func (l *ledger) account(wire *wire) (name string, shared bool) {
	g := wire.grant()
	switch {
	case g.Guest:
		return "the address " + wire.from, true
	case g.Role == protocol.Spectator:
		return "the spectators' token " + g.Subject, true
	}
	return "the player " + g.Subject, false
}

// charge counts what a connection costs its account.
func (l *ledger) charge(wire *wire, what string, r host.Rate, n int) {
	name, shared := l.account(wire)
	if shared {
		r = times(r, crowd)
	}
	l.spend(name, what, r, n)
}

// note takes a note of the log.
func (l *ledger) note(player lockstep.Player, topic string, text []byte) {
	if !l.on || player == lockstep.System {
		return
	}
	l.notes += 16 + len(text)
	if most := l.w.plan.Host.NoteBytes; most > 0 && l.notes > most {
		l.w.fail("I14", "the notes of the match have %d bytes, want at most %d", l.notes, most)
	}
	if topic != record.TopicName && topic != record.TopicChat {
		return // the host's own, about a player
	}
	by := l.speaking
	if by == nil {
		by = l.owners[player] // a name that was written later
	}
	if by == nil {
		l.w.fail("I14", "player %d has written a note, and nobody has the seat", player)
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

// sent takes what is sent over a connection: welcomes, states, and answers.
func (l *ledger) sent(wire *wire, b []byte) {
	if !l.on {
		return
	}
	for len(b) > 0 && !protocol.IsRecord(b) {
		rest, err := l.reader.Read(&l.m, b)
		if err != nil {
			return // others look for that
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

// keyframe counts n bytes of a state: of any size there may be four at once, and in
// a minute at least.
func (l *ledger) keyframe(wire *wire, n, size int) {
	most := l.w.plan.Host.limits().Keyframes
	r := host.Rate{N: max(most.N, size/15), Per: sec, Burst: max(most.Burst, 4*size)}
	l.charge(wire, "bytes of keyframes", r, n)
	if _, shared := l.account(wire); shared {
		l.spend("all who share accounts", "bytes of keyframes", times(r, crowds), n)
	}
}

// told takes an event of the host.
func (l *ledger) told(e *host.Event) {
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

// hear reads a message for the server, and counts the ticks that are computed again
// because of it.
func (l *ledger) hear(wire *wire, read func()) {
	if !l.on {
		read()
		return
	}
	l.speaking = wire
	defer func() { l.speaking = nil }()
	hosted := l.w.server.host
	if wire.m == nil || wire.m.liar == nil {
		read()
		return
	}
	before := hosted.Stats().Retried
	read()
	n := int(hosted.Stats().Retried - before)
	if n == 0 {
		return
	}
	l.w.count("check that was computed again")
	if wire.m.plan.Spectator {
		l.w.fail("I14", "a spectator has %d ticks computed again", n)
	}
	s := &l.w.plan.Settings
	r := host.Rate{N: max(1, int(s.TickRate)/16), Per: sec, Burst: 8 * int(s.CheckEvery)}
	name, _ := l.account(wire)
	l.spend(name, "ticks computed again", r, n)
	l.spend("the match", "ticks computed again", times(r, 2), n)
}
