package desync

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/internal/pages"
)

// said is what texts and pages say of each party. Players have numbers and names instead.
var said = map[Party]struct {
	title    string // of a text
	headline string // of a page
	noun     string // in a sentence
}{
	WrongReferee:  {"THE REFEREE", "The referee computed it wrong", "the referee"},
	WrongBuild:    {"THE BUILD", "This build computes something else", "this build or the file"},
	WrongKeyframe: {"A KEYFRAME", "A keyframe of the replay is not the match's state", "the keyframe"},
	WrongUnclear:  {noun: "the referee or this build"},
	NoFixedResult: {title: "NO FIXED RESULT", headline: "The rules have no fixed result"},
	TwoBuilds:     {title: "TWO BUILDS DISAGREE", headline: "Two builds disagree"},
	RulesPanicked: {title: "THE RULES PANICKED", headline: "The rules panicked"},
}

// title returns the party as the beginning of a text.
func (v *Verdict) title() string {
	switch {
	case v.Party == WrongPlayer && len(v.Players) > 1:
		return "THE PLAYERS"
	case v.Party == WrongPlayer:
		return "THE PLAYER"
	}
	return cmp.Or(said[v.Party].title, "UNKNOWN")
}

// headline returns the verdict as the headline of a page.
func (e *Explanation) headline() string {
	switch v := &e.Verdict; {
	case v.Party == WrongPlayer && len(v.Players) == 1:
		return pages.Capital(e.name(v.Players[0])) + " computed it wrong"
	case v.Party == WrongPlayer:
		return pages.Capital(players(v.Players)) + " computed it wrong"
	}
	return cmp.Or(said[e.Verdict.Party].headline, "Who is wrong is unknown")
}

// graded says how well the verdict is known.
func (v *Verdict) graded() string {
	if v.Runs < 2 || v.Parting != nil {
		return "grade: " + string(v.Grade)
	}
	how := ", one in a process of its own"
	switch {
	case v.NotApart != "":
		how = ", none in a process of its own: " + v.NotApart
	case !v.Apart:
		how = ", none in a process of its own"
	}
	return fmt.Sprintf("grade: %s; %d simulations agree with each other%s", v.Grade, v.Runs, how)
}

// A judge says what machines a verdict is about.
type judge struct {
	machine  string // that simulated the match again
	recorder string // that recorded it
	agreed   string // what has the agreed checksum: "the referee", or "the agreed checksum" if it is not known whether there is one
}

// edited is what may be if this build is the recorder's. No simulation here can see another hour.
const edited = "the file was edited, or the rules read a clock that says another hour or day now"

// text puts a verdict into words. The check is the one that decides, or nil if a keyframe does.
func (j *judge) text(v *Verdict, c *check) string {
	if c == nil {
		return j.keyframe(v)
	}
	right, _ := c.sides()
	again := "the match simulated again agrees with "
	switch {
	case v.Party == WrongBuild && len(c.mismatches) == 0:
		return fmt.Sprintf("this build (on %s) computes %s at tick %d where the log has %s, before anybody differed: take the build and the platform that recorded it (%s). If they compute the same, "+edited,
			j.machine, checksum.FormatHash(c.own), c.tick, checksum.FormatHash(c.agreed), j.recorder)
	case v.Party == WrongBuild && len(right) > 0:
		return fmt.Sprintf("%s%s alone: this build (on %s) may be theirs, and differs from the one of most players (on %s), or "+edited,
			again, players(right), j.machine, j.recorder)
	case v.Party == WrongBuild:
		return fmt.Sprintf("the match simulated again (on %s) matches no report: this build differs from the one that played the match (on %s), or all reports are wrong, or "+edited,
			j.machine, j.recorder)
	case v.Party == WrongUnclear && c.seats == 2:
		return again + players(right) + ", not with " + j.agreed + ": which of them is right is unknown"
	case v.Party == WrongUnclear:
		return again + "half of the players: which half is right is unknown"
	case v.Party == WrongReferee:
		return again + players(right) + ", not with the referee"
	case v.Party == WrongPlayer && c.tie:
		return again + players(right) + ", not with " + players(v.Players)
	case v.Party == WrongPlayer:
		return again + j.agreed + ", not with " + players(v.Players)
	}
	return "all checksums match the simulation"
}

// keyframe returns the text of a verdict on a keyframe.
func (j *judge) keyframe(v *Verdict) string {
	switch v.Party {
	case WrongKeyframe:
		i := slices.IndexFunc(v.Blames, func(b Blame) bool { return b.Who == WrongKeyframe })
		return fmt.Sprintf("the keyframe of tick %d is not the state that the simulation gives; the checksums are right", v.Blames[i].First)
	case WrongBuild:
		return fmt.Sprintf("a keyframe is not the state that the simulation gives, and no check follows: this build (on %s) differs from the one that recorded it (on %s), or "+edited, j.machine, j.recorder)
	}
	return "unknown"
}
