// Package link measures one connection: whether it is silent, and how long a round trip takes. It is one of the machines of
// lockstep/host, which has a [Link] for each connection.
//
// # States
//
//	             Begin                Ping, at Next            Pong
//	connecting ────────► idle ─────────────────────► pinged ────────► idle
//
// From [Link.Begin] on the host asks [Link.Due] at the time of [Link.Next], and sends a ping with the nonce of [Link.Ping]. The
// connections of a match ping at slightly different intervals, so that not all do at once. Every message that arrives is
// [Link.Heard]. A connection is [Link.Silent] when nothing was heard for the timeout, whatever it was sent.
//
// # Measurements
//
// The answer to the latest ping is a measurement, once ([Link.Pong]). It updates the round trip and its mean deviation as TCP does
// (RFC 6298). There are three exceptions, because they measure something else:
//
//   - a client that is not live yet is busy with a state, so its answers do not count; of the ping on its way when it comes to
//     the present, the answer counts only if there was a measurement before ([Link.Live]);
//   - of the first two measurements of a connection the smaller one is taken: a page may draw for the first time;
//   - after a stall of the host itself the answer on its way does not count ([Link.Forgive]).
//
// RTT is 0 until something was measured.
//
//samestep:deterministic
package link

import "github.com/seed-49bee653/samestep/lockstep"

// A Link is what a host knows of the path to a connection.
type Link struct {
	heard  lockstep.Time // when its last message arrived
	pingAt lockstep.Time // when the next ping is due
	sent   lockstep.Time // of the latest ping
	pinged bool          // a ping is unanswered
	nonce  uint64        // of the latest ping

	RTT, Jitter  lockstep.Time
	measurements int
}

// New returns the Link of a connection that begins now.
func New(now lockstep.Time) Link { return Link{heard: now} }

// Heard says that a message has arrived.
func (l *Link) Heard(now lockstep.Time) { l.heard = now }

// Silent reports whether nothing has arrived for a time.
func (l *Link) Silent(now, timeout lockstep.Time) bool { return now >= l.heard+timeout }

// Begin makes the first ping due.
func (l *Link) Begin(now lockstep.Time) { l.pingAt = now }

// Due reports whether a ping is due.
func (l *Link) Due(now lockstep.Time) bool { return now >= l.pingAt }

// Next returns when a ping is due, or the connection silent.
func (l *Link) Next(timeout lockstep.Time) lockstep.Time { return min(l.heard+timeout, l.pingAt) }

// Ping returns the nonce of a ping that is sent now. The next one is due a little earlier than every, by the connection's id.
func (l *Link) Ping(now, every lockstep.Time, id uint64) (nonce uint64) {
	l.pingAt = now + every - lockstep.Time(id%16)*(every/64)
	l.sent, l.pinged = now, true
	l.nonce++
	return l.nonce
}

// Pong takes an answer. live says that the client is in the present.
func (l *Link) Pong(now lockstep.Time, nonce uint64, live bool) {
	if nonce != l.nonce || !l.pinged {
		return
	}
	if l.pinged = false; live {
		l.measured(now - l.sent)
	}
}

// Live says that the client has come to the present. The answer to a ping from before says how busy it was.
func (l *Link) Live() { l.pinged = l.pinged && l.measurements > 0 }

// Forgive adds the time of a stall, in which no message was read and whose end is now.
func (l *Link) Forgive(now, late lockstep.Time) {
	l.heard = min(l.heard+late, now)
	l.pinged = false // the round trip would include the stall
}

// early are the measurements in which a client may be busy with its start.
const early = 2

// measured updates the round trip with a measurement.
func (l *Link) measured(rtt lockstep.Time) {
	if l.measurements++; l.measurements <= early {
		if l.RTT == 0 || rtt < l.RTT {
			l.RTT, l.Jitter = max(rtt, 1), rtt/2
		}
		return
	}
	off := rtt - l.RTT
	l.Jitter += (max(off, -off) - l.Jitter) / 4
	l.RTT = max(l.RTT+off/8, 1)
}
