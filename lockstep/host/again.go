package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Resimulation is what a player whose checksum differed has computed when it was asked to compute the ticks again. The
// player's part is untrusted.
type Resimulation struct {
	From, To lockstep.Tick // from the state of tick From on
	Outcome  protocol.Outcome

	// First is the first tick at which the player, computing again, had another state hash than the referee, and
	// Section the first section that differed; 0 and "" if not known.
	First   lockstep.Tick
	Section string

	// Altered is the first tick of which the player's state hash differed when it was computed at first, if the player
	// keeps the hashes of all ticks; else 0.
	Altered lockstep.Tick

	// RightPhases are the parts of tick First that the rules of the referee mark (lockstep.Turn.Phase), and Phases those of the
	// player, as it says: at most [protocol.MaxPhases]. Nil if not known.
	RightPhases, Phases []PhaseSum

	Right []uint64   // the referee's state hashes of the ticks after From, up to First if that is known
	Runs  [][]uint64 // the player's, each time
}

// A PhaseSum is a part of a tick, and the state hash at its beginning.
type PhaseSum struct {
	Name string
	Hash uint64
}

const (
	// maxAgain is how many ticks a player is asked to compute again at most.
	maxAgain = 4096

	// againRuns is how often a player computes all ticks again. If its rules are not deterministic, once may be right.
	againRuns = 2

	// againTicks is how many ticks the referee compares with them in the time of a tick.
	againTicks = 4

	// againTime multiplies the time of the ticks: the runs, and one to the first tick that is wrong.
	againTime = 3
)

// An again asks a player to compute ticks again, as part of an inquiry.
type again struct {
	Resimulation
	begin    coordinator.State // of the referee, of a tick up to From
	frames   []lockstep.Frame  // after it
	next     lockstep.Tick     // the tick of the awaited checksum; 0 for none
	hash     uint64            // of the referee at the tick To
	first    []uint64          // the player's hashes, as computed at first
	sections [][]uint64        // of each run, flat
	waits    bool              // for the state of tick First
	complete bool              // the runs wait to be compared, or are being compared
	sim      *lockstep.Simulation
	due      lockstep.Time // of the next ticks of the comparison
	state    []byte        // of the referee, of tick First
	before   []byte        // of the referee, of the tick before the one that is compared
}

// prepareAgain returns what a player can be asked after a report, or nil: the referee must have found itself right, and
// must have the state and the frames with which to compare the answer. The ticks are charged at once, so it does not
// matter what the player answers.
func (h *Host) prepareAgain(r *coordinator.DesyncReport, p *peer) *again {
	from := r.Agreed
	if p.began < r.Tick {
		from = max(from, p.began)
	}
	if !p.resimulates || r.Resimulation != coordinator.RefereeRight || r.Tick-from > maxAgain {
		return nil
	}
	size := againRuns * int(r.Tick-from) * 8 * (2 + h.game.StateSchema().NumSections())
	every := lockstep.Tick(h.header.Settings.CheckEvery)
	m := h.c.Referee().Moment(from - from%every)
	if m == nil || m.State == nil || size > h.options.MaxEvidence {
		return nil
	}
	frames := (*hostFrames)(h).Frames(m.Tick, r.Tick)
	if frames == nil || !h.budget.Take(h.now, &p.tab, budget.Comparisons, len(frames)) {
		return nil
	}
	a := &again{begin: coordinator.State{Tick: m.Tick, Bytes: slices.Clone(m.State)}, frames: frames, hash: r.Groups[0].Hash}
	a.From, a.To = from, r.Tick
	return a
}

// time returns how long a player may take.
func (a *again) time(s *lockstep.Settings) lockstep.Time {
	return inquiryTimeout + lockstep.Time(s.Micros(againTime*int64(a.To-a.From)))
}

// done reports whether no more answers are awaited.
func (a *again) done() bool { return a == nil || a.next == 0 && !a.waits && !a.complete }

// askRun asks a player for the checksums of another run.
func (h *Host) askRun(p *peer, a *again) {
	a.Runs, a.sections = append(a.Runs, nil), append(a.sections, nil)
	a.next = a.From + 1
	h.askAgain(p, a.From, a.To, false)
}

