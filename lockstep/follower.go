package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	"github.com/seed-49bee653/samestep/state"
)

// FollowerOptions set the history and the observer of a Follower.
type FollowerOptions struct {
	History HistoryOptions

	// Observer is called with every event of each tick. Nil disables it.
	Observer func(Tick, any)

	// Workers is on how many processors [Turn.Each] may compute at a time; 0 means as many as save time, at most 8. The result is the same.
	Workers int

	// Stepping is called where each Step of the game begins, with "", at each mark of [Turn.Phase], with its name, and when Step is
	// over, so that the caller, who has a clock, can measure the parts. It only reads the turn. Rules elsewhere give no marks. Nil disables it.
	Stepping func(t *Turn, phase string, over bool)

	// Flight gets what each tick computed, for evidence of desyncs. Several followers of a match may have the same one, one after
	// the other. Nil disables it.
	Flight *flight.Ring

	// Heavy compares the follower with restored copies of itself. The zero value does not.
	Heavy twin.Options
}

// A DesyncError says that the follower's state differs from the log's. The Follower can go on, to see whether the difference stays.
type DesyncError struct {
	Tick     Tick   `json:"tick"`
	Got      uint64 `json:"got,string"`  // our hash
	Want     uint64 `json:"want,string"` // the log's
	Keyframe bool   `json:"keyframe"`    // Want comes from a keyframe, not from a checksum record

	// End says how the end of the match by its rules differs, for people; "" if the state hash does.
	End string `json:"end,omitempty"`
}

func (e *DesyncError) Error() string {
	if e.End != "" {
		return fmt.Sprintf("lockstep: desync at tick %d: %s", e.Tick, e.End)
	}
	return fmt.Sprintf("lockstep: desync at tick %d: got checksum %s, want %s",
		e.Tick, checksum.FormatHash(e.Got), checksum.FormatHash(e.Want))
}

// A Follower computes the states of a match from its log, whose records it takes from the header on. It belongs to one goroutine.
type Follower struct {
	game    *Game
	options FollowerOptions
	dec     record.Decoder
	sim     *Simulation
	header  *Header
	history history
	ended   bool
	stepped bool         // the state was computed here, so its end is known
	prints  []uint64     // memory for those of a tick
	flown   bool         // the flight record goes on from this follower's state
	past    bool         // the log has ticks after the end of the rules
	outrun  *DesyncError // that, until Apply returns it
	checked int          // compared checksums and keyframes
	heavy   heavy

	// The hash of the current state, once it was compared. A log may have many checksums of one tick.
	hash   uint64
	hashed bool
}

// NewFollower returns a Follower of a match of game g, which starts with the log's header.
func (g *Game) NewFollower(o FollowerOptions) *Follower {
	if o.History.Length <= 0 {
		o.History.Length = 64
	}
	return &Follower{game: g, options: o, history: history{ring: make([]Moment, o.History.Length)}, heavy: heavy{Options: o.Heavy}}
}

// NewFollowerAt returns a Follower that continues from the state of sim, in the match with header h.
func (g *Game) NewFollowerAt(h *Header, sim *Simulation, o FollowerOptions) *Follower {
	f := g.NewFollower(o)
	f.header = h
	f.start(sim)
	return f
}

func (f *Follower) start(sim *Simulation) {
	f.sim, f.hashed, f.stepped = sim, false, false
	sim.Observe(f.options.Observer)
	sim.turn.stepping = f.options.Stepping
	if f.options.Workers != 0 {
		sim.Schedule(f.options.Workers, nil)
	}
	sim.turn.flight, f.flown = f.options.Flight, false
	f.keep()
}

// Header returns the match's header, or nil before the follower has it.
func (f *Follower) Header() *Header { return f.header }

// Simulation returns the follower's state, for reading, or nil before the first keyframe.
func (f *Follower) Simulation() *Simulation { return f.sim }

// Tick returns the tick of the follower's state, and 0 before it has one.
func (f *Follower) Tick() Tick {
	if f.sim == nil {
		return 0
	}
	return f.sim.tick
}

