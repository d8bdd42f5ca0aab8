package desync

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

// page describes the result.
func (v *Verification) page() *words.Page {
	p := &words.Page{}
	if m := v.Bundle; m != nil {
		player := fmt.Sprintf("of player %d", m.Player)
		if m.Tie {
			player = "without a majority"
		}
		what := "desync"
		if m.Panic != nil {
			what, player = "panic", m.Where()
		}
		p.Line("bundle", "of the %s %s at tick %d: the replay in it is verified", what, player, m.Tick)
	}
	switch {
	case v.Imported != nil:
		v.Imported.add(p)
	case v.Verification == nil:
		p.Line("verdict", "not verified: %v", v.Err)
		return p
	default:
		v.facts(p)
	}
	p.Line("verdict", "%s", v.verdict())
	if a := v.Verdict; a != nil && a.Party != WrongUnknown {
		p.Line("", "%s", a.graded())
	}
	return p
}

// facts describes what was simulated and compared.
func (v *Verification) facts(p *words.Page) {
	took := ""
	if v.Took > 0 {
		took = fmt.Sprintf(" in %s, %.0fx real time", words.Seconds(v.Took), v.TimesRealTime())
	}
	p.Line("simulated", "%s with %s%s", words.Count(v.simulated(), "tick"), words.Count(v.Commands, "command"), took)
	p.Line("compared", "%s: %d equal, %d differ", words.Count(v.Checked, "checksum"), v.Checked-v.Differed, v.Differed)
	if v.Mismatches > 0 {
		p.Line("players", "%s differed when the match was played", words.Count(v.Mismatches, "checksum"))
	}
	for _, kind := range v.UnknownSignatures {
		p.Line("signature", "of unknown kind %d: not checked", kind)
	}
	for _, a := range v.Lineage {
		found := "its first state is that of " + a.Path
		switch {
		case a.Reason != "":
			found = "not followed: " + a.Reason
		case a.Path == "":
			found = "its first state is ANOTHER one"
		}
		p.Line("lineage", "from tick %d of %q, match %s: %s", a.Tick, a.Name, a.Match, found)
	}
	if v.Panic != nil {
		addPanic(p, v.Panic)
	}
	if len(v.Reported.Groups) > 0 {
		p.Line("groups", "at the check of tick %d", v.Reported.Tick)
	}
	for i := range v.Reported.Groups {
		p.Line("", "%s", v.Reported.Groups[i])
	}
	for i := range v.Verdict.Blames {
		p.Line("wrong", "%s", &v.Verdict.Blames[i])
	}
}

// verdict says whether the file is true, and how far.
func (v *Verification) verdict() string {
	if v.Imported != nil {
		return v.Imported.verdict(v.Err)
	}
	switch class := v.class(); {
	case v.First != nil:
		return fmt.Sprintf("DESYNC, first at tick %d: %s", v.First.Tick, v.Verdict.Text)
	case v.Panic != nil:
		return fmt.Sprintf("PANIC of the rules at tick %d: %s", v.Panic.Tick, panicGrade(v.Panic))
	case v.Verdict.Party == NoFixedResult:
		return "NO FIXED RESULT: " + v.Verdict.Text
	case v.falseLineage != nil:
		return fmt.Sprintf("FALSE LINEAGE: %v", v.falseLineage)
	case v.Err != nil && v.Checked == 0 && v.simulated() == 0:
		return "unknown: no tick was verified"
	case v.Ended && v.Err == nil:
		return "true: every checksum is that of the simulation"
	case v.Ended:
		return fmt.Sprintf("the match is true, but the file is %s after the match's end", cmp.Or(string(class), "unreadable"))
	case v.Bundle != nil && v.Err == nil:
		return fmt.Sprintf("true up to tick %d, where the replay in the bundle ends; see desync explain for the desync", v.Ticks)
	case class == replay.ClassSuspended:
		return fmt.Sprintf("true up to tick %d, where the match is suspended: a server can resume it", v.Ticks)
	case class == replay.ClassUnsupported:
		return fmt.Sprintf("true up to tick %d; the rest needs a newer reader", v.Ticks)
	case class == replay.ClassTorn || class == replay.ClassCorrupt || class == replay.ClassInvalid:
		return fmt.Sprintf("true up to tick %d, where the file becomes unreadable", v.Ticks)
	}
	return fmt.Sprintf("true up to tick %d; the rest was not verified", v.Ticks)
}

