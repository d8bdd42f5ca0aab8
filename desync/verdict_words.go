package desync

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
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
	WarmCold:      {title: "WARM AND COLD DIFFER", headline: "The warm and the cold state differ"},
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

// What a verdict says of votes and of programs.
const (
	noMajority     = "no checksum has a majority, and the match was not simulated again"
	refereeAlone   = "all %d players who reported have one checksum, and the referee has another; not simulated again"
	notAgreed      = "the checksum of %s is not the agreed one; not simulated again"
	programsDiffer = "the programs differ as the checksums do, so each may be right by its own rules: "

	// edited is what may be if this build is the recorder's. No simulation here can see another hour.
	edited = "the file was edited, or the rules read a clock that says another hour or day now"
)

// accusesNobody is the text of a verdict that the rules have no fixed result.
func (p *Parting) accusesNobody() string {
	if p.Way == WayMachine {
		return "nobody is accused, because " + p.String()
	}
	return "nobody is accused, because the rules of this build have no fixed result: " + p.String()
}

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

// answer returns the title of the report: what differs, when, and on whose machine, as far as that is known.
func (e *Explanation) answer() string {
	v := &e.Verdict
	switch {
	case e.Panic != nil && e.Panic.Text != "":
		return e.report() + ": " + words.Clipped(e.Panic.Text, diff.MaxAnswer)
	case e.Panic != nil:
		return e.report()
	case e.Twin != nil && v.Parting == nil:
		return e.twinAnswer()
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

// String says where the results differ, and what to look for.
func (p Parting) String() string {
	where := ""
	if p.Field != "" {
		where = " in " + p.Field
	}
	switch p.Way {
	case WayRestored:
		return fmt.Sprintf("tick %d, simulated again from a state that was restored just before it, has another result%s: something that is not in the state decides, such as a derived field that Derive does not rebuild", p.Tick, where)
	case WayNew:
		return fmt.Sprintf("tick %d, simulated again from the same state, has another result%s if New was called before: New makes something that Derive does not rebuild when a state is restored", p.Tick, where)
	case WayApart:
		return fmt.Sprintf("tick %d, simulated again from the same state, has another result%s in a process that computes nothing else: a package variable that New or another match fills decides, or the time zone or the environment", p.Tick, where)
	case WayWhole:
		return fmt.Sprintf("tick %d, to which the match was simulated twice, has another result%s, or an earlier tick that was not compared: map order, goroutines, time, or randomness or memory outside of the state decide", p.Tick, where)
	case WayMachine:
		return fmt.Sprintf("the player's machine, which computed the ticks again, has more than one result of tick %d: map order, goroutines, time, randomness or memory outside of the state decide, or memory that fails often", p.Tick)
	}
	return fmt.Sprintf("tick %d, simulated again from the same state with the same commands, has another result%s: map order, goroutines, time, or randomness or memory outside of the state decide", p.Tick, where)
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

// panicGrade says what has become of a panic of the rules. Whether the rest of a file is true is another question.
func panicGrade(p *replay.Panic) string {
	switch {
	case !p.Recorded:
		return "they panic here, and the file does not record a panic in the match"
	case !p.Computed:
		return "unknown why: the tick was not computed again"
	case p.Again && p.Here == p.Text:
		return "proven: computed again, they panic in the same way"
	case p.Again && p.Text == "":
		return "proven: computed again, they panic"
	case p.Again:
		return "proven: computed again, they panic with another text"
	}
	if p.Passed {
		return "unknown why: computed again, they do not panic, nor did they on the server; look at the other program, its memory, and what is outside of the state"
	}
	return "unknown why: computed again, they do not panic; other rules of this build, memory, or something outside of the state"
}

var outcomeMeans = map[protocol.Outcome]string{
	protocol.RightThisTime:   "so its rules and its build are able to: its memory was altered (by hardware, another goroutine, or code that only shows the match), Step read something outside of the state, such as a stale cache, or its rules have no fixed result",
	protocol.WrongTheSameWay: "so its memory is not the cause: its rules, its build or its platform compute another result",
	protocol.ThirdResult:     "so its rules are not deterministic: map order, goroutines, time, randomness that is not in the state, or memory that fails often",
}
