// Package evidence collects what is known about a desync: the states of both sides, and what a client computes when it computes the ticks
// again. It is one machine of a host: values go in, and the host carries out what comes back. It has no connection and no clock.
//
// # Words
//
//   - A [Witness] is a connection that can be asked. The host has one for each connection, and says when it is gone.
//   - An inquiry asks one witness for states, and to compute ticks again, and collects the answers. A witness has at most one, so a
//     witness that does not answer does not delay the others.
//   - An [Evidence] is what the host hands out about one desync: first without answers ([Output.Early]), since the server may crash before the
//     witness answers, and then with them ([Output.Evidence]).
//   - A claim is a checksum that a spectator has reported. See [Witness.Claim].
//
// # An inquiry
//
//	Inquire ──► states ──► first run ──► second run ──► comparison ──► state of the first wrong tick ──► closed
//	Ask ──────► a state ───────────────────────────────────────────────────────────────────────────────► closed
//
// The states of the last agreed tick and of the reported one, and the first run, are asked for at once, and the answers may come in any order. The
// runs are asked for only if the referee has found itself right, if it has the state and the commands to compare them with, if the
// client can compute again, and if the host lets the witness pay for it. When the second run is complete, the collector
// computes the ticks itself, some at each [Collector.Advance], up to the first that differs from a run. It then asks for
// the witness's state of that tick, and its phases.
//
// Each of these closes an inquiry with what has arrived:
//
//   - all answers are there, or the witness has said that it cannot give more;
//   - its time is over, 10 s and three times the time of the ticks that are computed again;
//   - the witness is gone;
//   - all inquiries together hold more than twice the bytes that one may, and it is the largest;
//   - the match is over ([Collector.Finish]).
//
// # Records
//
// The machine that differs, the others that do (at most eight) and one that agrees are asked for the records of their last ticks
// (package flight): at once, or the agreeing one when it reports ([Collector.Agreed]), up to two seconds later. Inquiries about
// one check share the answers. One about a later check asks again, because a record ends where its machine was when it was asked.
//
// A witness's part of an Evidence is untrusted: what it says accuses or clears nobody but itself, and no answer delays
// another witness or the match.
//
// # Claims of spectators
//
// A spectator who can reconnect without limit never causes a re-simulation, and is not asked for states. Its checksums wait
// ([Witness.Claim]) until the check of their tick has a verdict that the referee can no longer take back ([Witness.Compare]).
// Late spectators report on checks that the coordinator no longer keeps: [Checks] has them.
//
// # Who calls what
//
// The host calls [Collector.Inquire] for a report about a player who can be asked, and [Collector.Tell] for any other, such as the
// first of several ties ([Collector.Tie]). It calls [Collector.Panicked] for a panic of the rules, [Collector.Twin] for a
// difference of the referee from its cold twin, and [Collector.Ask] for a state with
// which somebody can join a match without a referee. It hands answers to [Collector.Receive], and calls [Collector.Advance] at
// [Collector.Next]. After each of these it calls [Collector.Take], and sends, removes and delivers what that says, in the order
// of the fields.
//
//samestep:deterministic
package evidence

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	"github.com/seed-49bee653/samestep/state"
)

// Evidence is the data that a host collects about a desync, or a panic of the rules.
type Evidence struct {
	Report       coordinator.DesyncReport
	Participants []Participant

	// Began is the tick of the last state that the player was sent before the reported tick; 0 if unknown. At that tick
	// both sides were equal.
	Began lockstep.Tick

	// Exhibits are the states of the last checked tick at which the player agreed, if there is one, and of the first
	// one at which it differed.
	Exhibits []Exhibit

	// Panic is why the rules ended the match, or on the machine of Report.Player, as it says; nil of a desync. Its frame is in the log.
	Panic *record.Panic

	// Twin is where the referee, or the follower of Report.Player, and its cold twin differ; nil of a desync between machines.
	Twin *twin.Difference

	// Resimulation is what the player computed when it was asked to compute the ticks again; nil if it did not. Exhibits
	// then has its first tick that was wrong, too, with the player's state as it computed it again.
	Resimulation *Resimulation

	// Flights are the records of the last ticks: of the referee, and untrusted ones of the machines that were asked and have answered.
	Flights []Flight

	// Commands are the commands of the ticks after the agreed one up to the reported one, as far back as the ring
	// reaches, in canonical order.
	Commands []lockstep.Command
}

