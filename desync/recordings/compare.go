package recordings

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Compare finds where two machines that recorded one match begin to differ. Each side is one recording, and
// maybe further ones of the same machine, of later runs with the same commands: they may have other states, and show
// whether the game is deterministic. The error wraps [state.ErrPath] if no state has the Path of the options.
func Compare(a, b []*Recording, o Options) (*Divergence, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, errors.New("desync: want at least one recording of each side")
	}
	d := &Divergence{
		A: Side{Recording: a[0], More: a[1:]}, B: Side{Recording: b[0], More: b[1:]},
		Sections: []string{}, Reruns: []Rerun{}, Notes: []string{}, path: o.Path, limit: max(cmp.Or(o.Limit, 20), 0),
		Fields: state.Differences{List: []state.Difference{}}, Places: state.Places{List: []state.Place{}},
	}
	d.noteHeaders()
	if err := errors.Join(d.rerun("A", &d.A), d.rerun("B", &d.B)); err != nil {
		return nil, err
	}
	c := &recordingComparison{d: d, a: d.A.checks(), b: d.B.checks()}
	if slices.Equal(d.A.Sections, d.B.Sections) {
		c.names = d.A.Sections
	}
	c.states = d.A.schema != nil && d.B.schema != nil && d.A.schema.Fingerprint() == d.B.schema.Fingerprint()
	if !c.states && d.A.schema != nil && d.B.schema != nil {
		d.note("the states have different types, so they are not compared")
	}
	c.compare()
	if err := d.frames(); err != nil {
		return nil, err
	}
	if err := c.fields(o.Tick); err != nil {
		return nil, err
	}
	if err := d.traces(); err != nil {
		return nil, err
	}
	c.missing(o.Tick)
	d.judge()
	return d, nil
}

// noteHeaders notes what the headers say otherwise, although it should be the same on all machines.
func (d *Divergence) noteHeaders() {
	a, b := d.A.Recording, d.B.Recording
	if a.Match != b.Match && a.Match != "" && b.Match != "" {
		d.note("A is of match %q, and B of match %q", a.Match, b.Match)
	}
	if a.Game != b.Game {
		d.note("A is of the game %q, and B of %q", a.Game, b.Game)
	}
	if x, y := a.header.Settings.Players, b.header.Settings.Players; x != y {
		d.note("A has %s, and B has %d", words.Count(int(x), "seat"), y)
	}
	if x, y := matchlog.Rate(a.header.Settings.TickMicros), matchlog.Rate(b.header.Settings.TickMicros); x != y {
		d.note("A has %s ticks a second, and B has %s", x, y)
	}
	if len(a.Sections) > 0 && len(b.Sections) > 0 && !slices.Equal(a.Sections, b.Sections) {
		d.note("the sections have different names, so their checksums are not compared")
	}
}

// describer returns a describer of the commands, or nil for a header that no import wrote.
func (s *Side) describer() *lockstep.Describer {
	d, _ := lockstep.NewDescriber(s.header, nil)
	return d
}

// commonFrames calls visit with each tick whose commands differ, of those that both have, until it returns false. The commands
// of the last tick of a torn recording may be missing. A recording without any was made without them, unless the other has none either.
func commonFrames(a, b *Recording, visit func(*bisect.FrameDifference) bool) error {
	if !a.commands || !b.commands {
		return nil
	}
	return bisect.Frames(a.reader, b.reader, func(f *bisect.FrameDifference) bool { return !a.ran(f.Tick) || !b.ran(f.Tick) || visit(f) })
}

// frames finds the commands that differ. A difference after which the checksums agree is not that of the states.
func (d *Divergence) frames() error {
	a, b := d.A.Recording, d.B.Recording
	differ := make(map[lockstep.Tick]bool)
	err := commonFrames(a, b, func(f *bisect.FrameDifference) bool {
		differ[f.Tick] = true
		if d.Known && f.Tick <= d.Agreed {
			d.early = cmp.Or(d.early, f.Tick)
			return true
		}
		d.Frame = f
		return false
	})
	if err != nil {
		return err
	}
	if d.early > 0 {
		d.note("the commands of tick %d differ (t %d in the recordings), but the states agree at tick %d", d.early, d.early-1, d.Agreed)
	}
	if d.Frame != nil {
		if oneBit(d.Frame) {
			d.note("the commands of tick %d differ in a single flipped bit", d.Frame.Tick)
		}
		d.Commands = bisect.DescribeFrame(d.Frame, d.A.describer(), d.B.describer(), d.limit)
	}
	d.orders(differ)
	return nil
}

