package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
		3*o.MaxBacklog + 16*follow.MaxHashes + 8*answers.MaxTicks +
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
