package views

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// Views are the views of a match. Nil are those of a match without any, which only Await, Due and Memory take.
type Views struct {
	plan        *feed.Plan
	description []byte // of the plan
	settings    *lockstep.Settings
	every       lockstep.Tick // ticks from one view to the next
	budget      int           // bytes of a view; 0: no limit
	list        []*series
	made        lockstep.Tick // of the last views
	due         lockstep.Time // when views are made that were put off; 0 for none
	buffer      []byte
	largest     int // bytes of a view
}

// A series is the views of one viewer, shared by all connections that see as it does.
type series struct {
	viewer   lockstep.Viewer
	sender   *feed.Sender
	tick     lockstep.Tick // of the last view
	err      error         // why there is none
	followed bool          // since the last Make
}

// New returns the views of a match of a game that has some.
func New(g *lockstep.Game, s *lockstep.Settings, every lockstep.Tick, budget int) (*Views, error) {
	plan, err := feed.NewPlan(g.ViewSchema(), g.ViewTags())
	if err != nil {
		return nil, fmt.Errorf("lockstep: host: %w", err)
	}
	v := &Views{plan: plan, description: plan.AppendDescription(nil), settings: s, every: every, budget: budget}
	if len(v.description) > protocol.MaxPlan {
		return nil, fmt.Errorf("lockstep: host: the description of the views has %d bytes, want at most %d", len(v.description), protocol.MaxPlan)
	}
	return v, nil
}

// Identity returns the identity that a viewer's client must have in a match for whose records it must have a.
func (v *Views) Identity(a protocol.Auth) *protocol.Auth {
	a.StateSchema = v.plan.Schema().Fingerprint()
	return &a
}

// Await takes that a tick is durable. It reports whether views may be made at once, and otherwise when to ask Due. records says that
// players get records now, which go first.
func (v *Views) Await(now, period lockstep.Time, records bool) (due bool, wake lockstep.Time) {
	switch {
	case v == nil:
		return false, never
	case !records:
		return true, never
	case v.due == 0:
		v.due = now + period/2
		return false, v.due
	}
	return false, never
}

// Due reports whether views that were put off may be made now, and otherwise when.
func (v *Views) Due(now lockstep.Time) (due bool, wake lockstep.Time) {
	switch {
	case v == nil || v.due == 0:
		return false, never
	case v.due > now:
		return false, v.due
	}
	v.due = 0
	return true, never
}

// Begin reports whether to make views at a tick. now says that somebody cannot wait for the next ones.
func (v *Views) Begin(tick lockstep.Tick, now bool) bool { return now || tick >= v.made+v.every }

// Follow gives a connection the series of a viewer. If it is another one than before, it begins anew.
func (v *Views) Follow(x *Viewing, viewer lockstep.Viewer) {
	if s := x.series; s == nil || s.viewer != viewer {
		i := slices.IndexFunc(v.list, func(s *series) bool { return s.viewer == viewer })
		if i < 0 {
			i = len(v.list)
			v.list = append(v.list, &series{viewer: viewer, sender: feed.NewSender(v.plan)})
		}
		x.begin(v.list[i])
	}
	x.series.followed = true
}

// A Source makes the view of a viewer from the present state, in canonical bytes.
type Source interface {
	AppendView(dst []byte, viewer lockstep.Viewer) ([]byte, error)
}

// Make makes the view of a tick for each series that was followed since the last call, and drops the others.
func (v *Views) Make(tick lockstep.Tick, from Source) {
	v.list = slices.DeleteFunc(v.list, func(s *series) bool { return !s.followed })
	for _, s := range v.list {
		v.made, s.followed = tick, false
		v.make(s, tick, from)
	}
}

// make makes the view of a tick.
func (v *Views) make(s *series, tick lockstep.Tick, from Source) {
	if s.sender.Number() > 0 && s.tick == tick {
		return
	}
	v.buffer, s.err = from.AppendView(v.buffer[:0], s.viewer)
	v.largest = max(v.largest, len(v.buffer))
	if s.err == nil {
		s.err = s.sender.Set(v.buffer, v.budget)
	}
	s.tick = tick
}

// Open appends the description of the views for a connection that does not have it. begin is where its bytes begin in dst. Unless it returns
// true, nothing else may be sent now.
func (v *Views) Open(x *Viewing, dst []byte, w *protocol.Writer, begin, limit int) ([]byte, bool) {
	switch {
	case x.told:
		return dst, true
	case x.series == nil || len(dst) > begin && len(dst)+len(v.description)+record.MaxName > limit:
		return dst, false
	}
	x.told = true
	return w.Append(dst, &protocol.Message{
		Kind: protocol.KindViewSync, Text: x.series.viewer.String(), Players: v.settings.Players, Every: uint16(v.every), Period: v.settings.TickMicros, Bytes: v.description,
	}), true
}

// Memory returns the bytes that the views keep.
func (v *Views) Memory() (n int) {
	if v == nil {
		return 0
	}
	for _, s := range v.list {
		n += s.sender.Memory()
	}
	return n + cap(v.buffer)
}

// Bound returns the most bytes that views like those so far take, with those of connections: a sender keeps its last views and differences
// between them, and a connection one difference. A difference can be larger than a view, by the masks of its rows.
func (v *Views) Bound(connections int) int {
	if v == nil {
		return 0
	}
	most := 2 * (v.largest + 4<<10)
	return (int(v.settings.Players)+1)*4*feed.History*most + connections*2*most
}
