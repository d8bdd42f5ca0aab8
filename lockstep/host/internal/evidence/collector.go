package evidence

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// Never is a time later than all others.
const Never lockstep.Time = 1<<63 - 1

// A Collector collects the evidence of a match.
type Collector struct {
	game      *lockstep.Game
	header    *lockstep.Header
	most      int // bytes of a state
	inquiries []*inquiry
	flights   []*question   // that are awaited
	tied      lockstep.Tick // the latest check without a verdict
	out       Output
}

// New returns the Collector of a match. A state has at most some bytes.
func New(g *lockstep.Game, h *lockstep.Header, most int) *Collector {
	return &Collector{game: g, header: h, most: most}
}

// Take returns what is to be carried out since the last call.
func (c *Collector) Take() Output {
	o := c.out
	c.out = Output{}
	return o
}

// Inquire collects evidence about a report of the player whose witness is w. While a witness is asked for states, further reports about
// it are handed out without its states. Inquire returns how many ticks are computed again, for which the player and the match pay.
func (c *Collector) Inquire(now lockstep.Time, d *Desync, w *Witness) (cost int) {
	if w.inquiry != nil {
		if w.inquiry.evidence == nil || w.inquiry.evidence.Report.Tick != d.Report.Tick {
			c.Tell(d)
		} // else the referee differed there, too, and the player is being asked
		return 0
	}
	e := d.evidence()
	early := *e
	early.Exhibits = slices.Clone(e.Exhibits) // the answers go into the others
	c.out.Early = append(c.out.Early, &early)
	q := &inquiry{witness: w, exhibits: e.Exhibits, evidence: e}
	if w.Resimulates {
		q.again = d.again(c.game, lockstep.Tick(c.header.Settings.CheckEvery), max(d.Report.Agreed, e.Began), c.most)
	}
	if q.again != nil {
		cost = len(q.again.frames)
	}
	c.begin(now, q)
	if d.Asks {
		c.fly(now, q, w)
	}
	c.others(now, q, d)
	return cost
}

// InquireTie collects the records of machines about a check without a verdict. Nobody is asked for states.
func (c *Collector) InquireTie(now lockstep.Time, d *Desync) {
	q := &inquiry{witness: &Witness{}, evidence: d.evidence()}
	c.begin(now, q)
	c.others(now, q, d)
	c.finish(q)
}

// Tie takes a check without a verdict, and reports whether it is the first of several consecutive ones.
func (c *Collector) Tie(t lockstep.Tick) (first bool) {
	before := c.tied
	c.tied = t
	return before == 0 || t != before+lockstep.Tick(c.header.Settings.CheckEvery)
}

// Tell hands out a report about which nobody is asked.
func (c *Collector) Tell(d *Desync) { c.out.Evidence = append(c.out.Evidence, d.evidence()) }

// Panicked hands out a panic of the rules in a tick: on the machine of a player, as it says, or for System on that of the referee.
func (c *Collector) Panicked(t lockstep.Tick, p lockstep.Player, people []Participant, fault *record.Panic) {
	c.out.Evidence = append(c.out.Evidence, &Evidence{Report: coordinator.DesyncReport{Tick: t, Player: p}, Participants: people, Panic: fault})
}

// Twin hands out a difference of the referee from its cold twin. The twin's state is the player's of the exhibit.
func (c *Collector) Twin(d *twin.Difference, people []Participant) {
	c.out.Evidence = append(c.out.Evidence, TwinOf(d, lockstep.System, people))
}

// Ask asks a witness for its state of a tick, which [Output.States] has once it is there, or with nil if it does not come.
func (c *Collector) Ask(now lockstep.Time, w *Witness, t lockstep.Tick) {
	c.begin(now, &inquiry{witness: w, exhibits: []Exhibit{{Tick: t}}})
}

// Asked returns the number of witnesses of whom [Collector.Ask] awaits a state.
func (c *Collector) Asked() (n int) {
	for _, q := range c.inquiries {
		if q.evidence == nil {
			n++
		}
	}
	return n
}

// Receive takes an answer: a State, a Resimulated, Phases or a Flight.
func (c *Collector) Receive(now lockstep.Time, w *Witness, m *protocol.Message) Fault {
	switch m.Kind {
	case protocol.KindFlight:
		return c.flight(now, w, m)
	case protocol.KindState:
		return c.state(w, m)
	case protocol.KindResimulated:
		return c.resimulated(w, m)
	}
	return c.phases(w, m)
}

