// Package views puts the views of a match together that a server sends to a client which does not simulate.
//
// A [Views] outlives connections, so that there is a picture while there is none. It has no clock and knows no seats or commands.
//
// # States
//
//	blind ──Begin──> awaiting ──Delta, until one is whole──> looking ──Drop──> blind
//	                    ^                                       |
//	                    └───────────────Begin───────────────────┘
//
// A blind connection gets records about seats, which [Views.Keep] keeps, and then how views are made ([Views.Check], [Views.Begin]). Each view
// comes as a difference, in parts ([Views.Delta]). A whole one is to be acknowledged once ([Views.Ack]). A difference of no bytes
// says that the view of a later tick is the same.
//
// [Views.Look] has the last two views, so that a renderer can show what is between them, and beyond the last one for a while.
//
// # Who calls what
//
//	message view_sync         Check; if it is the first of a connection the owner reads Notes; then Begin
//	message view_delta        Delta
//	a record                  Keep, while the connection is blind
//	something may be sent     Ack
//	something is drawn        Look
//	the connection is gone    Drop
//
//samestep:deterministic
package views

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// one is the whole of a fraction.
const one = 1 << 16

// A Views has the last two views.
type Views struct {
	game              *lockstep.Game
	viewer            string
	receiver          *feed.Receiver // nil before view_sync
	current, previous glance
	players           uint8
	Period            lockstep.Time // of a tick
	every             lockstep.Tick // from one view to the next
	Notes             []byte        // of the seats, before view_sync
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

// New returns Views of a match of a game that has them.
func New(g *lockstep.Game) *Views { return &Views{game: g} }

// Blind reports whether no view_sync has come over this connection.
func (v *Views) Blind() bool { return v.receiver == nil }

// Looks reports whether there is a view of this connection.
func (v *Views) Looks() bool { return v.receiver != nil && v.receiver.Number() > 0 }

// Tick returns the tick of the last view.
func (v *Views) Tick() lockstep.Tick { return v.current.tick }

// Drop forgets what has arrived of a connection. The last views stay, for the picture.
func (v *Views) Drop() {
	v.receiver, v.delta, v.total, v.Notes, v.ack = nil, v.delta[:0], 0, v.Notes[:0], false
}

// Keep keeps a record of a blind connection.
func (v *Views) Keep(b []byte) {
	if len(v.Notes) < protocol.MaxServerMessage {
		v.Notes = append(v.Notes, b...)
	}
}

// Check reads the plan of a view_sync.
func (v *Views) Check(m *protocol.Message) (*feed.Plan, error) {
	plan, err := feed.ParsePlan(m.Bytes)
	if err != nil {
		return nil, fmt.Errorf("lockstep: client: %w: view_sync: %w", record.ErrMalformed, err)
	}
	if got, want := plan.Schema().Fingerprint(), v.game.ViewSchema().Fingerprint(); got != want {
		return nil, fmt.Errorf("lockstep: client: %w: view_sync: views of another schema", record.ErrContent)
	}
	return plan, nil
}

// Begin begins the views of a view_sync, and reports whether they are another viewer's than before.
func (v *Views) Begin(plan *feed.Plan, m *protocol.Message) (other bool) {
	v.receiver, v.delta, v.total, v.Notes = feed.NewReceiver(plan), v.delta[:0], 0, v.Notes[:0]
	v.players = m.Players
	v.Period, v.every = lockstep.Time(m.Period), lockstep.Tick(m.Every)
	v.current, v.previous = glance{}, glance{}
	other = v.viewer != m.Text
	v.viewer = m.Text
	return other
}

// A message has room for every delta, and for no larger one.
var _ = [1]struct{}{}[feed.MaxDeltaBytes-protocol.MaxDelta]

// Delta takes a part of a view, and reports whether that is whole, and whether it is the first one.
func (v *Views) Delta(m *protocol.Message, now lockstep.Time) (whole, first bool, err error) {
	if v.receiver == nil {
		return false, false, fmt.Errorf("lockstep: client: %w: a view before view_sync", record.ErrOutOfPlace)
	}
	if m.Offset == 0 {
		v.delta, v.total, v.number = v.delta[:0], m.Total, m.View
	}
	if int(m.Offset) != len(v.delta) || m.Total != v.total || m.View != v.number {
		return false, false, fmt.Errorf("lockstep: client: %w: got byte %d of %d of view %d, want byte %d of %d of view %d", record.ErrMalformed, m.Offset, m.Total, m.View, len(v.delta), v.total, v.number)
	}
	if v.delta = append(v.delta, m.Bytes...); len(v.delta) < int(v.total) {
		return false, false, nil
	}
	first = !v.Looks()
	if v.total > 0 {
		before := v.receiver.Number()
		if err := v.receiver.Apply(feed.Number(m.View), feed.Number(m.Base), v.delta); err != nil {
			return false, false, fmt.Errorf("lockstep: client: %w: %w", record.ErrMalformed, err)
		}
		v.take(m.Tick, now)
		// Views without a change have no number, so the one before was seen until then.
		v.previous.tick = max(v.previous.tick, m.Tick-min(m.Tick, lockstep.Tick(v.receiver.Number()-before)*v.every))
	} else if first {
		return false, false, fmt.Errorf("lockstep: client: %w: nothing new before the first view", record.ErrOutOfPlace)
	} else {
		v.rest(m.Tick, now)
	}
	v.delta, v.total, v.ack = v.delta[:0], 0, true
	return true, first, nil
}

// take makes the receiver's view the current one.
func (v *Views) take(t lockstep.Tick, now lockstep.Time) {
	v.previous, v.current = v.current, glance{v.previous.bytes[:0], t, now}
	v.current.bytes = v.receiver.AppendView(v.current.bytes)
}

// rest makes the current view that of a later tick, too.
func (v *Views) rest(t lockstep.Tick, now lockstep.Time) {
	if t <= v.current.tick {
		return
	}
	v.previous = glance{append(v.previous.bytes[:0], v.current.bytes...), v.current.tick, v.current.at}
	v.current.tick, v.current.at = t, now
}

// Ack takes the acknowledgement that is due.
func (v *Views) Ack(m *protocol.Message) bool {
	if !v.ack {
		return false
	}
	v.ack = false
	*m = protocol.Message{Kind: protocol.KindViewAck, View: uint64(v.receiver.Number()), Tick: v.current.tick}
	return true
}

// A Look is the last two views, and how much of the time between them has passed, of 1 << 16.
type Look struct {
	Viewer       string
	Players      uint8
	Period       lockstep.Time
	Previous     []byte // the same as Current if there is no other
	Current      []byte
	PreviousTick lockstep.Tick
	Tick         lockstep.Tick
	Fraction     uint32
}

// Look returns what is seen, and false before the first view. It goes beyond the last one for a time.
func (v *Views) Look(now, beyond lockstep.Time) (Look, bool) {
	if v.current.bytes == nil {
		return Look{}, false
	}
	s := Look{
		Viewer: v.viewer, Players: v.players, Period: v.Period,
		Previous: v.current.bytes, Current: v.current.bytes, PreviousTick: v.current.tick, Tick: v.current.tick, Fraction: one,
	}
	if v.previous.bytes == nil {
		return s, true
	}
	s.Previous, s.PreviousTick = v.previous.bytes, v.previous.tick
	whole := max(1, lockstep.Time(s.Tick-s.PreviousTick)*v.Period)
	since := min(now-v.current.at, whole+max(0, beyond))
	s.Fraction = uint32(min(since*one/whole, math.MaxUint32))
	return s, true
}

// Memory returns the bytes that it keeps. Nil Views keep none.
func (v *Views) Memory() int {
	if v == nil {
		return 0
	}
	n := 0
	if v.receiver != nil {
		n = v.receiver.Memory()
	}
	return n + cap(v.current.bytes) + cap(v.previous.bytes) + cap(v.delta) + cap(v.Notes)
}
