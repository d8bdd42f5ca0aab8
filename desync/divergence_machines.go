package desync

import (
	"errors"
	"strings"
	"time"
)

// CompareMachines compares the recordings of one match by any number of machines: the first machine with each other one. It
// returns the pair that diverges first, and in LeftOut what became of the other recordings. Recordings with the same player, build and platform are of one machine. If all are,
// they count as two machines, as in [SidesOf].
func CompareMachines(all []*Recording, o RecordingOptions) (*Divergence, error) {
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
		d, err := CompareRecordings(machines[0], other, o)
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
			first.LeftOut = append(first.LeftOut, LeftOut{d.B.File, "of another machine, compared with " + d.A.File + ": " + d.Verdict(), d.Uncompared() != nil})
		}
		first.leaveOut(d.B.Recording, d.B.More)
	}
	return first, nil
}

// leaveOut notes the further recordings of a machine.
func (d *Divergence) leaveOut(of *Recording, more []*Recording) {
	for _, r := range more {
		if u := d.unstable(); u == nil || u.File != r.File {
			d.LeftOut = append(d.LeftOut, LeftOut{Name: r.File, Why: "a further recording of the machine of " + of.File + ", used with it"})
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

// before reports whether d shows a difference, and other none or a later one.
func (d *Divergence) before(other *Divergence) bool {
	if d.Cause == CauseNone || other.Cause == CauseNone {
		return d.Cause != CauseNone || other.Uncompared() != nil && d.Uncompared() == nil
	}
	return d.span().To < other.span().To
}

// span returns where the first divergent tick is.
func (d *Divergence) span() Span {
	switch r := d.unstable(); {
	case r != nil:
		return Span{r.Tick, r.Tick}
	case d.Differs && d.Exact:
		return Span{d.Tick, d.Tick}
	case d.Differs && d.Known:
		return Span{d.Agreed + 1, d.Tick}
	case d.Differs:
		return Span{0, d.Tick}
	case d.Frame != nil:
		return Span{d.Frame.Tick, d.Frame.Tick}
	}
	return Span{}
}

// unstable returns the first run that had other states from the same commands, if that is the cause, or nil.
func (d *Divergence) unstable() (first *Rerun) {
	if d.Cause != CauseRerun {
		return nil
	}
	for i := range d.Reruns {
		if r := &d.Reruns[i]; !r.Commands && (first == nil || r.Tick < first.Tick) {
			first = r
		}
	}
	return first
}

// Case returns the difference as a case for a [Triage], whose name is those of the first file of each side, and of the run
// that shows the cause. It counts all files of both. No side is known to be wrong. It returns false if nothing differs.
func (d *Divergence) Case(written time.Time) (Case, bool) {
	if d.Cause == CauseNone {
		return Case{}, false
	}
	c := Case{
		Name: d.A.File + " " + d.B.File, Files: 2 + len(d.A.More) + len(d.B.More), Written: written,
		Fingerprint: d.fingerprint(), Party: WrongUnknown, First: d.span(),
		Machines: []Machine{{Build: d.A.Build, Platform: d.A.Platform}, {Build: d.B.Build, Platform: d.B.Platform}},
	}
	if r := d.unstable(); r != nil {
		c.Name += " " + r.File
	}
	return c, true
}

// fingerprint names the cause by what the recordings show. A state of a later tick counts only if no section is known.
func (d *Divergence) fingerprint() Fingerprint {
	class, sections, path := ClassUnknown, d.Sections, ""
	switch d.Cause {
	case CauseCommands, CauseOrder:
		class = ClassCommands
	case CauseStart:
		class = ClassBeginning
	case CauseRerun:
		class, sections = ClassUnstable, d.unstable().Sections
	}
	if len(d.Places.List) > 0 && d.Cause != CauseRerun && (d.FieldsTick == d.Tick || len(sections) == 0) {
		path = d.Places.List[0].First.Path
	}
	return NewFingerprint(d.A.Game, class, strings.Join(sections[:min(1, len(sections))], ""), path)
}
