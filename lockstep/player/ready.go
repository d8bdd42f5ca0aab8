package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
)

// A Ready is what a Client wants done. Its memory is used again by the next call of [Client.Ready].
type Ready struct {
	Events []any         // in the order in which they happened; see [Dialing] and the types after it
	Next   lockstep.Time // when to call Advance, unless something else is called before
}

const (
	// maxEvents is how many events wait before the client stops running records until the next call of Advance, and how
	// many an empty queue keeps memory for. One message of a server can add more.
	maxEvents = 1 << 10

	minEventMessage = 5  // bytes of the shortest message that makes an event: an error without texts
	eventBytes      = 96 // about the size of an event
)

// Ready returns what happened since its last call, and when the client wants to be called again. The owner calls it
// after each other method, until it returns no events: what the owner does because of an event can make more. Whether
// there is something to send is not in it, because only the owner knows when the connection takes more; see
// [Client.Send].
func (c *Client) Ready() *Ready {
	r := &c.ready
	clear(r.Events)
	if r.Events, c.events = c.events, r.Events[:0]; cap(c.events) > maxEvents {
		c.events = nil
	}
	at := c.clock + lockstep.Second
	switch c.link.State() {
	case dialing.Waiting:
		at = min(at, c.link.DialAt())
	case dialing.Greeting, dialing.Up:
		at = min(at, c.line.SilentAt(), c.line.Due(c.patience()))
		if c.link.State() == dialing.Up {
			at = min(at, c.measure.pingAt, c.datagrams.Wake(c.clock, c.own.Pending()))
		}
	}
	if c.link.State() == dialing.Up && !c.catchingUp {
		at = min(at, c.answers.Due())
	}
	level := int64(c.run.Level(c.in.Tick()))
	if waiting := c.run.Untimed(); c.link.Err() == nil && (level > 0 || waiting || c.pace.Owed() < c.mostOwed()) {
		if c.catchingUp || waiting {
			r.Next = c.now
			return r
		}
		at = min(at, c.pace.Next(level))
	}
	r.Next = c.now + max(0, at-c.clock)
	return r
}

func (c *Client) tell(e any) { c.events = append(c.events, e) }