// Restore replaces the current state by another one of the same tick, given in canonical bytes.
func (f *Follower) Restore(state []byte) error {
	f.hashed, f.stepped, f.flown = false, false, false
	return f.sim.Restore(f.sim.tick, state)
}

// Memory returns the size in bytes of the past states in the history, and of a twin.
func (f *Follower) Memory() (n int) {
	for i := range f.history.ring {
		n += cap(f.history.ring[i].State)
	}
	if t := f.heavy.twin; t != nil {
		return n + 2*cap(t.before) // and about as much for what was restored from it
	}
	return n + cap(f.heavy.before)
}

// Ended reports whether the end record was applied.
func (f *Follower) Ended() bool { return f.ended }

// Flight returns the record of the latest ticks; nil without one.
func (f *Follower) Flight() *flight.Ring { return f.options.Flight }

// Checked returns how many of the log's checksums and keyframes were compared with the follower's own states. Apply returned the results.
func (f *Follower) Checked() int { return f.checked }

// Append decodes one record and applies it. See [Follower.Apply] for errors.
func (f *Follower) Append(raw []byte) error {
	r, rest, err := f.dec.Decode(raw)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("lockstep: after tick %d: %w: %d bytes after a record", f.Tick(), record.ErrMalformed, len(rest))
	}
	return f.Apply(r)
}

// Apply applies one record. It returns an [*IdentityError] for another game's log, [ErrGap] for a frame that is not the next one, a
// [*DesyncError] for a checksum or keyframe that differs, and a [*PanicError] if the game panics. After a DesyncError the follower can
// go on, and so after the record of a panic, whose tick it computes again; its Simulation is another one then.
func (f *Follower) Apply(r *record.Record) error {
	if f.sim == nil && r.Kind > record.KindKeyframe {
		return fmt.Errorf("lockstep: follower: %w: record %d before the first keyframe", record.ErrOutOfPlace, r.Kind)
	}
	// Not with Frames, whose closure is memory where the compiler does not inline it.
	for frame := r.FrameAfter(r.Tick - r.Ticks()); frame != nil; frame = r.FrameAfter(frame.Tick) {
		if err := f.Advance(frame); err != nil {
			return err
		}
	}
	if err := f.Outrun(); err != nil {
		return err
	}
	switch r.Kind {
	case record.KindHeader:
		return f.begin(r.Header)
	case record.KindKeyframe:
		return f.keyframe(r)
	case record.KindChecksum:
		return f.compare(r.Tick, r.Hash, false)
	case record.KindPanic:
		return f.again(r.Panic)
	case record.KindEnd:
		f.ended = true
		if differs := f.endDifference(r); differs != "" {
			return &DesyncError{Tick: r.Tick, End: differs}
		}
	}
	return nil
}

// rulesDecide reports whether the end of the rules ends a match: they have a result, and there is a referee.
func rulesDecide(h *Header) bool { return len(h.ResultSchema) > 0 && !h.Settings.Relay }

// endDifference says how the follower's end differs from that of an end record, or returns "".
func (f *Follower) endDifference(r *record.Record) string {
	ours, ended := f.sim.Ended()
	switch {
	case !f.stepped || !rulesDecide(f.header):
	case ended && !r.ByRules:
		return "our rules end the match, in the log its server did"
	case !ended && r.ByRules:
		return "in the log the rules end the match, ours do not"
	case ended && string(ours) != string(r.Result):
		return "the result differs: " + f.game.result.difference(ours, r.Result)
	}
	return ""
}

// Outrun returns an error once if ticks have followed the first end of the rules, else nil. Apply calls it. A caller of Advance may.
func (f *Follower) Outrun() *DesyncError {
	e := f.outrun
	f.outrun = nil
	return e
}

func (f *Follower) begin(h *Header) error {
	if f.header != nil {
		return fmt.Errorf("lockstep: follower: %w: a second header", record.ErrOutOfPlace)
	}
	if err := f.game.CheckIdentity(h); err != nil {
		return err
	}
	f.header = h
	return nil
}