// RemoveAfter reports whether evidence about a witness is being collected. The witness is then removed at its end, which
// no ticks that are computed again delay.
func (c *Collector) RemoveAfter(now lockstep.Time, w *Witness) bool {
	q := w.inquiry
	if q == nil || q.evidence == nil {
		return false
	}
	q.remove = true
	q.deadline = min(q.deadline, now+Timeout)
	return true
}

// Advance compares answers, and ends the inquiries that take too long.
func (c *Collector) Advance(now lockstep.Time) {
	c.compareSome(now)
	c.land(now)
	for i := 0; i < len(c.inquiries); {
		if q := c.inquiries[i]; q.witness.gone || now >= q.deadline {
			c.conclude(q)
		} else {
			i++
		}
	}
}

// Next returns when Advance is due, or [Never].
func (c *Collector) Next() lockstep.Time {
	next := Never
	for _, q := range c.inquiries {
		next = min(next, q.deadline)
		if q.agrees > 0 {
			next = min(next, q.agrees)
		}
	}
	for _, f := range c.flights {
		next = min(next, f.deadline)
	}
	if q := c.comparable(); q != nil {
		next = min(next, q.again.due)
	}
	return next
}

// Finish ends the inquiries, because the match is over: what has arrived until now is the evidence. Nobody is removed any more.
func (c *Collector) Finish() {
	for _, q := range slices.Clone(c.inquiries) {
		if q.evidence != nil {
			q.remove = false
			c.conclude(q)
		}
	}
	for _, f := range c.flights {
		f.witness.flights = nil
	}
	c.flights = nil
}

// Forgive adds time to all deadlines, in which the host did not run.
func (c *Collector) Forgive(late lockstep.Time) {
	for _, q := range c.inquiries {
		if q.deadline += late; q.agrees > 0 {
			q.agrees += late
		}
	}
	for _, f := range c.flights {
		f.deadline = min(f.deadline, Never-late) + late
	}
}

// others asks the other machines of a report for their records.
func (c *Collector) others(now lockstep.Time, q *inquiry, d *Desync) {
	for _, w := range d.Differ[:min(len(d.Differ), maxMachines)] {
		c.fly(now, q, w)
	}
	switch {
	case d.Agrees != nil:
		c.fly(now, q, d.Agrees)
	case d.Silent:
		q.agrees = now + agreeTime
	}
}

// Agreed says that a witness that can be asked has the agreed checksum of a tick. An inquiry about the check may have waited for it.
func (c *Collector) Agreed(now lockstep.Time, w *Witness, t lockstep.Tick) {
	for _, q := range c.inquiries {
		asked := slices.ContainsFunc(q.flights, func(f *question) bool { return f.witness == w }) // the referee was wrong
		if q.agrees > 0 && q.evidence.Report.Tick == t && !asked {
			q.agrees = 0
			c.fly(now, q, w)
		}
	}
}

// fly asks a witness for its record, unless it is being asked about the same check already, or a later one.
func (c *Collector) fly(now lockstep.Time, q *inquiry, w *Witness) {
	t := q.evidence.Report.Tick
	if n := len(w.flights); n > 0 && w.flights[n-1].tick >= t {
		q.flights = append(q.flights, w.flights[n-1])
		return
	}
	f := &question{witness: w, tick: t, deadline: Never}
	q.flights, w.flights, c.flights = append(q.flights, f), append(w.flights, f), append(c.flights, f)
	if len(w.flights) == 1 {
		c.take(now, w)
	}
}

// take sends the next question to a witness.
func (c *Collector) take(now lockstep.Time, w *Witness) {
	f := w.flights[0]
	f.deadline = now + Timeout
	w.Flown++
	c.request(w, protocol.Message{Kind: protocol.KindFlightRequest, Tick: f.tick})
}

// flight takes a chunk of a record.
func (c *Collector) flight(now lockstep.Time, w *Witness, m *protocol.Message) Fault {
	if len(w.flights) == 0 || m.Tick != w.flights[0].tick {
		return Unasked // or too late
	}
	f := w.flights[0]
	if m.Offset != uint32(len(f.buf)) || m.Total > 0 && len(m.Bytes) == 0 {
		return "a chunk of a record out of order"
	}
	if f.buf = append(f.buf, m.Bytes...); len(f.buf) >= int(m.Total) {
		c.arrived(now, f)
	}
	return ""
}

// arrived ends a question, asks its witness for the next record, and ends the inquiries that have waited for this one alone.
func (c *Collector) arrived(now lockstep.Time, f *question) {
	f.over = true
	c.flights = slices.DeleteFunc(c.flights, func(x *question) bool { return x == f })
	w := f.witness
	if w.flights = slices.DeleteFunc(w.flights, func(x *question) bool { return x == f }); len(w.flights) > 0 && !w.gone {
		c.take(now, w)
	}
	for _, q := range slices.Clone(c.inquiries) {
		if slices.Contains(q.flights, f) {
			c.finish(q)
		}
	}
}