func (h *Host) askAgain(p *peer, from, to lockstep.Tick, state bool) {
	p.asked = true
	h.message = protocol.Message{Kind: protocol.KindResimulate, From: from, Tick: to, State: state}
	h.private(p, &h.message)
}

// awaited reports whether a message is a checksum that a player was asked for. Such ones are not counted as messages.
func (p *peer) awaited(m *protocol.Message) bool {
	return m.Kind == protocol.KindResimulated && p.inquiry != nil && p.inquiry.again != nil && p.inquiry.again.next != 0
}

// resimulated takes the checksum of a tick that a player has computed again.
func (h *Host) resimulated(p *peer, m *protocol.Message) {
	switch {
	case !p.asked:
		h.offend(p, 0, "")
		return
	case !p.awaited(m):
		return // too late
	}
	a := p.inquiry.again
	run := len(a.Runs) - 1
	switch {
	case m.Tick == 0: // it cannot
		a.next, a.Runs, a.sections = 0, a.Runs[:run], a.sections[:run]
		a.complete = true
		h.wakeAt(h.now)
		return
	case m.Tick != a.next:
		h.malformed(p, "a tick computed again out of order")
		return
	}
	a.Runs[run] = append(a.Runs[run], m.Hash)
	if run == 0 {
		a.first = append(a.first, m.First)
	}
	if len(m.Sections) == h.game.StateSchema().NumSections() {
		a.sections[run] = append(a.sections[run], m.Sections...)
	}
	if a.next++; a.next <= a.To {
		return
	}
	if a.next = 0; len(a.Runs) < againRuns {
		h.askRun(p, a)
		return
	}
	a.complete = true
	h.wakeAt(h.now)
}

// phases takes the phases of the tick that a player was asked for, which come before its state.
func (h *Host) phases(p *peer, m *protocol.Message) {
	if !p.asked {
		h.offend(p, 0, "")
		return
	}
	q := p.inquiry
	if q == nil || q.again == nil || !q.again.waits || m.Tick != q.again.First || q.again.Phases != nil {
		return // too late, or again
	}
	for i, name := range m.Names {
		q.again.Phases = append(q.again.Phases, PhaseSum{name, m.Sections[i]})
	}
}

// compareTime compares the complete runs of one player with the referee's computation, some ticks at a time, so that the
// match does not stand meanwhile.
func (h *Host) compareTime() {
	var q *inquiry
	for _, x := range h.inquiries {
		if x.again != nil && x.again.complete && x.peer.state != Closed && (q == nil || x.again.sim != nil) {
			q = x
		}
	}
	if q == nil {
		return
	}
	a := q.again
	if h.now < a.due {
		h.wakeAt(a.due)
		return
	}
	if !h.compareAgain(a, againTicks) {
		a.due = h.now + lockstep.Time(h.header.Settings.Micros(1))
		h.wakeAt(a.due)
		return
	}
	if a.Outcome != protocol.OutcomeUnknown && a.First > 0 && (a.First < a.To || len(a.RightPhases) > 0) {
		q.exhibits = append(q.exhibits, Exhibit{Tick: a.First, Referee: a.state})
		a.waits = true
		h.askAgain(q.peer, a.From, a.First, true)
	}
	h.wakeAt(h.now) // for the next one
	h.finishInquiry(q)
}

