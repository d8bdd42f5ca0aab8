package desync

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/replay"
)

// A Flight is what the records of the last ticks in a bundle show: see package flight. A record counts about its owner only, and only if
// it agrees with what its owner reported at the checks. So a liar's record neither clears it nor accuses another.
type Flight struct {
	Records  []FlightRecord `json:"records"`
	Machines []Departure    `json:"machines"` // whose runs departed from the right one, that of the report first
}

// A FlightRecord is one record of a bundle.
type FlightRecord struct {
	Player lockstep.Player `json:"player"` // 255: the referee
	From   lockstep.Tick   `json:"from"`
	To     lockstep.Tick   `json:"to"`
	Every  lockstep.Tick   `json:"every,omitempty"`     // of which it has states only, because the state is large; else 0
	Aside  string          `json:"set_aside,omitempty"` // why it does not count; "" if it does
}

// A Departure is where the run of one machine departed from that of another machine, or from what this program computes.
type Departure struct {
	Player   lockstep.Player   `json:"player"` // 255: the referee
	First    Span              `json:"first"`
	Every    lockstep.Tick     `json:"every,omitempty"`    // of which its record has states only, so that First is not one tick; else 0
	Sections []string          `json:"sections,omitempty"` // that differ at First.To, in order
	Draws    *OtherDrawing     `json:"draws,omitempty"`    // what Step marked or drew otherwise, up to then; nil if nothing
	Commands lockstep.Tick     `json:"other_commands,omitempty"`
	Replaced bool              `json:"replaced,omitempty"` // the state came from elsewhere just before
	Computed bool              `json:"computed"`           // this program computes what the right side has
	Machines []lockstep.Player `json:"machines"`           // whose records show the same
	Neutral  bool              `json:"neutral,omitempty"`  // it is unknown which side is right: the runs parted
	Grade    Grade             `json:"grade"`
}

// An OtherDrawing is where the phases or draws of Step began to differ.
type OtherDrawing struct {
	Tick   lockstep.Tick `json:"tick"`
	Phase  string        `json:"phase,omitempty"`
	Stream string        `json:"stream,omitempty"` // "" if what was drawn for differs, and no number
	Wrong  uint32        `json:"wrong"`            // draws of the machine
	Right  uint32        `json:"right"`
	Marks  bool          `json:"marks,omitempty"` // the phases themselves differ
}

// recorded is a record that counts, and whose it is.
type recorded struct {
	player lockstep.Player
	*flight.Record
}

// flights compares the records of a bundle.
type flights struct {
	*work
	all []recorded // those that count, the referee's first

	mismatched map[claim]uint64 // the log's mismatches
}

// A claim is the check of a machine.
type claim struct {
	player lockstep.Player
	tick   lockstep.Tick
}

// takeFlights reads the records of the bundle and compares those of the machines that differ with what is right.
func (w *work) takeFlights() { newFlights(w).take() }

func newFlights(w *work) *flights {
	f := &flights{work: w, mismatched: map[claim]uint64{}}
	for _, m := range w.log.sums.mismatches {
		if _, told := f.mismatched[claim{m.player, m.tick}]; !told {
			f.mismatched[claim{m.player, m.tick}] = m.hash
		}
	}
	return f
}

func (w *flights) take() {
	if len(w.manifest.Flights) == 0 {
		return
	}
	w.e.Flight = &Flight{Records: []FlightRecord{}, Machines: []Departure{}}
	for _, f := range w.manifest.Flights {
		r := w.loadFlight(f)
		w.e.Flight.Records = append(w.e.Flight.Records, r.FlightRecord)
		if r.Record != nil {
			w.all = append(w.all, recorded{f.Player, r.Record})
		}
	}
	slices.SortStableFunc(w.all, func(a, b recorded) int { return int(b.player) - int(a.player) }) // that of the referee first
	w.all = w.consistent()
	for _, r := range w.all {
		if !w.departs(r.player) {
			continue
		}
		d, ok := w.departure(r)
		told := slices.ContainsFunc(w.e.Flight.Machines, func(o Departure) bool {
			return d.Neutral && o.First == d.First && slices.Contains(o.Machines, d.Player)
		})
		if ok && !told {
			w.e.Flight.Machines = append(w.e.Flight.Machines, d)
		}
	}
	slices.SortStableFunc(w.e.Flight.Machines, func(a, b Departure) int { return cmp.Compare(w.rankOf(a.Player), w.rankOf(b.Player)) })
	if d := w.e.Flight.of(w.subject()); d != nil && w.fitsAgain(d) {
		w.flown = d
		w.good = max(w.good, d.First.From-1)
	}
}