func (f *Follower) keyframe(r *record.Record) error {
	if f.header == nil {
		return fmt.Errorf("lockstep: follower: %w: a keyframe before the header", record.ErrOutOfPlace)
	}
	if f.sim != nil {
		return f.compare(r.Tick, r.Keyframe.Hash, true)
	}
	sim, err := f.game.AwaitState(f.header)
	if err != nil {
		return err
	}
	if err := sim.Restore(r.Tick, r.Keyframe.State); err != nil {
		return fmt.Errorf("lockstep: keyframe: %w", err)
	}
	f.start(sim)
	return f.compare(r.Tick, r.Keyframe.Hash, true)
}

// compare compares the log's checksum of tick t with that of the follower's state, if it is still kept.
func (f *Follower) compare(t Tick, want uint64, keyframe bool) error {
	var got uint64
	if m := f.history.find(t); m != nil {
		got = m.Sum.Hash
	} else if t == f.sim.tick {
		if !f.hashed {
			f.hash, f.hashed = f.sim.Hash(), true
		}
		got = f.hash
	} else {
		return nil
	}
	if f.sim.broken != nil {
		return f.sim.broken // the rules did not give the state
	}
	f.checked++
	if got != want {
		return &DesyncError{Tick: t, Got: got, Want: want, Keyframe: keyframe}
	}
	return nil
}

// Advance applies the next frame.
func (f *Follower) Advance(frame *Frame) error {
	if f.sim == nil {
		return fmt.Errorf("lockstep: follower: %w: frame %d before the first keyframe", record.ErrOutOfPlace, frame.Tick)
	}
	f.hashed = false
	if _, ended := f.sim.Ended(); ended && !f.past && rulesDecide(f.header) {
		f.past, f.outrun = true, &DesyncError{Tick: f.sim.tick, End: "our rules end the match, the log goes on"}
	}
	if ring := f.options.Flight; ring != nil {
		if !f.flown { // not before, since another follower may go on until here
			f.flown = true
			ring.Begin(f.header.Match, f.sim.tick)
		}
		ring.Open()
	}
	if err := f.step(frame); err != nil {
		return err
	}
	f.stepped = true
	f.note(frame)
	if f.options.History.EveryTick || f.sim.tick%Tick(f.header.Settings.CheckEvery) == 0 {
		f.keep()
	}
	return nil
}

func (f *Follower) step(frame *Frame) error {
	if f.heavy.Percent <= 0 {
		return f.sim.Step(frame)
	}
	return f.heavy.step(f.sim, frame)
}

// note keeps what the present tick computed.
func (f *Follower) note(frame *Frame) {
	ring := f.options.Flight
	if ring == nil {
		return
	}
	if !ring.Prints(frame.Tick) {
		ring.Note(frame.Tick, frame.Commands, nil, 0)
		return
	}
	var cost int
	f.prints, cost = f.sim.prints(f.prints[:0])
	ring.Note(frame.Tick, frame.Commands, f.prints, cost)
}

// again computes the tick of a panic in the log once more, from the follower's state. The follower goes on with a copy of its state.
func (f *Follower) again(p *record.Panic) error {
	before, err := f.game.AwaitState(f.header)
	if err == nil {
		err = before.CopyFrom(f.sim)
	}
	if err != nil {
		return err
	}
	before.observer, before.turn.observed, before.turn.stepping = f.sim.observer, f.sim.turn.observed, f.sim.turn.stepping
	before.turn.flight = f.sim.turn.flight
	before.scheduleAs(f.sim)
	f.sim.Observe(nil)
	f.sim.turn.stepping, f.sim.turn.flight = nil, nil
	err = f.sim.Step(&p.Frame)
	f.sim, f.hashed = before, false
	return err
}

func (f *Follower) keep() {
	m := f.history.next(f.sim.tick)
	f.sim.Sum(&m.Sum)
	if f.options.History.States {
		m.State = f.sim.AppendState(m.State[:0])
	}
}

// ReleaseStates drops the states before tick t from the history, but not their checksums. With HistoryOptions.EveryTick it does nothing.
func (f *Follower) ReleaseStates(t Tick) {
	if !f.options.History.EveryTick {
		f.history.release(t)
	}
}

