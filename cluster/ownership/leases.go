package ownership

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Leases say which server should take a match, from what one server sees of the leases of all of them. A lease is a key
// that its server renews every [Leases.Period]; the storage numbers all renewals with rising revisions, and every server
// sees them in this order.
//
// The lease of another server has expired if this server has seen no renewal of it for a lease time, in which it has renewed its
// own lease all the time. A key that is gone proves nothing: while the storage is away, nobody can renew, and all
// keys expire. Then each server has to renew for a lease time before it takes anything.
//
// All times are of this server's own clock, and no two clocks are compared. Only witnesses prove that time has passed: renewals
// of this server that are stored, and that it has seen among the others. The time from seeing one to
// sending another is at most the time between both in the storage, however late its answers are.
type Leases struct {
	name  string
	lease lockstep.Time

	renewed bool
	mine    lockstep.Time // when the last stored renewal of this server was sent
	seen    uint64        // the last revision of this server that it has seen
	sent    []renewal     // stored, but not seen yet; at most maxSent
	last    lockstep.Time // when the last witness was sent; with began

	silence         // of a server that was never seen
	others  []other // by name
}

const (
	renewals = 5  // in a lease time
	maxSent  = 16 // renewals that a server remembers until it sees them
	forget   = 16 // lease times after which an expired server is forgotten
)

// A renewal is one of this server's own.
type renewal struct {
	revision uint64
	sent     lockstep.Time
}

// A silence is the time in which a server has not renewed its lease.
type silence struct {
	began   bool
	from    lockstep.Time // when the first witness was seen
	over    bool          // a lease time has passed since
	expired lockstep.Time // when that was noticed
}

// An other is what is known of another server.
type other struct {
	name     string
	revision uint64 // of its last renewal; 0: unknown
	silence
}

// NewLeases returns the Leases of a server that has seen nothing. name is its own key.
func NewLeases(name string, lease lockstep.Time) *Leases {
	return &Leases{name: name, lease: lease}
}

// Period returns the time between two renewals of a server.
func (l *Leases) Period() lockstep.Time { return l.lease / renewals }

// gap returns the longest time between two witnesses that follow each other. A lease time has three or more.
func (l *Leases) gap() lockstep.Time { return l.lease / 2 }

// Renewed tells that a renewal of this server is stored, with its revision. sent is the time before it was sent.
func (l *Leases) Renewed(revision uint64, sent, now lockstep.Time) {
	if n := len(l.sent); n > 0 && revision <= l.sent[n-1].revision || revision < l.seen {
		l.Failed() // the storage has begun anew
		l.seen = 0
	}
	l.renewed, l.mine = true, sent
	if len(l.sent) == maxSent {
		l.sent = slices.Delete(l.sent, 0, 1)
	}
	l.sent = append(l.sent, renewal{revision, sent})
	l.witness(now)
}

// Failed tells that a renewal of this server failed, or got no answer for a [Leases.Period] or two. The others may have been unable to
// renew as well, so all begin anew.
func (l *Leases) Failed() {
	l.sent, l.silence = nil, silence{}
	for i := range l.others {
		l.others[i] = other{name: l.others[i].name}
	}
}

// Seen tells that this server has seen the renewal of a server, which may be itself.
func (l *Leases) Seen(server string, revision uint64, now lockstep.Time) {
	if server == l.name {
		l.seen = max(l.seen, revision)
		l.witness(now)
		return
	}
	if o := l.other(server); revision > o.revision { // otherwise it is a repetition
		*o = other{name: server, revision: revision}
	}
}

// Left tells that another server has given up its lease, and wants others to take its matches.
func (l *Leases) Left(server string, now lockstep.Time) {
	if server != l.name {
		o := l.other(server)
		o.silence = silence{began: true, from: now, over: true, expired: now}
	}
}

// witness looks for renewals of this server that are stored and seen.
func (l *Leases) witness(now lockstep.Time) {
	for len(l.sent) > 0 && l.sent[0].revision <= l.seen {
		r := l.sent[0]
		l.sent = slices.Delete(l.sent, 0, 1)
		if l.began && now-l.last > l.gap() {
			sent := l.sent
			l.Failed() // this server was away, or the storage
			l.sent = sent
		}
		l.last = r.sent
		l.silence.witness(r.sent, now, l.lease)
		for i := range l.others {
			if o := &l.others[i]; o.revision < r.revision { // otherwise it was stored before the other's
				o.silence.witness(r.sent, now, l.lease)
			}
		}
	}
	l.others = slices.DeleteFunc(l.others, func(o other) bool { return o.over && now-o.expired > forget*l.lease })
}

// witness notes a witness.
func (s *silence) witness(sent, now, lease lockstep.Time) {
	switch {
	case !s.began:
		s.began, s.from = true, now
	case !s.over && sent-s.from >= lease:
		s.over, s.expired = true, now
	}
}

// other returns what is known of another server, from now on.
func (l *Leases) other(server string) *other {
	i, there := l.find(server)
	if !there {
		l.others = slices.Insert(l.others, i, other{name: server})
	}
	return &l.others[i]
}

func (l *Leases) find(server string) (at int, there bool) {
	return slices.BinarySearchFunc(l.others, server, func(o other, name string) int { return strings.Compare(o.name, name) })
}

// of returns the silence of another server.
func (l *Leases) of(server string) silence {
	if i, there := l.find(server); there {
		return l.others[i].silence
	}
	return l.silence
}

// Expired reports whether the lease of another server has expired. One that this server has never seen, or has forgotten, has a
// lease until this server has renewed its own one for a lease time.
func (l *Leases) Expired(server string, now lockstep.Time) bool {
	return server != l.name && l.began && now-l.last <= l.gap() && l.of(server).over
}

// Since returns the moment at which this server noticed that the lease of another one had expired, as it has.
func (l *Leases) Since(server string) lockstep.Time { return l.of(server).expired }

// Mine reports whether this server's own lease has not expired for any other server. Without it, a server takes no match. The
// owner of a match needs no lease: as long as its log does not say otherwise, nobody has taken the match.
func (l *Leases) Mine(now lockstep.Time) bool { return l.renewed && now-l.mine < l.lease }

// Turn reports whether this server should take a match that has had no server since a moment, such as [Leases.Since] its server. able
// are the servers that could run it; those whose lease has expired do not count. Each match has another order of
// them: the turn of the first one begins at once, and that of each other one a quarter of a lease time after the one
// before it.
func (l *Leases) Turn(match string, able []string, since, now lockstep.Time) bool {
	if !l.Mine(now) || !slices.Contains(able, l.name) {
		return false
	}
	begins, mine := since, weight(match, l.name)
	for _, name := range able {
		w := weight(match, name)
		if (w > mine || w == mine && name < l.name) && !l.Expired(name, now) {
			begins += l.lease / 4
		}
	}
	return now >= begins
}

// weight gives each match another order of the servers: the heaviest one is the first.
//
//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func weight(match, server string) uint64 { return xxhash.Sum64([]byte(match + "\x00" + server)) }
