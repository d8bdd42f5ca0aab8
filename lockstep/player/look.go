package player

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
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

// A look is the part of a client of views.
type look struct {
	viewer            string
	receiver          *feed.Receiver // nil before view_sync
	current, previous glance
	own               []lockstep.Command // of the last Sight
	players           uint8
	period            lockstep.Time // of a tick
	every             lockstep.Tick // from one view to the next
	notes             []byte        // of the roster, before view_sync
	total             uint32
	delta             []byte // that has arrived of one
	number            uint64
	ack               bool // is due
}

// A glance is one view.
type glance struct {
	bytes []byte
	tick  lockstep.Tick
	at    lockstep.Time // when it came
}

// Sight returns what the client sees, and false before its first view.
func (c *Client) Sight() (Sight, bool) {
	l := c.look
	if l == nil || l.current.bytes == nil {
		return Sight{}, false
	}
	s := Sight{Viewer: l.viewer, Players: l.players, Period: l.period, Previous: l.current.bytes, Current: l.current.bytes, PreviousTick: l.current.tick, Tick: l.current.tick, Fraction: One, Own: c.ownCommands()}
	if l.previous.bytes == nil {
		return s, true
	}
	s.Previous, s.PreviousTick = l.previous.bytes, l.previous.tick
	whole := max(1, lockstep.Time(s.Tick-s.PreviousTick)*l.period)
	since := min(c.clock-l.current.at, whole+max(0, c.options.Extrapolate))
	s.Fraction = Fraction(min(since*lockstep.Time(One)/whole, math.MaxUint32))
	return s, true
}

// ownCommands returns those that the view does not have yet.
func (c *Client) ownCommands() []lockstep.Command {
	list := c.own.Append(c.look.own[:0], c.seat)
	c.payloads.Reset()
	for i := range list {
		if err := c.payloads.Decode(&list[i]); err != nil {
			panic(err) // the client has made it
		}
	}
	c.look.own = list
	return list
}

// looks reports whether the client has a view of this connection.
func (l *look) looks() bool { return l.receiver != nil && l.receiver.Number() > 0 }

// drop forgets what has arrived of a connection. The last views stay, for the picture.
func (l *look) drop() {
	l.receiver, l.delta, l.total, l.notes, l.ack = nil, l.delta[:0], 0, l.notes[:0], false
}

// noted takes a record that a viewer gets.
func (c *Client) noted(b []byte) (rest []byte, err error) {
	dec := record.DecoderAt(c.Tick())
	r, rest, err := dec.Decode(b)
	if err != nil {
		return b, err
	}
	switch l := c.look; {
	case r.Kind == record.KindEnd:
		c.end(r)
	case r.Kind != record.KindNote && r.Kind != record.KindEvent:
		return b, fmt.Errorf("lockstep: client: %w: a record of kind %d for a viewer", record.ErrOutOfPlace, r.Kind)
	case l.receiver != nil:
		c.roster.take(r)
	case len(l.notes) < protocol.MaxServerMessage:
		l.notes = append(l.notes, b[:len(b)-len(rest)]...)
	}
	return rest, nil
}

// viewSync begins the views.
func (c *Client) viewSync(m *protocol.Message) error {
	l := c.look
	plan, err := feed.ParsePlan(m.Bytes)
	if err != nil {
		return fmt.Errorf("lockstep: client: %w: view_sync: %w", record.ErrMalformed, err)
	}
	if got, want := plan.Schema().Fingerprint(), c.game.ViewSchema().Fingerprint(); got != want {
		return fmt.Errorf("lockstep: client: %w: view_sync: views of another schema", record.ErrContent)
	}
	if l.receiver == nil {
		dec := record.DecoderAt(c.Tick())
		h := &lockstep.Header{Settings: lockstep.Settings{Players: m.Players}}
		if err := c.roster.adopt(&dec, l.notes, h); err != nil {
			return err
		}
		l.notes = l.notes[:0]
	}
	l.receiver, l.delta, l.total = feed.NewReceiver(plan), l.delta[:0], 0
	l.players = m.Players
	l.period, l.every = lockstep.Time(m.Period), lockstep.Tick(m.Every)
	l.current, l.previous = glance{}, glance{}
	if l.viewer != m.Text {
		l.viewer = m.Text
		c.tell(Looking{m.Text})
	}
	return nil
}

// A message has room for every delta, and for no larger one.
var _ = [1]struct{}{}[feed.MaxDeltaBytes-protocol.MaxDelta]

// viewDelta takes a part of a view.
func (c *Client) viewDelta(m *protocol.Message) error {
	l := c.look
	if l.receiver == nil {
		return fmt.Errorf("lockstep: client: %w: a view before view_sync", record.ErrOutOfPlace)
	}
	if m.Offset == 0 {
		l.delta, l.total, l.number = l.delta[:0], m.Total, m.View
	}
	if int(m.Offset) != len(l.delta) || m.Total != l.total || m.View != l.number {
		return fmt.Errorf("lockstep: client: %w: got byte %d of %d of view %d, want byte %d of %d of view %d", record.ErrMalformed, m.Offset, m.Total, m.View, len(l.delta), l.total, l.number)
	}
	if l.delta = append(l.delta, m.Bytes...); len(l.delta) < int(l.total) {
		c.in.await(c.clock)
		return nil
	}
	first := !l.looks()
	if l.total > 0 {
		before := l.receiver.Number()
		if err := l.receiver.Apply(feed.Number(m.View), feed.Number(m.Base), l.delta); err != nil {
			return fmt.Errorf("lockstep: client: %w: %w", record.ErrMalformed, err)
		}
		l.take(m.Tick, c.clock)
		// Views without a change have no number, so the one before was seen until then.
		l.previous.tick = max(l.previous.tick, m.Tick-min(m.Tick, lockstep.Tick(l.receiver.Number()-before)*l.every))
	} else if first {
		return fmt.Errorf("lockstep: client: %w: nothing new before the first view", record.ErrOutOfPlace)
	} else {
		l.rest(m.Tick, c.clock)
	}
	c.own.Forget(m.Tick)
	l.delta, l.total, l.ack = l.delta[:0], 0, true
	c.serverTick = max(c.serverTick, m.Tick)
	if first {
		c.catchingUp = false
		c.tell(Synced{m.Tick})
	}
	return nil
}

// take makes the receiver's view the current one.
func (l *look) take(t lockstep.Tick, now lockstep.Time) {
	l.previous, l.current = l.current, glance{l.previous.bytes[:0], t, now}
	l.current.bytes = l.receiver.AppendView(l.current.bytes)
}

// rest makes the current view that of a later tick, too.
func (l *look) rest(t lockstep.Tick, now lockstep.Time) {
	if t <= l.current.tick {
		return
	}
	l.previous = glance{append(l.previous.bytes[:0], l.current.bytes...), l.current.tick, l.current.at}
	l.current.tick, l.current.at = t, now
}

// memory returns the bytes that a client of views keeps.
func (l *look) memory() int {
	if l == nil {
		return 0
	}
	n := 0
	if l.receiver != nil {
		n = l.receiver.Memory()
	}
	return n + cap(l.current.bytes) + cap(l.previous.bytes) + cap(l.delta) + cap(l.notes)
}
