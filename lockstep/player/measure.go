package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/playout"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
)

// measure measures a connection.
type measure struct {
	pingAt    lockstep.Time // when the next ping is due
	nonce     uint64
	sentAt    lockstep.Time // of the ping with that nonce
	awaited   bool
	roundTrip lockstep.Time
	early     int // measurements that are left in which the program may be busy with its start

	repeats, lateFrames uint64

	bytesIn, bytesOut uint64
	inRate, outRate   uint64
	secondAt          lockstep.Time // when the second began that is being counted
	inAt, outAt       uint64
}

// ping returns the nonce of a ping sent now.
func (m *measure) ping(now lockstep.Time) uint64 {
	m.nonce++
	m.sentAt, m.awaited = now, true
	return m.nonce
}

// earlyPings are those in which a client may be busy with its start. None is measured before it has caught up.
const earlyPings = 4

// begin measures a new connection.
func (m *measure) begin(now lockstep.Time) { m.pingAt, m.awaited, m.early = now, false, earlyPings }

// pong updates the round trip. Of the early measurements the least is taken.
func (m *measure) pong(now lockstep.Time, nonce uint64) {
	if !m.awaited || nonce != m.nonce {
		return
	}
	m.awaited = false
	trip := now - m.sentAt
	switch {
	case m.early == earlyPings || m.early > 0 && trip < m.roundTrip:
		m.roundTrip = trip
	case m.early == 0:
		m.roundTrip += (trip - m.roundTrip) / 8
	}
	m.early = max(0, m.early-1)
}

func (m *measure) advance(now lockstep.Time) {
	if now-m.secondAt < lockstep.Second {
		return
	}
	elapsed := uint64(now - m.secondAt)
	m.inRate = (m.bytesIn - m.inAt) * uint64(lockstep.Second) / elapsed
	m.outRate = (m.bytesOut - m.outAt) * uint64(lockstep.Second) / elapsed
	m.secondAt, m.inAt, m.outAt = now, m.bytesIn, m.bytesOut
}

// came tells the pace of the ticks that have come after a tick, and counts the late ones, unless the client catches up.
func (m *measure) came(now lockstep.Time, before lockstep.Tick, in *stream.Stream, pace *playout.Playout, catchingUp bool) {
	if !in.Streaming || in.Tick() <= before {
		return
	}
	paused, _ := in.Paused()
	if late := pace.Came(now, int64(in.Tick()-before), paused); !catchingUp {
		m.lateFrames += uint64(late)
	}
}

// visibleStall is how long the picture stands still until its user sees it.
const visibleStall = 100 * lockstep.Millisecond

// smoothness counts what the user of a client sees of a bad connection.
type smoothness struct {
	watched     lockstep.Time // for how long the match has run
	stood       lockstep.Time // for how long the picture has stood still, up to now
	stalls      int           // times that it stood still for longer than visibleStall
	corrections int           // times that a state on display was replaced by another one of the same tick, because of the connection
	rollbacks   int           // times that the prediction began again, for any reason
}

// pass counts a time in which the match has run, and at whose end the picture stood still for a part of it.
func (s *smoothness) pass(elapsed, still lockstep.Time) {
	s.watched += elapsed
	if still < elapsed {
		s.stood = 0
	}
	if before := s.stood; still > 0 {
		s.stood += still
		if before <= visibleStall && s.stood > visibleStall {
			s.stalls++
		}
	}
}
