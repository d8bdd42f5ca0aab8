package player

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
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
	Stalls      int           // times in it that the picture stood still for more than 100 ms
	Corrections int           // times that another state of the same tick was shown, because a frame was late or an own command ran in another tick
	Rollbacks   int           // times that the prediction began again: also for commands of others that came in time, and if nothing else was shown

	// The state of the connection's datagrams; see [Client.SendDatagram].
	Datagrams       bool   // they bring the records now; otherwise the stream does
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
		Tick: c.Tick(), ServerTick: c.serverTick, InputDelay: c.in.InputDelay, Backlog: c.run.Level(c.in.Tick()), Speed: c.pace.Speed,
		RoundTrip: c.measure.roundTrip, Jitter: c.pace.Jitter(), RenderDelay: c.pace.Delay(),
		Unanswered: c.own.Len(),
		Watched:    c.smooth.watched, Stalls: c.smooth.stalls, Corrections: c.smooth.corrections, Rollbacks: c.smooth.rollbacks,
		Repeats: c.measure.repeats + c.datagrams.Repeats(), LateFrames: c.measure.lateFrames,
		BytesIn: c.measure.bytesIn, BytesOut: c.measure.bytesOut,
		BytesInRate: c.measure.inRate, BytesOutRate: c.measure.outRate,
	}
	s.Agreed, s.Differing = c.run.Counts()
	if p := c.Predicted(); p != nil {
		s.Predicted = p.Tick()
	}
	if g := c.datagrams; g != nil {
		s.Datagrams = c.link.State == dialing.Up && g.Alive(c.clock)
		s.LossIn, s.LossOut = g.LossIn(), g.Loss()
	}
	return s
}

// Seats returns the seats that somebody has, by number.
func (c *Client) Seats() []Seat {
	return slices.DeleteFunc(slices.Clone(c.roster.seats), func(s Seat) bool { return s.Presence == Vacant })
}

// A Check is what the client knows about the checksums of one checked tick.
type Check = follow.Check

// Differing is a player's checksum that is not the match's.
type Differing = follow.Differing

// Checks returns the latest checks, at most eight, oldest first. The log names only players that differ, so a player without a
// checksum in a Check has agreed, or has not reported one.
func (c *Client) Checks() []Check { return c.run.Checks() }

// MemoryBound returns how many bytes a client keeps at most, whatever a server sends, for a game whose states have at
// most stateBytes:
//
//	4 × (2 × MaxBacklog + one message)          records that wait, with room to grow
//	2 × MaxState                                a state that is arriving
//	2 × (KeepStates + 6) × state                of the past, asked for, and to be computed again
//	3 × MaxBacklog + 96 KiB                     commands of the past, and hashes
//	2 × 256 × MaxPayload + 16 × MaxNote         commands and chat that wait
//	64 × 2 × 1200 + 24 KiB                      records of datagrams that wait for earlier ones, and sums
//	3 × 96 × (1024 + MaxServerMessage/5)        events that wait, with room to grow
//
// and with Views, the last 16 of them and a difference that is arriving:
//
//	2 × (18 × feed.MaxViewBytes + feed.MaxDeltaBytes)
//
// The simulations are not counted: one, another to interpolate, two more to predict, one that differed, until it is
// compared, and one to compute ticks again.
func (c *Client) MemoryBound(stateBytes int) int {
	o, views := &c.options, 0
	if c.look != nil {
		views = 2 * ((feed.History+2)*feed.MaxViewBytes + feed.MaxDeltaBytes)
	}
	return views + 4*(2*o.MaxBacklog+protocol.MaxServerMessage) + 2*o.MaxState + 2*(o.KeepStates+answers.MaxStates+2)*stateBytes +
		3*o.MaxBacklog + flight.MaxBytes + 8*answers.MaxTicks +
		2*record.CommandWindow*lockstep.MaxPayload + outbox.MaxChat*record.MaxNote +
		2*datagram.Window*datagram.MaxSize + datagram.PlayerMemory +
		3*eventBytes*(maxEvents+protocol.MaxServerMessage/minEventMessage)
}

// Memory returns how many of these bytes the client keeps now.
func (c *Client) Memory() int {
	n := c.run.Memory() + c.in.Memory() + eventBytes*(cap(c.events)+cap(c.ready.Events))
	n += c.look.Memory() + c.datagrams.Memory() + c.answers.Memory() + c.own.Memory() + c.out.Memory()
	return n
}
