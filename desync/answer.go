package desync

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/state"
)

// maxAnswer bounds the bytes of a value in the title of a report.
const maxAnswer = 80

// answer returns the title of the report: what differs, when, and on whose machine, as far as that is known.
func (e *Explanation) answer() string {
	v := &e.Verdict
	switch {
	case e.Panic != nil && e.Panic.Text != "":
		return e.report() + ": " + clipped(e.Panic.Text, maxAnswer)
	case e.Panic != nil:
		return e.report()
	case v.Parting != nil:
		return "no fixed result: " + v.Parting.answer()
	case v.Party == TwoBuilds:
		return "two builds disagree: " + e.differs() + ", " + e.values()
	case v.Party == WrongKeyframe:
		return "a keyframe is not the match's state: " + e.differs()
	case v.Party == WrongReferee:
		return e.differs() + ", the referee"
	case v.Party == WrongPlayer && len(v.Players) == 1:
		return e.differs() + ", " + e.name(v.Players[0])
	case v.Party == WrongPlayer:
		return e.differs() + ", " + players(v.Players)
	}
	return e.differs() + ", " + e.values() + ": who is wrong is unknown"
}

// differs says what differs first, and when.
func (e *Explanation) differs() string {
	since := fmt.Sprintf("one of the ticks %d to %d", e.First.From, e.First.To)
	if e.First.Exact() {
		since = fmt.Sprintf("tick %d", e.First.To)
	}
	switch {
	case e.top == nil && e.First.Exact():
		return e.what() + " at " + since
	case e.top == nil:
		return e.what() + " in " + since
	case e.First == Span{e.Compared, e.Compared}:
		return e.what() + " at " + since
	}
	return fmt.Sprintf("%s at tick %d, since %s", e.what(), e.Compared, since)
}

// what names what differs first.
func (e *Explanation) what() string { return placeText(e.top, e.differing, e.Section) }

// placeText names the first of the fields that differ; without one, the section.
func placeText(p *state.Place, fields int, section string) string {
	switch {
	case p == nil && section != "":
		return section + " differs"
	case p == nil:
		return "the checksum differs"
	case p.Order:
		return p.String()
	}
	one := *p
	one.Fields, one.Elements = 1, 1
	one.First.A, one.First.B = clipped(p.First.A, maxAnswer), clipped(p.First.B, maxAnswer)
	if n := fields - 1; n > 0 {
		return fmt.Sprintf("%s (+%s)", &one, words.Count(n, "more field"))
	}
	return one.String()
}

// entitle keeps what differs first, whatever part of it the report lists.
func (w *work) entitle() {
	if w.listed == nil || w.e.Verdict.Party == NoFixedResult {
		return
	}
	all, places, _ := w.listed.named(w.listed.fields, w.listed.places, nil)
	if len(places.List) > 0 {
		w.e.top, w.e.differing = &places.List[0], all.Total
	}
}

// answer says in a few words where the results differ.
func (p *Parting) answer() string {
	s := "tick " + fmt.Sprint(p.Tick)
	if p.Field != "" {
		s = fmt.Sprintf("%s at tick %d", p.Field, p.Tick)
	}
	switch p.Way {
	case WayRestored:
		return s + ", computed from a state that was restored just before it"
	case WayNew:
		return s + ", computed from a state that was restored after New"
	}
	return s + ", computed again from the same state"
}

// Title returns the answer in one line: what differs, when, and between whom.
func (d *Divergence) Title() string {
	if r := d.unstable(); r != nil {
		return fmt.Sprintf("no fixed result: %s at tick %d, in a second run of %s", placeText(nil, 0, strings.Join(r.Sections, ", ")), r.Tick, r.Side)
	}
	if !d.Differs || d.Cause == CauseCommands || d.Cause == CauseOrder {
		return d.Verdict()
	}
	var first *state.Place
	if len(d.Places.List) > 0 && d.FieldsTick == d.Tick && d.path == "" {
		first = &d.Places.List[0]
	}
	who := "A | B"
	if a, b := d.A.Player, d.B.Player; a != nil && b != nil && *a != *b {
		who = fmt.Sprintf("player %d | player %d", *a, *b)
	}
	return fmt.Sprintf("%s %s, %s", placeText(first, d.Fields.Total, strings.Join(d.Sections, ", ")), d.Diverged(), who)
}