// compareAgain computes at most n of the ticks again as the referee does, up to the first at which a run differs. It
// reports whether it is done. The outcome stays unknown without a complete run, or if the referee's kept state was
// altered.
func (h *Host) compareAgain(a *again, n int) (done bool) {
	if a.sim == nil {
		sim, err := h.game.AwaitState(h.header)
		if err != nil || len(a.Runs) == 0 || sim.Restore(a.begin.Tick, a.begin.Bytes) != nil {
			a.complete = false
			return true
		}
		a.sim = sim
	}
	for ; n > 0 && len(a.frames) > 0 && a.First == 0; n-- {
		frame := &a.frames[0]
		a.before = a.sim.AppendState(a.before[:0])
		err := a.sim.Step(frame)
		if a.frames = a.frames[1:]; err != nil {
			a.complete, a.sim = false, nil
			return true
		}
		if a.sim.Tick() <= a.From {
			continue
		}
		var sum checksum.Sum
		a.sim.Sum(&sum)
		a.Right = append(a.Right, sum.Hash)
		if a.takeTick(&sum, h) {
			a.state = a.sim.AppendState(nil)
			a.markPhases(frame)
		}
	}
	if len(a.frames) > 0 && a.First == 0 {
		return false
	}
	if a.First > 0 || a.Right[len(a.Right)-1] == a.hash {
		a.Outcome = a.outcome()
	}
	a.complete, a.sim = false, nil
	return true
}

// markPhases computes the first tick that differs once more, for its phases.
func (a *again) markPhases(f *lockstep.Frame) {
	if a.sim.Restore(f.Tick-1, a.before) != nil {
		return // our own state: it cannot
	}
	a.sim.ObservePhases(func(_ lockstep.Tick, name string, sum *checksum.Sum) {
		if len(a.RightPhases) < protocol.MaxPhases && len(name) <= record.MaxName {
			a.RightPhases = append(a.RightPhases, PhaseSum{name, sum.Hash})
		}
	})
	if a.sim.Step(f) != nil || !slices.Equal(a.sim.AppendState(a.before[:0]), a.state) {
		a.RightPhases = nil
	}
}

// takeTick compares the next tick with the referee's checksum, and reports whether a run differs.
func (a *again) takeTick(right *checksum.Sum, h *Host) bool {
	i := len(a.Right) - 1
	t := a.From + 1 + lockstep.Tick(i)
	if f := a.first[i]; a.Altered == 0 && f != 0 && f != right.Hash && (i == 0 || a.first[i-1] == a.Right[i-1]) {
		a.Altered = t
	}
	for run, hashes := range a.Runs {
		if hashes[i] == right.Hash {
			continue
		}
		a.First = t
		n := len(right.Sections)
		if all := a.sections[run]; len(all) == n*len(hashes) {
			first, _ := checksum.Compare(checksum.Sum{Hash: hashes[i], Sections: all[n*i : n*(i+1)]}, *right, h.game.StateSchema())
			a.Section = first.Name
		}
		return true
	}
	return false
}

// outcome judges the complete runs.
func (a *again) outcome() protocol.Outcome {
	last := int(a.To-a.From) - 1
	var ends []uint64
	for _, hashes := range a.Runs {
		if !slices.Equal(hashes, a.Runs[0]) {
			return protocol.ThirdResult
		}
		ends = append(ends, hashes[last])
	}
	o := protocol.OutcomeOf(a.hash, a.first[last], ends...)
	if o == protocol.RightThisTime && a.First > 0 {
		return protocol.ThirdResult // it was wrong in between
	}
	return o
}

// concludeAgain returns what was found out, and nil without a complete run.
func (h *Host) concludeAgain(q *inquiry) *Resimulation {
	a := q.again
	if a == nil {
		return nil
	}
	if a.next != 0 { // the time is over
		run := len(a.Runs) - 1
		a.next, a.Runs, a.sections = 0, a.Runs[:run], a.sections[:run]
		a.complete = true
	}
	if a.complete {
		h.compareAgain(a, len(a.frames))
	}
	if a.Outcome == protocol.OutcomeUnknown {
		return nil
	}
	return &a.Resimulation
}

// phaseBytes is what a phase takes at most.
const phaseBytes = record.MaxName + 24

// memory returns the bytes that an again holds.
func (a *again) memory() int {
	if a == nil {
		return 0
	}
	n := cap(a.begin.Bytes) + cap(a.state) + cap(a.before) + 8*(cap(a.first)+cap(a.Right)) + phaseBytes*(len(a.Phases)+len(a.RightPhases))
	for i := range a.Runs {
		n += 8 * (cap(a.Runs[i]) + cap(a.sections[i]))
	}
	return n
}