// TwinOf returns the evidence of a difference from a cold twin, on the machine of a player, or for System on that of the referee. The warm
// state is the referee's of the exhibits, and the cold one the player's.
func TwinOf(d *twin.Difference, p lockstep.Player, people []Participant) *Evidence {
	return &Evidence{
		Report:       coordinator.DesyncReport{Tick: d.Tick, Player: p, Agreed: d.Since, Section: d.Section},
		Began:        d.Began,
		Participants: people, Twin: d,
		Exhibits: []Exhibit{{Tick: d.Since, Referee: d.Before}, {Tick: d.Tick, Referee: d.WarmState, Player: d.ColdState}},
	}
}

// A Flight is the record of the last ticks on one machine, as package flight writes it.
type Flight struct {
	Player lockstep.Player // System for the referee
	Bytes  []byte          // untrusted, but for the referee
}

// An Exhibit is one tick's state of both sides, in canonical bytes.
type Exhibit struct {
	Tick    lockstep.Tick
	Referee []byte // nil if it is no longer kept, or there is no referee
	Player  []byte // nil if the player did not send it; untrusted

	// Hash is the checksum of the player's state, if the bytes are canonical.
	Hash uint64
}

// A Participant is a player or spectator of a match, as its client describes it.
type Participant struct {
	Player   lockstep.Player `json:"player"` // System for a spectator
	Name     string          `json:"name"`
	Build    string          `json:"build"`
	Platform string          `json:"platform"`
	Sources  string          `json:"sources,omitempty"` // of its program, see [record.ParseSources]; empty if not known
}