// land ends the questions that take too long and those of witnesses that are gone, and the waits for a machine that agrees.
func (c *Collector) land(now lockstep.Time) {
	for _, f := range slices.Clone(c.flights) {
		if !f.over && (f.witness.gone || now >= f.deadline) {
			f.buf = nil
			c.arrived(now, f)
		}
	}
	for _, q := range slices.Clone(c.inquiries) {
		if q.agrees > 0 && now >= q.agrees {
			q.agrees = 0
			c.finish(q)
		}
	}
}

// askRun asks a witness for the checksums of another run.
func (c *Collector) askRun(w *Witness, a *again) {
	a.Runs, a.sections = append(a.Runs, nil), append(a.sections, nil)
	a.next = a.From + 1
	c.askAgain(w, a.From, a.To, false)
}

func (c *Collector) askAgain(w *Witness, from, to lockstep.Tick, state bool) {
	w.asked = true
	c.request(w, protocol.Message{Kind: protocol.KindResimulate, From: from, Tick: to, State: state})
}

// resimulated takes the checksum of a tick that a witness has computed again.
func (c *Collector) resimulated(w *Witness, m *protocol.Message) Fault {
	switch {
	case !w.asked:
		return Unasked
	case !w.Awaited(m):
		return "" // too late
	}
	fault := w.inquiry.again.take(m, c.game.StateSchema().NumSections())
	if a := w.inquiry.again; fault == "" && a.next == 0 && !a.complete {
		c.askRun(w, a)
	}
	return fault
}

// phases takes the phases of the tick that a witness was asked for, which come before its state.
func (c *Collector) phases(w *Witness, m *protocol.Message) Fault {
	if !w.asked {
		return Unasked
	}
	q := w.inquiry
	if q == nil || q.again == nil || !q.again.waits || m.Tick != q.again.First || q.again.Phases != nil {
		return "" // too late, or again
	}
	for i, name := range m.Names {
		q.again.Phases = append(q.again.Phases, PhaseSum{name, m.Sections[i]})
	}
	return ""
}

// comparable returns the inquiry whose complete runs are compared next, or nil.
func (c *Collector) comparable() (q *inquiry) {
	for _, x := range c.inquiries {
		if x.again != nil && x.again.complete && !x.witness.gone && (q == nil || x.again.sim != nil) {
			q = x
		}
	}
	return q
}

// compareSome compares the complete runs of one witness with the referee's computation, some ticks at a time, so that the
// match does not stand meanwhile.
func (c *Collector) compareSome(now lockstep.Time) {
	q := c.comparable()
	if q == nil || now < q.again.due {
		return
	}
	a := q.again
	if !a.compare(c.game, c.header, againTicks) {
		a.due = now + lockstep.Time(c.header.Settings.Micros(1))
		return
	}
	if a.Outcome != protocol.OutcomeUnknown && a.First > 0 && (a.First < a.To || len(a.RightPhases) > 0) {
		q.exhibits = append(q.exhibits, Exhibit{Tick: a.First, Referee: a.state})
		a.waits = true
		c.askAgain(q.witness, a.From, a.First, true)
	}
	c.finish(q)
}

// begin sends the requests of an inquiry.
func (c *Collector) begin(now lockstep.Time, q *inquiry) {
	c.inquiries = append(c.inquiries, q)
	q.deadline = now + Timeout
	if q.again != nil {
		q.deadline = now + q.again.time(&c.header.Settings)
	}
	q.witness.inquiry = q
	for i := range q.exhibits {
		c.request(q.witness, protocol.Message{Kind: protocol.KindStateRequest, Tick: q.exhibits[i].Tick})
	}
	if q.again != nil {
		c.askRun(q.witness, q.again)
	}
}

func (c *Collector) request(w *Witness, m protocol.Message) {
	c.out.Requests = append(c.out.Requests, Request{w.ID, m})
}

// state takes a chunk of a requested state.
func (c *Collector) state(w *Witness, m *protocol.Message) Fault {
	q := w.inquiry
	if q == nil || q.at == len(q.exhibits) || m.Tick != q.exhibits[q.at].Tick {
		return Unasked // or too late
	}
	over, fault := q.take(m, c.most, c.game.StateSchema())
	if over {
		q.buf = nil
		if q.at++; q.at == len(q.exhibits) && q.again != nil {
			q.again.waits = false
		}
		c.finish(q)
	}
	c.bound()
	return fault
}

