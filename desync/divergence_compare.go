package desync

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// CompareRecordings finds where two machines that recorded one match begin to differ. Each side is one recording, and
// maybe further ones of the same machine, of later runs with the same commands: they may have other states, and show
// whether the game is deterministic. The error wraps [state.ErrPath] if no state has the Path of the options.
func CompareRecordings(a, b []*Recording, o RecordingOptions) (*Divergence, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, errors.New("desync: want a recording of each side")
	}
	d := &Divergence{
		A: RecordedSide{Recording: a[0], More: a[1:]}, B: RecordedSide{Recording: b[0], More: b[1:]},
		Sections: []string{}, Reruns: []Rerun{}, Notes: []string{}, path: o.Path, limit: limitOf(o.Limit),
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
	if a.seats != b.seats {
		d.note("A has %s, and B has %d", words.Count(int(a.seats), "seat"), b.seats)
	}
	if a.rate != b.rate {
		d.note("A has %s ticks a second, and B has %s", a.rate, b.rate)
	}
	if len(a.Sections) > 0 && len(b.Sections) > 0 && !slices.Equal(a.Sections, b.Sections) {
		d.note("the sections have different names, so their checksums are not compared")
	}
}

func (d *Divergence) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// describer returns a describer of the commands, or nil for a header that no import wrote.
func (s *RecordedSide) describer() *lockstep.Describer {
	r, err := s.reader.Reopen()
	if err != nil {
		return nil
	}
	rec, err := r.Next()
	if err != nil {
		return nil
	}
	d, _ := lockstep.NewDescriber(rec.Header, nil)
	return d
}

// commonFrames calls visit with each tick whose commands differ, of those that both have, until it returns false. The commands
// of the last tick of a torn recording may be missing. A recording without any was made without them, unless the other has none either.
func commonFrames(a, b *Recording, visit func(*FrameDifference) bool) error {
	if !a.commands || !b.commands {
		return nil
	}
	x, err := newOutline(a.reader)
	if err != nil {
		return err
	}
	y, err := newOutline(b.reader)
	if err != nil {
		return err
	}
	x.frames, y.frames = true, true
	differingFrames(x, y, func(f *FrameDifference) bool { return !a.ran(f.Tick) || !b.ran(f.Tick) || visit(f) })
	return nil
}

// frames finds the commands that differ. A difference after which the checksums agree is not that of the states.
func (d *Divergence) frames() error {
	a, b := d.A.Recording, d.B.Recording
	differ := make(map[lockstep.Tick]bool)
	err := commonFrames(a, b, func(f *FrameDifference) bool {
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
		if d.Frame.oneBit() {
			d.note("the commands of tick %d differ in a single flipped bit", d.Frame.Tick)
		}
		d.Commands = DescribeFrame(d.Frame, d.A.describer(), d.B.describer(), d.limit)
	}
	d.orders(differ)
	return nil
}

// orders compares the order of the players in ticks whose commands do not differ. If it differed before without an effect, it
// is no cause.
func (d *Divergence) orders(differ map[lockstep.Tick]bool) {
	a, b := d.A.orders, d.B.orders
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var x, y recordedSum
		if i < len(a) {
			x = a[i]
		}
		if j < len(b) {
			y = b[j]
		}
		switch {
		case j == len(b) || i < len(a) && x.tick < y.tick:
			y = recordedSum{}
			i++
		case i == len(a) || y.tick < x.tick:
			x = recordedSum{tick: y.tick}
			j++
		default:
			i, j = i+1, j+1
		}
		t := x.tick + 1
		if x.hash == y.hash || differ[t] || !d.A.ran(t) || !d.B.ran(t) {
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
func (d *Divergence) rerun(name string, s *RecordedSide) error {
	s.usable = []lockstep.Tick{math.MaxUint32}
	for _, r := range s.More {
		var frame *FrameDifference
		err := commonFrames(s.Recording, r, func(f *FrameDifference) bool {
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
		x, y := RecordedSide{Recording: s.Recording, usable: s.usable[:1]}, RecordedSide{Recording: r, usable: s.usable[:1]}
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
				d.note("the states of tick %d differ, but their checksums are equal: these do not cover all of the state", x.tick)
			} else {
				d.note("the checksums of tick %d differ, but the states are equal: these do not have all that the checksums cover", x.tick)
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

// begins returns the first tick of a side.
func (s *RecordedSide) begins() lockstep.Tick {
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
	aligned, err := diff.Align(d.A.schema, one, other)
	if err != nil {
		return fmt.Errorf("desync: states of tick %d: %w", x.tick, err)
	}
	if d.Fields, d.Places, err = aligned.Named(aligned.Differences(d.path, maxListed)); err != nil {
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
	var both []Span
	m := &MissingStates{A: []Span{}, B: []Span{}}
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