// A Resimulation is what a player whose checksum differed has computed when it was asked to compute the ticks again. The
// player's part is untrusted.
type Resimulation struct {
	From, To lockstep.Tick // from the state of tick From on
	Outcome  protocol.Outcome

	// First is the first tick at which the player, computing again, had another state hash than the referee, and
	// Section the first section that differed; 0 and "" if not known.
	First   lockstep.Tick
	Section string

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

// Frames returns the frames of the ticks after one up to another one, which have some commands.
func Frames(commands []lockstep.Command, after, to lockstep.Tick) []lockstep.Frame {
	for len(commands) > 0 && commands[0].Tick <= after {
		commands = commands[1:]
	}
	all := make([]lockstep.Frame, 0, to-after)
	for t := after + 1; t <= to; t++ {
		n := 0
		for n < len(commands) && commands[n].Tick == t {
			n++
		}
		all = append(all, lockstep.Frame{Tick: t, Commands: commands[:n]})
		commands = commands[n:]
	}
	return all
}

// Output is what the host carries out.
type Output struct {
	Requests []Request
	Removed  []uint64    // witnesses that were kept until they had answered
	Early    []*Evidence // before the witness has answered; Evidence about the same report follows
	Evidence []*Evidence
	States   []Exhibit // answers to Ask
}

// A Request is a message for a witness.
type Request struct {
	To      uint64
	Message protocol.Message
}

// A Fault is what is wrong with a message; "" for nothing. All but [Unasked] violate the protocol.
type Fault string

// Unasked means that nobody has asked for the answer.
const Unasked Fault = "not asked for"

// A Desync is what the host knows of a report.
type Desync struct {
	Report       *coordinator.DesyncReport
	Participants []Participant
	Referee      *lockstep.Follower // or nil
	Began        lockstep.Tick      // of the last state that the player was sent
	Commands     []lockstep.Command // of the ticks after the agreed one up to that of the report
	From         lockstep.Tick      // the tick after which these are complete
	Afford       int                // ticks that the player and the match can pay, if they are computed again

	Flight []byte     // the record of the referee's last ticks; nil if there is none
	Differ []*Witness // others that differ, or on a tie all; they can be asked for records
	Agrees *Witness   // one that agrees and can be asked, or nil
	Silent bool       // one that may agree has not reported yet
	Asks   bool       // the player itself can be asked for its record
}

// evidence returns what is known before anybody is asked.
func (d *Desync) evidence() *Evidence {
	e := &Evidence{Report: *d.Report, Participants: d.Participants, Commands: d.Commands}
	e.Report.Groups = slices.Clone(d.Report.Groups)
	if d.Flight != nil {
		e.Flights = []Flight{{lockstep.System, d.Flight}}
	}
	if d.Report.Tie {
		return e
	}
	if d.Began < d.Report.Tick {
		e.Began = d.Began
	}
	for _, t := range []lockstep.Tick{d.Report.Agreed, d.Report.Tick} {
		if t > 0 {
			e.Exhibits = append(e.Exhibits, Exhibit{Tick: t, Referee: d.state(t)})
		}
	}
	return e
}

// state returns the referee's state of a tick at the time of the report, or nil.
func (d *Desync) state(t lockstep.Tick) []byte {
	if d.Report.Resimulation == coordinator.RefereeWrong {
		for _, s := range d.Report.Wrong {
			if s.Tick == t {
				return s.Bytes
			}
		}
		return nil
	}
	if d.Referee == nil {
		return nil
	}
	return slices.Clone(d.Referee.State(t))
}

// again returns what the player can be asked after a report, from a tick on, or nil: the referee must have found itself right, and
// must have the state and the commands with which to compare the answer. The ticks are charged at once, so it does not
// matter what the witness answers.
func (d *Desync) again(g *lockstep.Game, every, from lockstep.Tick, most int) *again {
	r := d.Report
	if r.Resimulation != coordinator.RefereeRight || r.Tick-from > maxAgain {
		return nil
	}
	kept := from - from%every
	size := againRuns * int(r.Tick-from) * 8 * (2 + g.StateSchema().NumSections())
	state := d.state(kept)
	if state == nil || d.From > kept || size > most || int(r.Tick-kept) > d.Afford {
		return nil
	}
	a := &again{begin: coordinator.State{Tick: kept, Bytes: state}, frames: Frames(d.Commands, kept, r.Tick), hash: r.Groups[0].Hash}
	a.From, a.To = from, r.Tick
	return a
}

// sorted returns exhibits by their ticks. That of the report may have been asked for once more, for its phases.
func sorted(all []Exhibit) []Exhibit {
	slices.SortStableFunc(all, func(a, b Exhibit) int { return cmp.Compare(a.Tick, b.Tick) })
	return slices.CompactFunc(all, func(a, b Exhibit) bool { return a.Tick == b.Tick })
}

// Checks are those on which late spectators can report. The coordinator keeps only the last ones.
type Checks struct {
	every lockstep.Tick
	past  []coordinator.Check // tick t is at (t / every) modulo its length; none without a delay
	stale bool                // the coordinator has corrected some
}

// NewChecks returns the checks for spectators who are some ticks late, of a match with a check every so many ticks.
func NewChecks(delay, every lockstep.Tick) (c Checks) {
	if c.every = every; delay > 0 {
		c.past = make([]coordinator.Check, delay/every+record.CheckWindow)
	}
	return c
}

// Correct says that the coordinator has corrected checks.
func (c *Checks) Correct() { c.stale = len(c.past) > 0 }

// Stale returns the ticks of the checks to show again, because the coordinator has corrected some since the last call.
func (c *Checks) Stale() (all []lockstep.Tick) {
	if !c.stale {
		return nil
	}
	c.stale = false
	for i := range c.past {
		all = append(all, c.past[i].Tick)
	}
	return all
}

// Show keeps a check.
func (c *Checks) Show(k coordinator.Check) {
	if len(c.past) > 0 {
		*c.at(k.Tick) = k
	}
}

// Of returns the check of tick t, or another one that uses its slot. It returns false if the coordinator's are meant.
func (c *Checks) Of(t lockstep.Tick) (k coordinator.Check, ok bool) {
	if len(c.past) == 0 {
		return k, false
	}
	return *c.at(t), true
}

func (c *Checks) at(t lockstep.Tick) *coordinator.Check {
	return &c.past[t/c.every%lockstep.Tick(len(c.past))]
}

// An inquiry asks one witness for states, and to compute ticks again, and collects the answers.
type inquiry struct {
	witness  *Witness
	exhibits []Exhibit // the requested states
	at       int       // the one being received
	buf      []byte
	deadline lockstep.Time
	evidence *Evidence // nil if a joiner in relay mode waits for the state
	remove   bool      // the witness is removed afterwards
	again    *again    // or nil
	flights  []*question
	agrees   lockstep.Time // until when it waits for a machine that agrees; 0 if it does not
}

// Timeout bounds the time for all states of an inquiry. Ticks that are computed again have more, see again.time.
const Timeout = 10 * lockstep.Second

// A Witness is a connection that can be asked for states, or a spectator's that reports checksums.
type Witness struct {
	ID          uint64          // the host's
	Player      lockstep.Player // once it has a seat
	Resimulates bool            // its client knows [protocol.KindResimulate]
	Flies       bool            // its client knows [protocol.KindFlightRequest]
	Flown       int             // how often it was asked for its record

	flights []*question // that it is asked for, one after the other
	inquiry *inquiry    // of it, or nil
	asked   bool        // to compute ticks again, on this connection
	gone    bool

	claims   []claim
	reported lockstep.Tick // the latest claim
	Agreed   lockstep.Tick // the latest tick at which it agreed
}

// A claim is a checksum that a spectator has reported. Its tick may have no verdict yet, or one that no player has
// confirmed.
type claim struct {
	tick lockstep.Tick
	hash uint64
}

// take takes a chunk of the state that is being received. It reports whether no more of it follows.
func (q *inquiry) take(m *protocol.Message, most int, schema *state.Schema) (over bool, fault Fault) {
	switch {
	case m.Total == 0 || m.Total > uint32(most):
		return true, ""
	case m.Offset != uint32(len(q.buf)) || len(m.Bytes) == 0:
		return false, "a chunk of a state out of order"
	}
	if q.buf = append(q.buf, m.Bytes...); len(q.buf) != int(m.Total) {
		return false, ""
	}
	e := &q.exhibits[q.at]
	e.Player = q.buf
	var sum checksum.Sum
	if checksum.OfBytes(&sum, schema, e.Player) == nil {
		e.Hash = sum.Hash
	}
	return true, ""
}

// answered returns the bytes of the answers so far, and of what they are compared with.
func (q *inquiry) answered() int {
	n := len(q.buf) + q.again.memory() + q.recorded()
	for i := range q.exhibits {
		n += len(q.exhibits[i].Player)
	}
	return n
}

// memory returns the bytes that the inquiry holds.
func (q *inquiry) memory() int {
	n := cap(q.buf) + q.again.memory() + q.recorded()
	for i := range q.exhibits {
		n += cap(q.exhibits[i].Player) + cap(q.exhibits[i].Referee)
	}
	return n
}

// Busy reports whether the witness is being asked for states, because it differs. A witness that is only asked for a record keeps its limits.
func (w *Witness) Busy() bool { return w.inquiry != nil }

// Leave ends the witness's inquiry at the next [Collector.Advance], with what it has answered.
func (w *Witness) Leave() { w.gone = true }

// Awaited reports whether a message is a checksum that the witness was asked for. Such ones are not counted as messages.
func (w *Witness) Awaited(m *protocol.Message) bool {
	return m.Kind == protocol.KindResimulated && w.inquiry != nil && w.inquiry.again != nil && w.inquiry.again.next != 0
}

// Claimed reports whether the spectator has reported a tick, or a later one: then it simulates again, from a keyframe.
func (w *Witness) Claimed(t lockstep.Tick) bool { return t <= w.reported }

// Claim takes a checksum of a spectator. The host then compares all claims with the verdicts so far, so that there are never more claims than checks.
func (w *Witness) Claim(t lockstep.Tick, hash uint64) {
	w.reported = t
	w.claims = append(w.claims, claim{t, hash})
}

// Pending returns the tick of the oldest claim, and false if there is none.
func (w *Witness) Pending() (t lockstep.Tick, ok bool) {
	if len(w.claims) == 0 {
		return 0, false
	}
	return w.claims[0].tick, true
}

// A Comparison is what a check says of a claim.
type Comparison uint8

// The results of a comparison.
const (
	Agrees  Comparison = iota // or there is nothing to compare it with
	Waits                     // for the check
	Differs                   // and the later claims, which differ because of it, are forgotten
)

// Compare compares the oldest claim with a check, which is one of another tick if that uses its slot. confirmed says that the
// referee can no longer take back its verdict.
func (w *Witness) Compare(k coordinator.Check, confirmed bool) Comparison {
	c := w.claims[0]
	known := k.Tick == c.tick && k.Status != coordinator.CheckTied
	switch {
	case known && (k.Status == coordinator.CheckOpen || k.Hash != c.hash && !confirmed):
		return Waits
	case known && k.Hash != c.hash:
		w.Forget()
		return Differs
	case known:
		w.Agreed = c.tick
	}
	w.claims = w.claims[:copy(w.claims, w.claims[1:])]
	return Agrees
}

// Forget forgets the claims, because the spectator begins anew with a keyframe.
func (w *Witness) Forget() { w.claims = w.claims[:0] }

// Distrust forgets an agreement after right, the last tick at which the referee was right.
func (w *Witness) Distrust(right lockstep.Tick) { w.Agreed = min(w.Agreed, right) }

// A question is one to a witness for the record of its last ticks, and the answer.
type question struct {
	witness  *Witness
	tick     lockstep.Tick // of the check: the record reaches it
	buf      []byte
	over     bool          // it is complete, or does not come
	deadline lockstep.Time // Never until the question is sent
}

// landed reports whether no more records are awaited.
func (q *inquiry) landed() bool {
	return q.agrees == 0 && !slices.ContainsFunc(q.flights, func(f *question) bool { return !f.over })
}

// records returns the records that have come.
func (q *inquiry) records() (all []Flight) {
	for _, f := range q.flights {
		if f.over && len(f.buf) > 0 {
			all = append(all, Flight{f.witness.Player, f.buf})
		}
	}
	return all
}

// recorded returns the bytes of the records that have come.
func (q *inquiry) recorded() (n int) {
	for _, f := range q.flights {
		n += cap(f.buf)
	}
	return n
}