// bound ends the largest inquiry if all of them together hold more bytes than one may.
func (c *Collector) bound() {
	sum, most := 0, 0
	var largest *inquiry
	for _, q := range c.inquiries {
		n := q.answered()
		if sum += n; n > most {
			most, largest = n, q
		}
	}
	if sum > 2*c.most {
		c.conclude(largest)
	}
}

// finish ends an inquiry if all answers have come.
func (c *Collector) finish(q *inquiry) {
	if q.at == len(q.exhibits) && q.again.done() && q.landed() {
		c.conclude(q)
	}
}

// conclude ends an inquiry with what has arrived.
func (c *Collector) conclude(q *inquiry) {
	i := slices.Index(c.inquiries, q)
	c.inquiries = slices.Delete(c.inquiries, i, i+1)
	q.witness.inquiry, q.buf = nil, nil
	if q.remove {
		c.out.Removed = append(c.out.Removed, q.witness.ID)
	}
	if q.evidence == nil {
		c.out.States = append(c.out.States, q.exhibits[0])
		return
	}
	q.evidence.Resimulation = q.again.conclude(c.game, c.header)
	q.evidence.Exhibits = sorted(q.exhibits)
	q.evidence.Flights = append(q.evidence.Flights, q.records()...)
	c.out.Evidence = append(c.out.Evidence, q.evidence)
}

// Memory returns the bytes that the inquiries hold.
func (c *Collector) Memory() (n int) {
	for _, q := range c.inquiries {
		n += q.memory()
	}
	for _, f := range c.flights { // also one that no inquiry awaits any more
		n += cap(f.buf)
	}
	return n
}

const (
	// maxMachines is how many machines that differ are asked for their records because of one report, the player's own aside.
	maxMachines = 8

	// agreeTime is how long an inquiry waits for a machine that agrees.
	agreeTime = 2 * lockstep.Second

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

// time returns how long a player may take.
func (a *again) time(s *lockstep.Settings) lockstep.Time {
	return Timeout + lockstep.Time(s.Micros(againTime*int64(a.To-a.From)))
}

// done reports whether no more answers are awaited.
func (a *again) done() bool { return a == nil || a.next == 0 && !a.waits && !a.complete }

// take takes the checksum of the next tick of a run. After the last one, next is 0; if complete is not set then, another run is to begin.
func (a *again) take(m *protocol.Message, sections int) Fault {
	run := len(a.Runs) - 1
	switch {
	case m.Tick == 0: // it cannot
		a.cut()
		return ""
	case m.Tick != a.next:
		return "a tick computed again out of order"
	}
	a.Runs[run] = append(a.Runs[run], m.Hash)
	if run == 0 {
		a.first = append(a.first, m.First)
	}
	if len(m.Sections) == sections {
		a.sections[run] = append(a.sections[run], m.Sections...)
	}
	if a.next++; a.next > a.To {
		a.next, a.complete = 0, len(a.Runs) == againRuns
	}
	return ""
}

// cut drops the run that is not complete, and ends the others.
func (a *again) cut() {
	run := len(a.Runs) - 1
	a.next, a.Runs, a.sections = 0, a.Runs[:run], a.sections[:run]
	a.complete = true
}

// compare computes at most n of the ticks again as the referee does, up to the first at which a run differs. It
// reports whether it is done. The outcome stays unknown without a complete run, or if the referee's kept state was
// altered.
func (a *again) compare(g *lockstep.Game, h *lockstep.Header, n int) (done bool) {
	if a.sim == nil {
		sim, err := g.AwaitState(h)
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
		if a.takeTick(&sum, g) {
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
func (a *again) takeTick(right *checksum.Sum, g *lockstep.Game) bool {
	i := len(a.Right) - 1
	t := a.From + 1 + lockstep.Tick(i)
	for run, hashes := range a.Runs {
		if hashes[i] == right.Hash {
			continue
		}
		a.First = t
		n := len(right.Sections)
		if all := a.sections[run]; len(all) == n*len(hashes) {
			first, _ := checksum.Compare(checksum.Sum{Hash: hashes[i], Sections: all[n*i : n*(i+1)]}, *right, g.StateSchema())
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

// conclude returns what was found out, and nil without a complete run.
func (a *again) conclude(g *lockstep.Game, h *lockstep.Header) *Resimulation {
	if a == nil {
		return nil
	}
	if a.next != 0 { // the time is over
		a.cut()
	}
	if a.complete {
		a.compare(g, h, len(a.frames))
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