// oneBit reports whether the commands differ in a single bit of a payload.
func oneBit(f *bisect.FrameDifference) bool {
	if len(f.A) != len(f.B) {
		return false
	}
	differ := 0
	for i := range f.A {
		a, b := &f.A[i], &f.B[i]
		if record.Compare(a, b) != 0 || a.Kind != b.Kind {
			return false
		}
		if !bytes.Equal(a.Payload, b.Payload) {
			differ++
			if !diff.OneBit(a.Payload, b.Payload) {
				return false
			}
		}
	}
	return differ == 1
}

// orders compares the order of the players in ticks whose commands do not differ. If it differed before without an effect, it
// is no cause.
func (d *Divergence) orders(differ map[lockstep.Tick]bool) {
	sums := make(map[lockstep.Tick][2]uint64)
	for i, r := range []*Recording{d.A.Recording, d.B.Recording} {
		for _, o := range r.orders {
			both := sums[o.tick]
			both[i] = o.hash
			sums[o.tick] = both
		}
	}
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		t := at + 1
		if sums[at][0] == sums[at][1] || differ[t] || !d.A.ran(t) || !d.B.ran(t) {
			continue
		}
		if d.Known && t <= d.Agreed || !d.Differs {
			d.note("the order of the players in tick %d differs (t %d in the recordings), and the states do not, up to tick %d", t, t-1, d.Agreed)
		} else if t <= d.Tick {
			d.Order = t
		}
		return
	}
}

// rerun compares the further recordings of a side with the first one.
func (d *Divergence) rerun(name string, s *Side) error {
	s.usable = []lockstep.Tick{math.MaxUint32}
	for _, r := range s.More {
		var frame *bisect.FrameDifference
		err := commonFrames(s.Recording, r, func(f *bisect.FrameDifference) bool {
			frame = f
			return false
		})
		if err != nil {
			return err
		}
		end, found := lockstep.Tick(math.MaxUint32), (*Rerun)(nil)
		if frame != nil {
			end, found = frame.Tick, &Rerun{Side: name, File: r.File, Commands: true, Tick: frame.Tick, Sections: []string{}}
		}
		x, y := Side{Recording: s.Recording, usable: s.usable[:1]}, Side{Recording: r, usable: s.usable[:1]}
		c := &recordingComparison{d: &Divergence{}, a: x.checks(), b: y.checks()}
		if slices.Equal(s.Sections, r.Sections) {
			c.names = s.Sections
		}
		c.states = s.schema != nil && r.schema != nil && s.schema.Fingerprint() == r.schema.Fingerprint()
		if c.compare(); c.d.Differs && c.d.Tick < end {
			end, found = c.d.Tick, &Rerun{Side: name, File: r.File, Tick: c.d.Tick, Sections: append([]string{}, c.d.Sections...)}
		}
		s.usable = append(s.usable, end)
		if found != nil {
			d.Reruns = append(d.Reruns, *found)
		}
	}
	return nil
}

// A recordingComparison compares what two sides know.
type recordingComparison struct {
	d      *Divergence
	a, b   []recordedCheck
	names  []string // of the sections, if both have the same
	states bool     // both have the same type of states
}

// compare finds the first tick at which the sides differ.
func (c *recordingComparison) compare() {
	d := c.d
	var odd [2]bool // a note was made
	for i, j := 0, 0; i < len(c.a) && j < len(c.b); {
		x, y := &c.a[i], &c.b[j]
		if x.tick != y.tick {
			if x.tick < y.tick {
				i++
			} else {
				j++
			}
			continue
		}
		i, j = i+1, j+1
		sums, states := x.of != nil && y.of != nil, c.states && x.from != nil && y.from != nil
		names := c.differing(x, y)
		sumDiffers, stateDiffers := sums && (x.hash != y.hash || len(names) > 0), states && x.state != y.state
		if sums {
			d.Compared++
		}
		if sums && sumDiffers {
			d.Differed++
		}
		if sums && states && sumDiffers != stateDiffers && !odd[btoi(stateDiffers)] {
			odd[btoi(stateDiffers)] = true
			if stateDiffers {
				d.note("the states of tick %d differ, but their checksums are equal: the checksums do not cover all of the state", x.tick)
			} else {
				d.note("the checksums of tick %d differ, but the states are equal: the states lack something that the checksums cover", x.tick)
			}
		}
		switch {
		case d.Differs || !sums && !states:
		case sumDiffers || stateDiffers:
			d.Differs, d.Tick, d.Sections = true, x.tick, append([]string{}, names...)
			d.Exact = x.tick == 0 || d.Known && d.Agreed+1 == x.tick
		default:
			d.Agreed, d.Known = x.tick, true
		}
	}
}

// first returns the first tick that both sides may have.
func (c *recordingComparison) first() lockstep.Tick { return max(c.d.A.begins(), c.d.B.begins()) }