// subject returns whose run the report is about: 255 for the referee.
func (w *work) subject() lockstep.Player {
	if w.e.Verdict.Party == WrongReferee {
		return lockstep.System
	}
	return w.manifest.Player
}

func (w *flights) rankOf(p lockstep.Player) int {
	if p == w.subject() {
		return -1
	}
	return int(p)
}

// fitsAgain reports whether a departure is possible beside what the machine computed again.
func (w *flights) fitsAgain(d *Departure) bool {
	a := w.e.Again
	if a == nil || a.exact() == 0 || d.First.From <= a.exact() && a.exact() <= d.First.To {
		return true
	}
	w.note("the record of %s shows another first tick than what it computed again, %d", machineName(d.Player), a.exact())
	return false
}

type loaded struct {
	FlightRecord
	*flight.Record
}

// loadFlight reads a record, and says why it does not count.
func (w *flights) loadFlight(f replay.BundleFlight) (r loaded) {
	r.Player = f.Player
	b, err := w.bundle.Flight(f)
	if err == nil {
		r.Record, err = flight.Parse(b)
	}
	switch {
	case err != nil:
		r.Aside = fmt.Sprintf("it cannot be read: %v", err)
	case r.Record.Match != w.log.header.Match:
		r.Aside = "it is of another match"
	case len(r.Record.Ticks) == 0:
		r.Aside = "it is empty"
	case slices.ContainsFunc(w.e.Flight.Records, func(o FlightRecord) bool { return o.Player == f.Player }):
		r.Aside = "it is a second one"
	default:
		r.From, r.To = r.Record.First(), r.Record.Last()
		r.Every = sampled(r.Record, Span{})
		return r
	}
	r.Record = nil
	return r
}

// consistent returns the records that agree with what their owners reported. The others are set aside.
func (w *flights) consistent() (good []recorded) {
	base := w.computed()
	if base == nil {
		for _, r := range w.all {
			if r.player == lockstep.System {
				base = r.Record
			}
		}
	}
	for _, r := range w.all {
		if why := w.contradicts(r, base); why != "" {
			i := slices.IndexFunc(w.e.Flight.Records, func(x FlightRecord) bool { return x.Player == r.player && x.Aside == "" })
			w.e.Flight.Records[i].Aside = why
			continue
		}
		good = append(good, r)
	}
	return good
}

// computed returns the record of what this program computes, if that is the match.
func (w *work) computed() *flight.Record {
	if w.again == nil || w.undecided() {
		return nil
	}
	return w.again.flight
}

// contradicts says at which check a record shows another state than its owner reported, by comparison with a record whose checksums
// are known; or it returns "".
func (w *flights) contradicts(r recorded, base *flight.Record) string {
	if base == nil || base.Prints != r.Prints {
		if base != nil {
			return fmt.Sprintf("it has %d sections, and the state %d", r.Prints, base.Prints)
		}
		return ""
	}
	every := lockstep.Tick(w.log.header.Settings.CheckEvery)
	after := w.agreedUntil(r) // before, a report may have been lost with a connection or a replaced state
	for i := range r.Ticks {
		x := &r.Ticks[i]
		if x.Tick%every != 0 || x.Tick < after || x.Tick > w.manifest.Tick || x.Prints == nil {
			continue
		}
		y := tickOf(base, x.Tick)
		right, known := w.hashOf(x.Tick)
		reported, told := w.reported(r.player, x.Tick)
		if y == nil || y.Prints == nil || !known || !told {
			continue
		}
		switch same := x.State == y.State && slices.Equal(x.Prints, y.Prints); {
		case same && reported != right:
			return fmt.Sprintf("it shows the right state at tick %d, of which %s reported another checksum", x.Tick, machineName(r.player))
		case !same && reported == right:
			return fmt.Sprintf("it shows another state at tick %d than %s reported", x.Tick, machineName(r.player))
		}
	}
	return ""
}

func tickOf(r *flight.Record, t lockstep.Tick) *flight.Tick {
	i, ok := slices.BinarySearchFunc(r.Ticks, t, func(x flight.Tick, t lockstep.Tick) int { return cmp.Compare(x.Tick, t) })
	if !ok {
		return nil
	}
	return &r.Ticks[i]
}

// hashOf returns the state hash that belongs to the right record at a check.
func (w *work) hashOf(t lockstep.Tick) (hash uint64, known bool) {
	if w.computed() == nil {
		if a := w.log.sums.agreed.find(t); a != nil {
			return a.hash, true
		}
		return 0, false
	}
	for _, d := range w.again.differences {
		if d.Tick == t && !d.Keyframe {
			return d.Got, true
		}
	}
	if a := w.log.sums.agreed.find(t); a != nil {
		return a.hash, true
	}
	s := w.again.side(t)
	return s.hash, s.known()
}

