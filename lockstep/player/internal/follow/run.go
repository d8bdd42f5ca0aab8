// Package follow runs the records of a match that have arrived, keeps its past, and compares it with what the log says.
//
// A [Run] has the player's follower, which it owns, and the records that wait. It has no clock: its owner says how many ticks
// may run. It knows neither seats nor commands: the owner takes frames and records from it, and does with them what is not about
// the simulation.
//
// # Ticks
//
//	none ──Begin, with a state──> following ──Begin, with another state──> following
//
// [Run.Push] queues a record. [Run.Next] returns what comes next: a frame, which the owner runs ([Run.Step], then [Run.Ticked]), or a
// record between ticks ([Run.Apply]). It returns neither when no more ticks may run and the next record needs one, when nothing
// waits, or while the owner has too much to tell. [Run.Discard] drops what waits.
//
// # Checks
//
//	agrees ──(the log's checksum is another, or the server says so)──> diverged ──(a later check agrees)──> agrees
//
// Only the first mismatch in a row is told, as [Desynced], and the end of it as [Healed]. The state that differs is kept
// ([Run.KeepWrong]) when the server's state replaces it, and is compared as soon as that one has the same tick: [Explained]. What the log
// says of others is gathered until their check is closed, and told as [Mismatch] once. [Run.Checks] has the latest of all.
//
// # The past
//
// The follower keeps some checked states; the tape has the commands of all ticks after the oldest of them, and [Run.Ring] is
// the record of what the latest ticks computed. So [Run.Past] can say how the ticks from a state on were computed, for a referee.
//
// # Who calls what
//
//	a state has arrived       Lag, the owner runs so many ticks, KeepWrong; then Begin
//	a record has arrived      Push
//	ticks are due             Next until it returns nothing; for a frame Step and Ticked, for a record Apply
//	the server reports        Differs
//	the connection is gone    CloseCheck
//
// After each of them [Run.Events] has what is to be told, in its order.
//
//samestep:deterministic
package follow

import (
	"errors"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Options say what a Run keeps.
type Options struct {
	Game     *lockstep.Game
	States   int  // checked states that the follower keeps
	Tape     int  // bytes of commands of these ticks
	Previous bool // the state before the present one

	// Log is called with each record before it is run; nil disables it. The bytes are valid until it returns.
	Log func(raw []byte)
}

// A Run runs the records that have arrived.
type Run struct {
	options  Options
	Follower *lockstep.Follower
	dec      record.Decoder
	backlog  backlog
	ticks    *record.Record // the present frame or run of empty ticks, or nil
	Previous *lockstep.Simulation
	tape     tape         // the commands of the ticks that the follower's kept states reach
	Ring     *flight.Ring // of all followers
	full     bool         // records wait because the owner has too much to tell

	agreed     int // checksums of the log that are ours
	differing  int
	counted    lockstep.Tick        // of the last checksum that is in agreed
	diverged   bool                 // at the last one, or the server says so
	parted     lockstep.Tick        // the check that was the first to differ
	wrong      *lockstep.Simulation // the state that differed, until it is compared
	mismatches mismatches
	checks     checks
	events     []any
}

// New returns a Run without a state.
func New(o Options) Run { return Run{options: o, Ring: new(flight.Ring)} }

// Begin goes on from the state of f, where a decoder stands in the stream.
func (r *Run) Begin(f *lockstep.Follower, at *record.Decoder) {
	r.Follower, r.dec = f, at.Clone()
	r.Previous = nil
	r.tape.begin(f.Tick())
	r.Discard()
	r.explain()
}

// every returns the number of ticks between two checked ones.
func (r *Run) every() lockstep.Tick { return lockstep.Tick(r.Follower.Header().Settings.CheckEvery) }

// Push queues a record.
func (r *Run) Push(b []byte) { r.backlog.push(b) }

// Waiting returns the bytes of the records that wait.
func (r *Run) Waiting() int { return r.backlog.len() }

// Discard forgets the records that have arrived.
func (r *Run) Discard() {
	r.full = false
	r.backlog.clear()
	r.ticks = nil
}

// Level returns how many ticks have arrived and not been run, where the stream has arrived up to a tick. A broken or dropped stream
// gets no more.
func (r *Run) Level(arrived lockstep.Tick) lockstep.Tick {
	if r.Follower == nil || r.backlog.len() == 0 && r.frame() == nil {
		return 0
	}
	return max(arrived, r.dec.Tick()) - r.Follower.Tick()
}

// Untimed reports whether records wait that wait for no tick: such as a line of chat, or those that came while the owner had too much to
// tell.
func (r *Run) Untimed() bool { return r.full || r.untimed() }

func (r *Run) untimed() bool {
	b := r.backlog.bytes()
	return r.Follower != nil && len(b) > 0 && r.frame() == nil && !record.KindOf(b).Advances()
}

// frame returns the frame of the next tick, if the record decoded last has it. A frame's memory is the backlog's, so it
// is run before the next push; a run of empty ticks may wait.
func (r *Run) frame() *lockstep.Frame {
	if r.ticks == nil {
		return nil
	}
	return r.ticks.FrameAfter(r.Follower.Tick())
}

// Next returns the frame or the record that comes next, or neither. No frame may run if n is 0, and nothing more if the owner is full.
func (r *Run) Next(n int64, full bool) (*lockstep.Frame, *record.Record, error) {
	if f := r.frame(); f != nil {
		if n == 0 {
			return nil, nil, nil
		}
		return f, nil, nil
	}
	b := r.backlog.bytes()
	r.full = len(b) > 0 && full
	if len(b) == 0 || r.full || n == 0 && record.KindOf(b).Advances() {
		return nil, nil, nil
	}
	rec, rest, err := r.dec.Decode(b)
	if err != nil {
		return nil, nil, err
	}
	if r.options.Log != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		r.options.Log(b[:len(b)-len(rest)])
	}
	r.backlog.pop(len(b) - len(rest))
	r.ticks = rec
	return nil, rec, nil
}