// String names the wrong player and the ticks, and says whether a later check has shown it right.
func (b *Blame) String() string {
	who, again := fmt.Sprintf("player %d", b.Player), "it was right again, or silent, at tick %d"
	if b.Who != WrongPlayer {
		who, again = said[b.Who].noun, "it was right again at tick %d"
	}
	text, never := fmt.Sprintf("%s at tick %d; ", who, b.First), "it was not seen right again"
	switch {
	case b.Checks > 1:
		text = fmt.Sprintf("%s in %s, of ticks %d to %d; ", who, words.Count(b.Checks, "check"), b.First, b.Last)
	case b.Open:
		return text + "later checks were not verified"
	}
	if b.Healed > 0 {
		return text + fmt.Sprintf(again, b.Healed)
	}
	if b.Gone > 0 {
		never += fmt.Sprintf(" before the player was gone at tick %d", b.Gone)
	}
	return text + never
}

// add describes the comparison.
func (m *Imported) add(p *words.Page) {
	p.Line("compared", "%s that players reported, with each other only: an imported match cannot be simulated", words.Count(m.Checks, "check"))
	for i := range m.Groups {
		p.Line(words.First("groups", i), "%s", m.Groups[i])
	}
	if len(m.Sections) > 0 {
		p.Line("sections", "%s", strings.Join(m.Sections, ", "))
	}
	for _, g := range m.Differ {
		stays := "to the last check"
		if g.Healed > 0 {
			stays = fmt.Sprintf("until tick %d, where it agrees again", g.Healed)
		} else if g.Gone > 0 {
			stays = fmt.Sprintf("until its reports end, at tick %d", g.Gone)
		}
		p.Line(fmt.Sprintf("player %d", g.Player), "differs in %d of %s, first at tick %d, %s", g.Checks, words.Count(m.Checks, "check"), g.First, stays)
	}
	if m.Ties > 0 {
		p.Line("ties", "in %s no group of players was the largest", words.Count(m.Ties, "check"))
	}
	if m.Alone > 0 {
		p.Line("alone", "%s by at most one player: nothing to compare", words.Plural(m.Alone, "check", "was reported", "were reported"))
	}
	if m.Torn {
		p.Line("torn", "the recording ends early, at tick %d", max(1, m.Ticks)-1)
	}
}

// groupsText says who differs from whom. The largest group is the first.
func groupsText(groups []Group, majority bool) string {
	var all []string
	reported := 0
	var minority Group
	for i := range groups {
		g := &groups[i]
		all = append(all, g.who())
		reported += len(g.Players)
		if i > 0 {
			minority.Players, minority.Names = append(minority.Players, g.Players...), append(minority.Names, append(g.Names, make([]string, len(g.Players)-len(g.Names))...)...)
		}
	}
	if !majority {
		return strings.Join(all, " | ") + ": no majority, so no verdict on who is right"
	}
	differ := "differ"
	if len(minority.Players) == 1 {
		differ = "differs"
	}
	return fmt.Sprintf("%s %s from the majority, %s: %d of %d", minority.who(), differ, all[0], len(groups[0].Players), reported)
}

// verdict says who differs. A non-nil err is the reason that the comparison does not cover the whole file.
func (m *Imported) verdict(err error) string {
	switch {
	case len(m.Differ) == 0 && m.Checks == 0:
		return "unknown: " + errAlone.Error()
	case len(m.Differ) > 0:
		return fmt.Sprintf("DESYNC, first at tick %d: %s", m.First, groupsText(m.Groups, m.Majority))
	case !m.Ended:
		return fmt.Sprintf("the players agree up to tick %d, where the file becomes unreadable", m.Ticks)
	case err != nil:
		return fmt.Sprintf("the players agree, but the file is %s after the match's end", cmp.Or(string(replay.ClassOf(err)), "unreadable"))
	}
	if m.Alone > 0 {
		return "the players agree where two or more reported"
	}
	return "the players agree"
}