func (s *Side) begins() lockstep.Tick {
	if s.Recording == nil {
		return 0
	}
	return s.First
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// differing returns the names of the sections whose checksums differ.
func (c *recordingComparison) differing(x, y *recordedCheck) (names []string) {
	if c.names == nil || x.at == 0 || y.at == 0 {
		return nil
	}
	one, other := x.of.pool[x.at-1:], y.of.pool[y.at-1:]
	for i, name := range c.names {
		if one[i] != other[i] {
			names = append(names, name)
		}
	}
	return names
}

// common calls visit for each tick from one on of which both have the state, until it returns false.
func (c *recordingComparison) common(from lockstep.Tick, visit func(x, y *recordedCheck) bool) {
	for i := range c.a {
		x := &c.a[i]
		if x.tick < from || x.from == nil {
			continue
		}
		j, found := slices.BinarySearchFunc(c.b, x.tick, func(y recordedCheck, t lockstep.Tick) int { return cmp.Compare(y.tick, t) })
		if found && c.b[j].from != nil && !visit(x, &c.b[j]) {
			return
		}
	}
}

// fields compares the states of the first tick that differs, or of a given one.
func (c *recordingComparison) fields(tick *lockstep.Tick) error {
	d := c.d
	if !c.states || !d.Differs && tick == nil {
		return nil
	}
	from := d.Tick
	if tick != nil {
		from = *tick
	}
	var x, y *recordedCheck
	c.common(from, func(p, q *recordedCheck) bool {
		if tick != nil && p.tick != *tick {
			return false
		}
		if p.state != q.state || tick != nil {
			x, y = p, q
		}
		return x == nil
	})
	if x == nil {
		return nil
	}
	one, err := x.from.state(x.tick)
	if err != nil {
		return err
	}
	other, err := y.from.state(y.tick)
	if err != nil {
		return err
	}
	if d.Fields, d.Places, err = desync.DiffStates(d.A.schema, one, other, d.path); err != nil {
		return err
	}
	d.FieldsTick, d.asked = x.tick, tick != nil
	if diff.OneBit(one, other) && len(d.Fields.List) == 1 {
		f := d.Fields.List[0]
		d.Flipped = f.ULPs != 1 && f.A != "true" && f.B != "true" // a rounding, and any bool, differ in a bit as well
	}
	if len(d.Sections) == 0 && x.tick == d.Tick && d.path == "" {
		for _, p := range d.Places.List {
			name, _, _ := strings.Cut(p.Path, ".")
			name, _, _ = strings.Cut(name, "[")
			if !slices.Contains(d.Sections, name) {
				d.Sections = append(d.Sections, name)
			}
		}
	}
	return nil
}

// maxMissing is how many ticks a [MissingStates] has.
const maxMissing = 10_000

// missing finds the states without which the first field that differed is not known: of the first tick that differs, and
// of those before it, back to the last that is equal.
func (c *recordingComparison) missing(tick *lockstep.Tick) {
	d := c.d
	from, to := d.Agreed, d.Tick
	switch {
	case tick != nil:
		from, to = *tick, *tick
	case !d.Differs, d.Exact && !lacks(c.a, to) && !lacks(c.b, to):
		return
	case !d.Known:
		from = min(c.first(), to)
	}
	if to-from > maxMissing {
		from = to - maxMissing
	}
	var both []desync.Span
	m := &MissingStates{A: []desync.Span{}, B: []desync.Span{}}
	add := func(t lockstep.Tick) {
		lacksA, lacksB := lacks(c.a, t), lacks(c.b, t)
		m.A, m.B = extend(m.A, t, lacksA), extend(m.B, t, lacksB)
		both = extend(both, t, lacksA || lacksB)
	}
	if t := d.resumed(); tick == nil && 0 < t && t < from {
		add(t)
	}
	for t := from; t <= to; t++ {
		add(t)
	}
	if len(both) == 0 {
		return
	}
	m.Dump = dumpText(both)
	d.Missing = m
}

// A recordedCheck is what a side knows about the state of a tick.
type recordedCheck struct {
	hash  uint64     // the checksum
	of    *Recording // that has it, or nil
	state uint64     // the hash of the state
	from  *Recording // that has it, or nil
	tick  lockstep.Tick
	at    int32 // of the checksums of the sections, as in a recordedSum
}

// checks returns what a side knows, by tick. Of several recordings the first one counts.
func (s *Side) checks() []recordedCheck {
	var all []recordedCheck
	for i, r := range append([]*Recording{s.Recording}, s.More...) {
		for _, sum := range r.sums {
			if sum.tick < s.usable[i] {
				all = append(all, recordedCheck{tick: sum.tick, hash: sum.hash, of: r, at: sum.at})
			}
		}
		for _, dump := range r.dumps {
			if dump.tick < s.usable[i] {
				all = append(all, recordedCheck{tick: dump.tick, state: dump.hash, from: r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b recordedCheck) int { return cmp.Compare(a.tick, b.tick) })
	kept := all[:0]
	for _, c := range all {
		if last := len(kept) - 1; last >= 0 && kept[last].tick == c.tick {
			kept[last].add(c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// add takes the checksum and the state from o that c lacks.
func (c *recordedCheck) add(o recordedCheck) {
	if c.of == nil && o.of != nil {
		c.hash, c.of, c.at = o.hash, o.of, o.at
	}
	if c.from == nil && o.from != nil {
		c.state, c.from = o.state, o.from
	}
}

// lacks reports whether a side has no state of a tick.
func lacks(side []recordedCheck, t lockstep.Tick) bool {
	i, found := slices.BinarySearchFunc(side, t, func(c recordedCheck, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	return !found || side[i].from == nil
}

// CompareMachines compares the recordings of one match by any number of machines: the first machine with each other one. It
// returns the pair that diverges first, and in desync.LeftOut what became of the other recordings. Recordings with the same player, build and platform are of one machine. If all are,
// they count as two machines, as in [SidesOf].
func CompareMachines(all []*Recording, o Options) (*Divergence, error) {
	if len(all) < 2 {
		return nil, errors.New("desync: want at least two recordings")
	}
	machines := machinesOf(all)
	if len(machines) == 1 {
		a, b, err := SidesOf(all)
		if err != nil {
			return nil, err
		}
		machines = [][]*Recording{a, b}
	}
	var first *Divergence
	var every []*Divergence
	for _, other := range machines[1:] {
		d, err := Compare(machines[0], other, o)
		if err != nil {
			return nil, err
		}
		if every = append(every, d); first == nil || d.before(first) {
			first = d
		}
	}
	first.leaveOut(first.A.Recording, first.A.More)
	for _, d := range every {
		if d != first {
			first.LeftOut = append(first.LeftOut, desync.LeftOut{Name: d.B.File, Why: "of another machine, compared with " + d.A.File + ": " + d.Verdict(), Lone: d.Uncompared() != nil})
		}
		first.leaveOut(d.B.Recording, d.B.More)
	}
	return first, nil
}

// leaveOut notes the further recordings of a machine.
func (d *Divergence) leaveOut(of *Recording, more []*Recording) {
	for _, r := range more {
		if u := d.unstable(); u == nil || u.File != r.File {
			d.LeftOut = append(d.LeftOut, desync.LeftOut{Name: r.File, Why: "a further recording of the machine of " + of.File + ", used with it"})
		}
	}
}

// machinesOf divides recordings by the machines that made them.
func machinesOf(all []*Recording) (machines [][]*Recording) {
next:
	for _, r := range all {
		for i := range machines {
			if r.sameMachine(machines[i][0]) {
				machines[i] = append(machines[i], r)
				continue next
			}
		}
		machines = append(machines, []*Recording{r})
	}
	return machines
}

// Case returns the difference as a case for a [Triage], whose name is those of the first file of each side, and of the run
// that shows the cause. It counts all files of both. No side is known to be wrong. It returns false if nothing differs.
func (d *Divergence) Case(written time.Time) (desync.Case, bool) {
	if d.Cause == CauseNone {
		return desync.Case{}, false
	}
	c := desync.Case{
		Name: d.A.File + " " + d.B.File, Files: 2 + len(d.A.More) + len(d.B.More), Written: written,
		Fingerprint: d.fingerprint(), Party: desync.WrongUnknown, First: d.span(),
		Machines: []desync.Machine{{Build: d.A.Build, Platform: d.A.Platform}, {Build: d.B.Build, Platform: d.B.Platform}},
	}
	if r := d.unstable(); r != nil {
		c.Name += " " + r.File
	}
	return c, true
}

// fingerprint names the cause by what the recordings show. A state of a later tick counts only if no section is known.
func (d *Divergence) fingerprint() desync.Fingerprint {
	class, sections, path := desync.ClassUnknown, d.Sections, ""
	switch d.Cause {
	case CauseCommands, CauseOrder:
		class = desync.ClassCommands
	case CauseStart:
		class = desync.ClassBeginning
	case CauseRerun:
		class, sections = desync.ClassUnstable, d.unstable().Sections
	}
	if len(d.Places.List) > 0 && d.Cause != CauseRerun && (d.FieldsTick == d.Tick || len(sections) == 0) {
		path = d.Places.List[0].First.Path
	}
	phase := ""
	if d.Cause == CauseStates || d.Cause == CausePhases {
		phase = d.Traces.name()
	}
	return desync.NewFingerprint(d.A.Game, class, strings.Join(sections[:min(1, len(sections))], ""), path, phase)
}
