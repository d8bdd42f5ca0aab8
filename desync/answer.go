package desync

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// maxAnswer bounds the bytes of a value in the title of a report.
const maxAnswer = 80

// answer returns the title of the report: what differs, when, and on whose machine, as far as that is known.
func (e *Explanation) answer() string {
	v := &e.Verdict
	switch {
	case e.Panic != nil && e.Panic.Text != "":
		return e.report() + ": " + words.Clipped(e.Panic.Text, maxAnswer)
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
	one.First.A, one.First.B = words.Clipped(p.First.A, maxAnswer), words.Clipped(p.First.B, maxAnswer)
	if n := fields - 1; n > 0 {
		return fmt.Sprintf("%s (+%s)", &one, words.Count(n, "more field"))
	}
	return one.String()
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
	case WayApart:
		return s + ", computed in a process that computes nothing else"
	case WayWhole:
		return s + ", simulated twice up to there"
	case WayMachine:
		return s + ", computed again by the player's machine"
	}
	return s + ", computed again from the same state"
}

func (e *Explanation) report() string {
	if e.Panic != nil {
		m := replay.Manifest{Player: e.Player}
		return fmt.Sprintf("the rules panicked %s in %s of tick %d", m.Where(), e.Panic.Where, e.Tick)
	}
	s := fmt.Sprintf("at the check of tick %d", e.Tick)
	if e.Tie {
		s += ": no majority"
	} else {
		s += fmt.Sprintf(": %s differs", e.name(e.Player))
	}
	if e.Section != "" {
		s += " in " + e.Section
	}
	if e.Agreed > 0 {
		s += fmt.Sprintf(", last agreed at tick %d", e.Agreed)
	}
	if e.Began > e.Agreed {
		s += fmt.Sprintf(", was sent the state of tick %d", e.Began)
	}
	return s
}

// name returns a player's number and name.
func (e *Explanation) name(p lockstep.Player) string {
	for i := range e.Who {
		if e.Who[i].Player == p && e.Who[i].Name != "" {
			return fmt.Sprintf("player %d (%s)", p, e.Who[i].Name)
		}
	}
	return fmt.Sprintf("player %d", p)
}

// values says whose are the two values of a field.
func (e *Explanation) values() string {
	if e.Verdict.undecided() && !e.Tie {
		agreed := "the referee"
		if len(e.Groups) > 0 && len(e.Groups[0].Players) > 0 && !e.Groups[0].Referee { // relay mode has none
			agreed = e.Groups[0].who()
		}
		return fmt.Sprintf("%s → player %d", agreed, e.Player)
	}
	return "right → wrong"
}