// Step runs one tick; last says that it is the last before the state is looked at.
func (r *Run) Step(f *lockstep.Frame, last bool) (err error) {
	if r.options.Previous && last {
		if r.Previous == nil {
			if r.Previous, err = r.options.Game.AwaitState(r.Follower.Header()); err != nil {
				return err
			}
		}
		if err := r.Previous.CopyFrom(r.Follower.Simulation()); err != nil {
			return err
		}
	}
	if err := r.Follower.Advance(f); err != nil {
		return err
	}
	if d := r.Follower.Outrun(); d != nil {
		r.Differs(Desynced{Tick: d.Tick, End: d.End})
	}
	return nil
}

// Ticked keeps the past of a tick that has run, and reports whether it is a checked one.
func (r *Run) Ticked(f *lockstep.Frame) (checked bool) {
	r.explain()
	r.tape.add(f, r.options.Tape)
	if checked = f.Tick%r.every() == 0; checked {
		r.tape.forget(r.Follower.MomentFrom(0).Tick)
	}
	return checked
}

// Apply takes a record that is about the ticks so far.
func (r *Run) Apply(rec *record.Record) {
	if rec.Kind != record.KindMismatch || rec.Tick != r.mismatches.tick {
		r.CloseCheck()
	}
	switch rec.Kind {
	case record.KindChecksum:
		r.mismatches.agree(rec.Tick, r.every(), rec.Hash)
		r.checks.match(rec.Tick, r.every(), rec.Hash)
		r.compare(rec)
	case record.KindMismatch:
		r.checks.differs(rec.Tick, r.every(), Differing{rec.Player, rec.Hash})
		r.mismatches.add(rec.Tick, r.every(), rec.Player, rec.Hash)
	case record.KindEnd:
		if d := (*lockstep.DesyncError)(nil); errors.As(r.Follower.Apply(rec), &d) {
			r.differing++
			r.Differs(Desynced{Tick: d.Tick, End: d.End})
		}
	}
}

// CloseCheck tells who differs, once no more checksums of the check follow.
func (r *Run) CloseCheck() {
	if e, news := r.mismatches.closed(); news {
		r.events = append(r.events, e)
	}
}

// compare compares a checksum of the stream with our own.
func (r *Run) compare(rec *record.Record) {
	t := rec.Tick
	before := r.Follower.Checked()
	err := r.Follower.Apply(rec)
	if r.Follower.Checked() == before {
		return // not kept
	}
	if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
		r.differing++
		r.checks.compared(t, r.every(), d.Got)
		r.Differs(Desynced{Tick: t, Got: d.Got, Want: d.Want})
		return
	}
	if t > r.counted { // after a state sync, a check may come again
		r.agreed, r.counted = r.agreed+1, t
	}
	r.checks.compared(t, r.every(), rec.Hash)
	if r.diverged && t >= r.parted { // not on an earlier tick
		r.diverged = false
		r.events = append(r.events, Healed{t})
	}
}

// Differs makes an event of the first mismatch in a row.
func (r *Run) Differs(d Desynced) {
	if !r.diverged {
		r.diverged, r.parted = true, d.Tick
		r.events = append(r.events, d)
	}
}