// reported returns the checksum of a check that a machine has reported, as the log has it: one that agrees is not in the log.
func (w *flights) reported(p lockstep.Player, t lockstep.Tick) (hash uint64, told bool) {
	if hash, told := w.mismatched[claim{p, t}]; told {
		return hash, true
	}
	if t == w.manifest.Tick {
		for _, g := range w.e.Groups {
			if slices.Contains(g.Players, p) || g.Referee && p == lockstep.System {
				h, err := checksum.ParseHash(g.Checksum)
				return h, err == nil
			}
		}
	}
	if a := w.log.sums.agreed.find(t); a != nil {
		return a.hash, true
	}
	return 0, false
}

// departs reports whether the run of a machine is one that went wrong, or that differs where nobody knows who did.
func (w *flights) departs(p lockstep.Player) bool {
	switch v := &w.e.Verdict; {
	case p == lockstep.System:
		return v.Party == WrongReferee
	case slices.Contains(v.Players, p):
		return true
	case v.Party == WrongReferee:
		return false
	case w.undecided():
		return w.e.mismatches(p) || p == w.manifest.Player
	}
	return false
}

// undecided reports whether nobody knows who was wrong.
func (w *work) undecided() bool { return w.e.Verdict.undecided() || w.e.Verdict.Party == WrongUnknown }

// departure compares the record of a machine that differs with what this program computes, and with the records of those that do not.
func (w *flights) departure(r recorded) (found Departure, ok bool) {
	after := w.agreedUntil(r)
	take := func(base *flight.Record) (d Departure, ok bool) {
		c, ok := flight.Compare(r.Record, base, after)
		if !ok || c.Differs == 0 {
			return d, false
		}
		first := Span{max(c.Same, after) + 1, min(c.Differs, w.manifest.Tick)} // at the check it differs
		if first.From > first.To {
			return d, false
		}
		d = Departure{Player: r.player, First: first, Every: sampled(r.Record, first), Replaced: c.Restored, Machines: []lockstep.Player{}}
		for _, i := range c.Sections {
			d.Sections = append(d.Sections, w.sectionName(i, r.Prints))
		}
		if c.Commands > 0 && c.Commands <= c.Differs {
			d.Commands = c.Commands
		}
		if p := c.Draws; p != nil && p.Tick <= c.Differs {
			d.Draws = &OtherDrawing{p.Tick, p.Phase, p.Stream, p.A, p.B, p.Marks}
		}
		return d, true
	}
	if x := w.computed(); x != nil {
		if found, ok = take(x); !ok {
			return found, false // what it reported is another story
		}
		found.Computed = true
	}
	disputed := false
	for _, other := range w.all { // the referee's is the first
		if other.player == r.player || w.departs(other.player) && !w.opposes(r.player, other.player) {
			continue
		}
		d, differs := take(other.Record)
		switch {
		case !differs:
		case !ok:
			found, ok = d, true
			found.Machines, found.Neutral = append(found.Machines, other.player), w.undecided()
		case d.First == found.First && slices.Equal(d.Sections, found.Sections):
			found.Machines = append(found.Machines, other.player)
		case !found.Computed:
			disputed = true
		}
	}
	slices.Sort(found.Machines)
	found.Grade = GradeConsistent
	if len(found.Machines) > 0 && !disputed {
		found.Grade = GradeProven
	}
	return found, ok
}

// sampled returns how far the ticks of which a record has a state are apart: around a span, if that is why the span is not one tick, or
// without a span at most. It returns 0 if they follow each other.
func sampled(r *flight.Record, s Span) (every lockstep.Tick) {
	last := -1
	for i := range r.Ticks {
		t := r.Ticks[i].Tick
		if r.Ticks[i].Prints == nil {
			continue
		}
		around := s == Span{} || !s.Exact() && last >= 0 && r.Ticks[last].Tick < s.From && s.To <= t
		if last >= 0 && around && i-last > 1 && t-r.Ticks[last].Tick == lockstep.Tick(i-last) { // no ticks are missing
			every = max(every, lockstep.Tick(i-last))
		}
		last = i
	}
	return every
}

// opposes reports whether two machines that differ have reported two checksums, and nobody knows whose is right.
func (w *flights) opposes(p, q lockstep.Player) bool {
	if !w.undecided() {
		return false
	}
	a, known := w.reported(p, w.manifest.Tick)
	b, told := w.reported(q, w.manifest.Tick)
	return known && told && a != b
}