// Moment returns the history of tick t, or nil if it is not kept. It is valid until the next tick.
func (f *Follower) Moment(t Tick) *Moment { return f.history.find(t) }

// MomentFrom returns the first kept moment at or after tick t, or nil. It is valid until the next tick.
func (f *Follower) MomentFrom(t Tick) *Moment { return f.history.since(t) }

// Sum returns the checksum of the state after tick t, if it is still kept. It is valid until the next tick.
func (f *Follower) Sum(t Tick) (*checksum.Sum, bool) {
	m := f.history.find(t)
	if m == nil {
		return nil, false
	}
	return &m.Sum, true
}

// State returns the canonical bytes of the state after tick t, or nil if they are not kept. They are valid until the next tick.
func (f *Follower) State(t Tick) []byte {
	if m := f.history.find(t); m != nil {
		return m.State
	}
	return nil
}

// HistoryOptions set how much of a simulation's past to keep.
type HistoryOptions struct {
	// Length is the number of moments to keep; 0 means 64.
	Length int

	// EveryTick keeps every tick, not only the checked ones. It costs a checksum each tick.
	EveryTick bool

	// States keeps the canonical bytes of states, not only their checksums: a snapshot for each moment, and Length times a state's size.
	States bool
}

// A Moment is the history of one tick.
type Moment struct {
	Tick  Tick
	Sum   checksum.Sum
	State []byte // canonical bytes; nil if they are not kept
}

type history struct {
	ring  []Moment
	first int // of the oldest
	n     int
	spare []byte // memory for the next state
}

// next returns the moment to fill for tick t. It reuses the oldest one.
func (h *history) next(t Tick) *Moment {
	m := &h.ring[(h.first+h.n)%len(h.ring)]
	if h.n < len(h.ring) {
		h.n++
	} else {
		h.first = (h.first + 1) % len(h.ring)
	}
	m.Tick = t
	if m.State == nil {
		m.State, h.spare = h.spare, nil
	}
	return m
}

func (h *history) release(t Tick) {
	for i := range h.n {
		m := h.at(i)
		if m.Tick >= t {
			return
		}
		if m.State != nil {
			m.State, h.spare = nil, m.State
		}
	}
}

func (h *history) at(i int) *Moment { return &h.ring[(h.first+i)%len(h.ring)] }

func (h *history) find(t Tick) *Moment {
	if m := h.since(t); m != nil && m.Tick == t {
		return m
	}
	return nil
}

func (h *history) since(t Tick) *Moment {
	lo, hi := 0, h.n
	for lo < hi {
		mid := (lo + hi) / 2
		if h.at(mid).Tick < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < h.n {
		return h.at(lo)
	}
	return nil
}

// A Divergence tells where two copies of a match begin to differ: at the first tick that both histories keep and that differs.
type Divergence struct {
	Tick    Tick
	Agreed  Tick   // the last tick before it that both keep and that agrees
	Known   bool   // Agreed is set; otherwise the copies may differ from an earlier tick on
	Section string // the first section that differs
	Fields  state.Differences
}

// Diverged compares the histories of two followers; false if no kept tick differs. Fields has at most limit fields, if both keep states.
func Diverged(a, b *Follower, limit int) (Divergence, bool) {
	var d Divergence
	for i := range a.history.n {
		m := a.history.at(i)
		o := b.history.find(m.Tick)
		if o == nil {
			continue
		}
		if m.Sum.Hash == o.Sum.Hash {
			d.Agreed, d.Known = m.Tick, true
			continue
		}
		d.Tick = m.Tick
		first, _ := checksum.Compare(m.Sum, o.Sum, a.game.stateSchema)
		d.Section = first.Name
		if m.State != nil && o.State != nil {
			fields, err := a.game.stateSchema.Diff(m.State, o.State, limit)
			if err != nil {
				panic(err) // our own snapshots are canonical
			}
			d.Fields = fields
		}
		return d, true
	}
	return d, false
}