// Lag returns how many ticks, of some that have arrived, are to run before a state of tick goal replaces one that is not the match's, so
// that both can be compared, -1 for nothing at all; and false if there is no such state, or they are too many for one call.
func (r *Run) Lag(goal lockstep.Tick, level lockstep.Tick) (ticks int64, ok bool) {
	if !r.diverged || r.Follower == nil {
		return 0, false
	}
	if t := r.Follower.Tick(); t < goal {
		ticks = int64(min(goal-t, level))
		return ticks, ticks <= maxExplainTicks
	}
	return -1, true
}

// KeepWrong keeps the state that is not the match's.
func (r *Run) KeepWrong() { r.wrong = r.Follower.Simulation() }

// explain compares the kept state with the match's, as soon as that has the same tick.
func (r *Run) explain() {
	if r.wrong == nil || r.wrong.Tick() > r.Follower.Tick() {
		return
	}
	wrong := r.wrong
	r.wrong = nil
	if wrong.Tick() < r.Follower.Tick() {
		return // it lacks ticks that never came
	}
	if e, differ := explain(r.options.Game, wrong, r.Follower.Simulation()); differ {
		r.events = append(r.events, e)
	}
}

// Checks returns the latest checks, at most eight, oldest first.
func (r *Run) Checks() []Check { return r.checks.list() }

// Agreed returns the match's checksum of a tick, and false if the log has not said it lately.
func (r *Run) Agreed(t lockstep.Tick) (uint64, bool) { return r.mismatches.agreedAt(t, r.every()) }

// Counts returns how many checksums of the log were ours, and how many were not.
func (r *Run) Counts() (agreed, differing int) { return r.agreed, r.differing }

// Past returns the commands of the ticks from+1 to to, and of each of them the state hash that was computed first, 0 if it is not
// kept. It returns false if some commands are forgotten.
func (r *Run) Past(from, to lockstep.Tick) (commands []lockstep.Command, first []uint64, ok bool) {
	if commands, ok = r.tape.since(from, to); !ok {
		return nil, nil, false
	}
	for t := from + 1; t <= to; t++ {
		hash := uint64(0)
		if sum, ok := r.Follower.Sum(t); ok {
			hash = sum.Hash
		}
		first = append(first, hash)
	}
	return commands, first, true
}

// Events appends what is to be told since it was called last.
func (r *Run) Events(dst []any) []any {
	dst = append(dst, r.events...)
	clear(r.events)
	r.events = r.events[:0]
	return dst
}

// Memory returns how many bytes the Run keeps, but for its simulations.
func (r *Run) Memory() int {
	n := cap(r.backlog.buf) + r.tape.memory() + r.Ring.Memory()
	if r.Follower != nil {
		n += r.Follower.Memory()
	}
	return n
}

// The events of a [Run]. Others are [Mismatch] and [Explained].
type (
	// Desynced: this client's state is not the match's. Only the first mismatch in a row makes an event. If the client
	// finds it, by a checksum in the stream, Got and Want are set; if the server reports it, Agreed and Section are
	// set. End says how the end of the match by its rules differs; it is "" for a state.
	Desynced struct {
		Tick      lockstep.Tick
		Got, Want uint64
		Agreed    lockstep.Tick // the last tick at which both agreed
		Section   string        // the first one that differs; may be empty
		End       string
	}

	// Healed: after a desync the client's state is the match's again.
	Healed struct{ Tick lockstep.Tick }
)

// maxExplainTicks is how many ticks are run at once to compare a state that differed.
const maxExplainTicks = 32

// maxExplained is how many fields an [Explained] lists.
const maxExplained = 16

// explain compares two states of one tick, and returns false if they are the same.
func explain(g *lockstep.Game, wrong, right *lockstep.Simulation) (Explained, bool) {
	schema, a, b := g.StateSchema(), wrong.AppendState(nil), right.AppendState(nil)
	found, err := schema.Diff(a, b, maxExplained)
	if err != nil {
		panic(err) // our own snapshots are canonical
	}
	found.Rename(schema.Names(a, b))
	for i := range found.List {
		d := &found.List[i] // a text in the state may be long
		d.A, d.B = pack.Clip(d.A, record.MaxNote), pack.Clip(d.B, record.MaxNote)
	}
	if found.Total == 0 {
		return Explained{}, false
	}
	return Explained{Tick: wrong.Tick(), Section: sectionOf(found.List[0].Path), Fields: found}, true
}

// sectionOf returns the section that a field's path begins with.
func sectionOf(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// Explained: after a desync this client has compared its state with the match's, which the server sent. Of each field,
// A is the client's value and B the match's. They are compared some ticks after the first difference, so fields that
// depend on it differ, too.
type Explained struct {
	Tick    lockstep.Tick
	Section string // the first one that differs
	Fields  state.Differences
}