// agreedUntil returns the last tick before the check at which a machine is known to have had the right state.
func (w *flights) agreedUntil(r recorded) lockstep.Tick {
	if r.player == w.manifest.Player {
		return max(w.manifest.Agreed, w.manifest.Began)
	}
	every := lockstep.Tick(w.log.header.Settings.CheckEvery)
	for i := len(r.Ticks) - 1; i >= 0; i-- {
		t := r.Ticks[i].Tick
		if t%every != 0 || t >= w.manifest.Tick {
			continue
		}
		right, known := w.hashOf(t)
		if h, told := w.reported(r.player, t); told && known && h == right {
			return t
		}
	}
	return 0
}

func (w *flights) sectionName(i, prints int) string {
	switch n := w.log.schema.NumSections(); {
	case i == prints-1 && n > prints:
		return w.log.schema.SectionName(i) + " or a later one"
	case i < n:
		return w.log.schema.SectionName(i)
	}
	return ""
}

// of returns the departure of a machine, or nil.
func (f *Flight) of(p lockstep.Player) *Departure {
	if f == nil {
		return nil
	}
	for i := range f.Machines {
		if f.Machines[i].Player == p {
			return &f.Machines[i]
		}
	}
	return nil
}

// settleFlights narrows the ticks in which the desync began to those of the record.
func (w *work) settleFlights() {
	if d := w.flown; d != nil && d.First.To <= w.bad && d.First.To >= w.e.First.From && d.First.From <= w.e.First.To {
		w.e.First = Span{max(w.e.First.From, d.First.From), min(w.e.First.To, d.First.To)}
	}
}

// recordedAt returns the tick in which the machine of the report began to differ, as its record shows; 0 if that is not exact.
func (w *work) recordedAt() lockstep.Tick {
	if d := w.flown; d != nil && d.First.Exact() && d.First.To <= w.bad {
		return d.First.To
	}
	return 0
}

func machineName(p lockstep.Player) string {
	if p == lockstep.System {
		return "the referee"
	}
	return fmt.Sprintf("player %d", p)
}

// String says in one sentence where a run departed from another one.
func (d Departure) String() string {
	var others []string
	if d.Computed {
		others = append(others, "this program's")
	}
	for _, p := range d.Machines {
		others = append(others, machineName(p)+"'s")
	}
	when := fmt.Sprintf("in tick %d", d.First.To)
	if !d.First.Exact() {
		when = fmt.Sprintf("in one of the ticks %d to %d", d.First.From, d.First.To)
	}
	if d.Every > 0 {
		when += fmt.Sprintf(" (its record has every %s tick)", ordinal(d.Every))
	}
	s := fmt.Sprintf("the run of %s parted from %s %s", machineName(d.Player), words.List(others), when)
	if len(d.Sections) > 0 {
		s += ", in " + d.Sections[0]
		if n := len(d.Sections) - 1; n > 0 {
			s += " and " + words.Count(n, "other section")
		}
	}
	if d.Replaced {
		s += ", where its state was replaced, as by a keyframe or --corrupt"
	}
	switch {
	case d.Grade == GradeProven:
		return s + ": proven, by the records of two machines"
	default:
		return s + ": consistent with its own record"
	}
}

// ordinal returns a power of two as an ordinal number.
func ordinal(n lockstep.Tick) string {
	if n%10 == 2 && n%100 != 12 {
		return fmt.Sprintf("%dnd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// String says where the draws began to differ.
func (o *OtherDrawing) String() string {
	where := fmt.Sprintf("in tick %d", o.Tick)
	if o.Phase != "" {
		where += ", phase " + o.Phase
	}
	switch {
	case o.Marks:
		return "it went through other phases of Step " + where
	case o.Stream != "":
		return fmt.Sprintf("it drew %d times from %s %s, and not %d times", o.Wrong, o.Stream, where, o.Right)
	}
	return "it drew otherwise " + where
}

// Lines says what the records show, and why some do not count; nil without records.
func (f *Flight) Lines() (all []string) {
	if f == nil {
		return nil
	}
	for _, d := range f.Machines {
		all = append(all, d.String())
		if d.Commands > 0 {
			all = append(all, fmt.Sprintf("it ran other commands in tick %d", d.Commands))
		}
		if d.Draws != nil {
			all = append(all, d.Draws.String())
		}
	}
	for _, r := range f.Records {
		if r.Aside != "" {
			all = append(all, fmt.Sprintf("the record of %s does not count: %s", machineName(r.Player), r.Aside))
		}
	}
	if len(all) == 0 {
		none := "no record shows where a run departed from another one"
		every := lockstep.Tick(0)
		for _, r := range f.Records {
			every = max(every, r.Every)
		}
		if every > 0 {
			none += fmt.Sprintf(": one has only every %s tick", ordinal(every))
		}
		all = append(all, none)
	}
	return all
}
