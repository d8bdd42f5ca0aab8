package player

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Sight is what a client of views sees: the last two views of the match, and how much of the time between them has passed. The
// views are canonical bytes of the game's view type (see [lockstep.DecodeView]). A Sight is valid until the next call of the
// client.
type Sight struct {
	Viewer       string        // whose views they are, such as "team:1"
	Players      uint8         // seats of the match
	Period       lockstep.Time // of a tick at full speed
	Previous     []byte        // the same as Current if there is no other
	Current      []byte
	PreviousTick lockstep.Tick
	Tick         lockstep.Tick
	Fraction     Fraction // of the time from Previous to Current, beyond One while the next view is late

	// Own are the player's own commands that Current does not have yet, with their values, ascending by sequence. A renderer that
	// shows at once what they will do applies them to what it draws.
	Own []lockstep.Command
}

// Looking: the client sees, for the first time or as another viewer than before. Whatever it knows of entities begins anew.
type Looking struct{ Viewer string }

// Sight returns what the client sees, and false before its first view.
func (c *Client) Sight() (Sight, bool) {
	if c.look == nil {
		return Sight{}, false
	}
	l, ok := c.look.Look(c.clock, c.options.Extrapolate)
	if !ok {
		return Sight{}, false
	}
	c.seen = c.own.Append(c.seen[:0], c.seat)
	c.payloads.Reset()
	for i := range c.seen {
		if err := c.payloads.Decode(&c.seen[i]); err != nil {
			panic(err) // the client has made it
		}
	}
	return Sight{
		Viewer: l.Viewer, Players: l.Players, Period: l.Period, Previous: l.Previous, Current: l.Current,
		PreviousTick: l.PreviousTick, Tick: l.Tick, Fraction: Fraction(l.Fraction), Own: c.seen,
	}, true
}

// noted takes a record that a viewer gets.
func (c *Client) noted(b []byte) (rest []byte, err error) {
	dec := record.DecoderAt(c.Tick())
	r, rest, err := dec.Decode(b)
	if err != nil {
		return b, err
	}
	switch {
	case r.Kind == record.KindEnd:
		c.over = true
		c.tell(endOf(c.game, r))
	case r.Kind != record.KindNote && r.Kind != record.KindEvent:
		return b, fmt.Errorf("lockstep: client: %w: a record of kind %d for a viewer", record.ErrOutOfPlace, r.Kind)
	case c.look.Blind():
		c.look.Keep(b[:len(b)-len(rest)])
	default:
		c.roster.take(r)
	}
	return rest, nil
}

// viewed takes a message about views.
func (c *Client) viewed(m *protocol.Message) error {
	if m.Kind == protocol.KindViewSync {
		plan, err := c.look.Check(m)
		if err != nil {
			return err
		}
		if c.look.Blind() {
			dec := record.DecoderAt(c.Tick())
			h := &lockstep.Header{Settings: lockstep.Settings{Players: m.Players}}
			if err := c.roster.adopt(&dec, c.look.Notes(), h); err != nil {
				return err
			}
		}
		if c.look.Begin(plan, m) {
			c.tell(Looking{m.Text})
		}
		return nil
	}
	whole, first, err := c.look.Delta(m, c.clock)
	if err != nil {
		return err
	}
	if !whole {
		c.in.Await(c.clock)
		return nil
	}
	c.own.Forget(m.Tick)
	c.serverTick = max(c.serverTick, m.Tick)
	if first {
		c.catchingUp = false
		c.tell(Synced{m.Tick})
	}
	return nil
}
