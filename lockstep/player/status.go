package player

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Status is the measurements of a client.
type Status struct {
	Stage      Stage
	Seat       lockstep.Player // System without one
	Role       protocol.Role
	Tick       lockstep.Tick // of the confirmed state
	ServerTick lockstep.Tick // the last one that is known to be sealed
	Predicted  lockstep.Tick // of the predicted state; 0 if there is none
	InputDelay lockstep.Tick
	Backlog    lockstep.Tick // ticks that have arrived and not been run
	Speed      int64         // percent of the tick rate

	RoundTrip   lockstep.Time // smoothed
	Jitter      lockstep.Time // mean lateness of arrivals
	RenderDelay lockstep.Time // from a tick's undisturbed arrival to when it is run
	Agreed      int           // checksums of the match that were ours
	Differing   int           // and that were not
	Unanswered  int           // commands

	// What the user sees of the connection. A client that runs ticks as they come, or sees views, does not measure it.
	Watched     lockstep.Time // for how long the match has run here: not paused, and not held for players
	Stalls      int           // times in it that the view stood still for more than 100 ms
	Corrections int           // times that what was predicted turned out to be wrong, and another state of the same tick was shown

	// The state of the connection's datagrams; see [Client.SendDatagram].
	Datagrams       bool   // some have come
	LossIn, LossOut uint32 // lost ones of a million, smoothed: of the server's, and of ours
	Repeats         uint64 // records that came again in a datagram, since the beginning
	LateFrames      uint64 // ticks that came after they should have run, by any way

	BytesIn, BytesOut         uint64 // since the beginning
	BytesInRate, BytesOutRate uint64 // a second, lately
}

// Status returns the measurements of the client.
func (c *Client) Status() Status {
	s := Status{
		Stage: c.Stage(), Seat: c.seat, Role: c.role,
		Tick: c.Tick(), ServerTick: c.serverTick, InputDelay: c.inputDelay, Backlog: c.level(), Speed: c.pace.playing,
		RoundTrip: c.measure.roundTrip, Jitter: c.pace.jitter.mean, RenderDelay: c.pace.delay(),
		Agreed: c.run.agreed, Differing: c.run.differing, Unanswered: len(c.own.list),
		Watched: c.smooth.watched, Stalls: c.smooth.stalls, Corrections: c.smooth.corrections,
		Repeats: c.measure.repeats, LateFrames: c.measure.lateFrames,
		BytesIn: c.measure.bytesIn, BytesOut: c.measure.bytesOut,
		BytesInRate: c.measure.inRate, BytesOutRate: c.measure.outRate,
	}
	if p := c.Predicted(); p != nil {
		s.Predicted = p.Tick()
	}
	if g := c.datagrams; g != nil {
		s.Datagrams, s.LossIn, s.LossOut = g.path.Received(), g.path.LossIn(), g.path.Loss()
	}
	return s
}

// Seats returns the seats that somebody has, by number.
func (c *Client) Seats() []Seat {
	return slices.DeleteFunc(slices.Clone(c.roster.seats), func(s Seat) bool { return s.Presence == Vacant })
}

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
