// Package views makes the views of a match and sends them as differences. A view is what one viewer may see of the state, see
// lockstep/feed. It is one of the machines of lockstep/host.
//
// # Views
//
// A [Views] makes one series of views for each viewer, shared by all connections that see as it does. The host drives a round:
//
//	Await, Due ──► Begin ──► Follow for each connection ──► Make
//
// [Views.Await] comes when a tick is durable. If players get records at the same time, the round is put off by half a tick, so that
// no frame is late because of many viewers; [Views.Due] then says when. [Views.Begin] skips a round that comes sooner than the policy wants.
// [Views.Follow] gives a connection the series of its viewer. A viewer that has changed, as after a change of teams, begins anew.
// [Views.Make] makes the view of each series that is followed, and drops the others. The host begins no round before all
// records are durable, because a crash could take a tick back that somebody has seen.
//
// # A connection
//
// A [Viewing] is what one connection has of its series:
//
//	        Begin              Make, Open             AppendDeltas, Ack
//	new ────────────► waits ─────────────► described ──────────────────► current
//	                    ▲                                                   │
//	                    └───────────── Begin, or another series ────────────┘
//
// [Views.Open] sends the description of the views, and until then nothing may be sent, because notes would seem to be of the
// roster. [Viewing.AppendDeltas] sends differences to the last view sent, in chunks. At most 8 views are unacknowledged; a view with
// nothing new is still sent as an empty difference once in a while, so that the viewer knows the tick. [Viewing.Ack] refuses
// what was never sent. [Viewing.Complete] says that the connection has all of a match that is over.
//
// A viewer gets no records, so [Viewing.Present] tells which changes of the seats it has not been told.
//
//samestep:deterministic
package views

import (
	"cmp"
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

const (
	// maxUnacked is the number of views that a viewer may have without an ack. Then it is sent no more until one comes.
	maxUnacked = 8

	// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
	chunkOverhead = 32
)

// A Viewing is what a connection has of its series.
type Viewing struct {
	series  *series  // nil until the first view
	greeted bool     // Begin was called
	shown   []string // the presence of each seat, as the viewer knows it
	told    bool     // it knows the plan and whose view it gets
	sent    feed.Number
	highest feed.Number   // ever sent on the connection
	tick    lockstep.Tick // the last one that it was told
	unacked []feed.Number // sent, ascending
	delta   []byte        // being sent
	at      int           // bytes of it that were sent
	base    feed.Number
}

// NewViewing returns what a new connection has, in a match with so many seats.
func NewViewing(seats int) *Viewing { return &Viewing{shown: make([]string, seats)} }

// Begin makes the next view a whole one. It reports whether the connection has had none before, and does not know the roster.
func (x *Viewing) Begin() (first bool) {
	first, x.greeted = !x.greeted, true
	x.begin(nil)
	return first
}

// begin begins with the whole view of a series.
func (x *Viewing) begin(s *series) {
	x.series, x.told, x.sent = s, false, 0
	x.delta, x.at, x.unacked = x.delta[:0], 0, x.unacked[:0]
}

// Present takes the presence of a seat, and reports whether the viewer does not know it yet. "" is a vacant seat.
func (x *Viewing) Present(seat lockstep.Player, presence string) (now string, changed bool) {
	now = cmp.Or(presence, record.PresenceVacant)
	changed = x.shown[seat] != now
	x.shown[seat] = now
	return now, changed
}

// Err returns why the connection gets no view.
func (x *Viewing) Err() error {
	if x.series == nil {
		return nil
	}
	return x.series.err
}

// Due reports whether the connection can be sent something of a view. It is told every ackEvery ticks that nothing has changed.
func (x *Viewing) Due(ackEvery lockstep.Tick) bool {
	switch {
	case x.series == nil || x.series.sender.Number() == 0:
		return false
	case x.at < len(x.delta):
		return true
	case len(x.unacked) >= maxUnacked:
		return false
	}
	return x.sent != x.series.sender.Number() || x.series.tick >= x.tick+ackEvery
}

// AppendDeltas appends the next chunks of views. It returns how many views it began, and the bytes of the chunks.
func (x *Viewing) AppendDeltas(dst []byte, w *protocol.Writer, limit int, ackEvery lockstep.Tick) (_ []byte, begun, bytes int) {
	for x.Due(ackEvery) && len(dst)+chunkOverhead < limit {
		if x.at == len(x.delta) {
			x.next()
			begun++
		}
		n := min(protocol.MaxChunk, len(x.delta)-x.at, limit-len(dst)-chunkOverhead)
		dst = w.Append(dst, &protocol.Message{
			Kind: protocol.KindViewDelta, View: uint64(x.sent), Base: uint64(x.base), Tick: x.tick,
			Offset: uint32(x.at), Total: uint32(len(x.delta)), Bytes: x.delta[x.at : x.at+n],
		})
		bytes += n
		if x.at += n; x.at == len(x.delta) && (len(x.unacked) == 0 || x.unacked[len(x.unacked)-1] != x.sent) {
			x.unacked = append(x.unacked, x.sent)
		}
	}
	if x.at == len(x.delta) && cap(x.delta) > protocol.MaxServerMessage {
		x.at, x.delta = 0, nil // a first view is large, and most that follow are small
	}
	return dst, begun, bytes
}

// next begins to send the latest view.
func (x *Viewing) next() {
	s := x.series
	x.at, x.delta, x.base = 0, x.delta[:0], x.sent
	if x.sent != s.sender.Number() {
		base, delta := s.sender.Delta(x.sent)
		x.base, x.delta = base, append(x.delta, delta...)
	}
	x.sent, x.tick = s.sender.Number(), s.tick
	x.highest = max(x.highest, x.sent)
}

// Ack takes a viewer's progress. It returns false for what was not sent.
func (x *Viewing) Ack(view uint64, tick lockstep.Tick) bool {
	if view > uint64(x.highest) || tick > x.tick {
		return false
	}
	n := 0
	for n < len(x.unacked) && x.unacked[n] <= feed.Number(view) {
		n++
	}
	x.unacked = slices.Delete(x.unacked, 0, n)
	return true
}

// Complete reports whether the connection was sent the whole view of a tick.
func (x *Viewing) Complete(tick lockstep.Tick) bool {
	return x.at == len(x.delta) && x.series != nil && x.sent == x.series.sender.Number() && x.series.tick == tick
}

// Memory returns the bytes of a view that is being sent. Nil has none.
func (x *Viewing) Memory() int {
	if x == nil {
		return 0
	}
	return cap(x.delta) + 8*cap(x.unacked)
}
