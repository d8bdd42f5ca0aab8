package evidence

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Never is a time later than all others.
const Never lockstep.Time = 1<<63 - 1

// A Collector collects the evidence of a match.
type Collector struct {
	game      *lockstep.Game
	header    *lockstep.Header
	most      int // bytes of a state
	inquiries []*inquiry
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
	return cost
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

// Receive takes an answer: a State, a Resimulated or Phases.
func (c *Collector) Receive(now lockstep.Time, w *Witness, m *protocol.Message) Fault {
	switch m.Kind {
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
}

// Forgive adds time to all deadlines, in which the host did not run.
func (c *Collector) Forgive(late lockstep.Time) {
	for _, q := range c.inquiries {
		q.deadline += late
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
	if q.at == len(q.exhibits) && q.again.done() {
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
	c.out.Evidence = append(c.out.Evidence, q.evidence)
}

// Memory returns the bytes that the inquiries hold.
func (c *Collector) Memory() (n int) {
	for _, q := range c.inquiries {
		n += q.memory()
	}
	return n
}
