package desync

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrDisagreed is the error of an imported match in which the checksums of players differ.
var ErrDisagreed = errors.New("the players' checksums differ: a desync")

// ErrUnfixed is the error of a match of whose rules a simulation shows that they have no fixed result.
var ErrUnfixed = errors.New("the rules have no fixed result")

// A Verification is the result of [Verify]: the facts, and the party at fault. An imported match cannot be simulated:
// then it has the comparison of the players' reports.
type Verification struct {
	*replay.Verification          // nil if nothing was simulated
	Verdict              *Verdict // nil if nothing was simulated
	Imported             *Imported

	// Reported is who reported what at the first check at which players differed, of a simulated match: as its bundle says, or its log.
	Reported Reported

	// Bundle is the table of contents of the bundle that holds the replay; nil for a replay file.
	Bundle *replay.Manifest

	// Signed says that the caller has found the required signature; nil if none was required.
	Signed *bool

	// Lineage are the matches in whose states the match and its parents began, see [Verification.FollowLineage].
	Lineage      []replay.Ancestor
	falseLineage error // a first state is not the parent's

	// Took is the time of the simulation, by the clock of the options: not that of the waiting before a verdict. 0 without one.
	Took time.Duration

	// Err is the error of Verify: why the file is not true, or not verified to its end. Nil says that it is true.
	Err error
}

// Verify simulates a replay, or the replay in a bundle, with the game that fits it, compares every checksum in it, and
// decides who was wrong. The result is never nil. The error is that of [replay.Verify]. It is nil for the replay in a
// bundle that is true up to its last record, because the match went on. Of an imported match, the error wraps
// [ErrDisagreed] if players differ, and [ErrUnfixed] if the verdict is that.
func Verify(f *replay.File, games replay.Games, o replay.VerifyOptions) (*Verification, error) {
	v := &Verification{}
	if b := f.Bundle(); b != nil {
		v.Bundle = &b.Manifest
	}
	h, err := f.Header()
	if err != nil {
		return v.end(h, err)
	}
	r, err := f.Reader()
	if err != nil {
		return v.end(h, err)
	}
	if h.Engine == replay.ForeignEngine {
		v.Imported, err = CompareReports(r)
		if len(v.Imported.Differ) > 0 {
			err = errors.Join(ErrDisagreed, err)
		}
		v.Err = err
		return v, err
	}
	g, err := games.Of(h)
	if err != nil {
		return v.end(h, err)
	}
	stop := v.measure(o.Now)
	v.Verification, err = replay.Verify(r, g, o)
	stop()
	v.Verdict, v.Reported = attribute(r, g, v.Verification, Options{MaxTicks: int(o.MaxTicks), Now: o.Now, Apart: o.Apart})
	if b := v.Bundle; b != nil && len(b.Groups) > 0 {
		if p := ownParting(b, v.Verdict.Party); p != nil && v.Verdict.Party != NoFixedResult {
			unfixed := p.unfixed(max(v.Verdict.Runs, 1))
			v.Verdict = &unfixed
		}
		known := v.Reported
		if v.Reported = reportedIn(b); known.Tick == b.Tick {
			for i := range v.Reported.Groups {
				g := &v.Reported.Groups[i]
				g.Right = slices.ContainsFunc(known.Groups, func(o Group) bool { return o.Right && o.Checksum == g.Checksum })
			}
		}
	}
	v.namesBuilds(h, g)
	return v.end(h, err)
}

// VerifyLive is [Verify] of a match that is being played, until it is over or ctx ends.
func VerifyLive(ctx context.Context, l *replay.LiveReader, games replay.Games, o replay.VerifyOptions) (*Verification, error) {
	v := &Verification{}
	h, err := l.Header(ctx)
	if err != nil {
		return v.end(h, err)
	}
	g, err := games.Of(h)
	if err != nil {
		return v.end(h, err)
	}
	stop := v.measure(o.Now)
	v.Verification, err = replay.VerifyLive(ctx, l, g, o)
	stop()
	v.Verdict = &Verdict{Blames: []Blame{}}
	if r, rerr := l.Reopen(); rerr == nil {
		v.Verdict, v.Reported = attribute(r, g, v.Verification, Options{MaxTicks: int(o.MaxTicks), Now: o.Now, Apart: o.Apart})
	}
	return v.end(h, err)
}

// measure begins to measure Took, until the function that it returns is called.
func (v *Verification) measure(now func() time.Time) (stop func()) {
	if now == nil {
		return func() {}
	}
	from := now()
	return func() { v.Took = now().Sub(from) }
}

// FollowLineage compares the first state of the verified match with that of its parent, see [replay.FollowLineage], unless
// the match differs from its own log. It returns the error of the verification, to which it adds its own.
func (v *Verification) FollowLineage(f *replay.File, game func(*replay.File) (*lockstep.Game, error), places []string, o replay.SimulateOptions) error {
	if v.Verification == nil || v.First != nil {
		return v.Err
	}
	r, err := f.Reader()
	if err == nil {
		v.Lineage, err = replay.FollowLineage(r, game, places, o)
	}
	if errors.As(err, new(*lockstep.DesyncError)) {
		v.falseLineage = err
		v.Err = errors.Join(err, v.Err)
	}
	if v.Err == nil {
		v.Err = err
	}
	return v.Err
}

// namesBuilds replaces an accusation if the builds of the sides explain it. A replay names the recorder's, and a bundle also those of the
// players.
func (v *Verification) namesBuilds(h *lockstep.Header, g *lockstep.Game) {
	if a := v.accusation(); a == nil || a.Party == NoFixedResult || a.Party == WrongKeyframe {
		return
	}
	this := &Program{Build: g.Build(), Sources: g.Sources()}
	var b *Verdict
	switch {
	case v.Bundle == nil && v.First != nil:
		b = otherBuild(h, this)
	case v.Bundle == nil:
	case v.First == nil: // we compute what the referee does
		if i := slices.IndexFunc(v.Bundle.Groups, func(g replay.BundleGroup) bool { return g.Referee }); i >= 0 {
			b = twoBuilds(h, v.Bundle, this, v.Bundle.Groups[i].Checksum)
		}
	case v.First.Tick == v.Bundle.Tick:
		b = twoBuilds(h, v.Bundle, this, checksum.FormatHash(v.First.Got))
	default:
		b = twoBuilds(h, v.Bundle, nil, "")
	}
	if b != nil {
		b.Simulated, b.Runs, b.Apart, b.NotApart = true, v.Verdict.Runs, v.Verdict.Apart, v.Verdict.NotApart
		v.Verdict = b
	}
}

// accusation returns the verdict, or nil if nothing differs.
func (v *Verification) accusation() *Verdict {
	if v.Verdict.Party == WrongUnknown {
		return nil
	}
	return v.Verdict
}

func (v *Verification) simulated() lockstep.Tick { return v.Ticks - min(v.Ticks, v.Began) }

func (v *Verification) end(h *lockstep.Header, err error) (*Verification, error) {
	if v.Verification != nil {
		v.Header = h
		if v.Bundle != nil && replay.ClassOf(err).Early() {
			err = nil // the match went on when the bundle was written
		}
		if v.First != nil && err != error(v.First) {
			err = errors.Join(v.First, err) // the file is also damaged after the difference
		}
		if v.Bundle != nil && v.Bundle.Panic != nil {
			v.Panic = claimed(v.Bundle, v.Verification)
		}
		if v.Verdict != nil && v.Verdict.Party == NoFixedResult { // if nothing differs, that was luck
			if err == nil {
				err = ErrUnfixed
			} else {
				err = fmt.Errorf("%w: %w", ErrUnfixed, err)
			}
		}
		switch {
		case v.Panic == nil || v.First != nil || errors.As(err, new(*replay.Panic)):
		case v.Panic.Unwrap() != nil && errors.Is(err, v.Panic.Unwrap()):
			err = v.Panic // and no words twice
		default:
			err = errors.Join(v.Panic, err) // the same
		}
	}
	v.Err = err
	return v, err
}

func (v *Verification) class() replay.Class {
	if v.Imported != nil && len(v.Imported.Differ) > 0 || errors.Is(v.Err, ErrUnfixed) {
		return replay.ClassDesync
	}
	return replay.ClassOf(v.Err)
}

// TimesRealTime returns how many times faster than the match the verification was; 0 if that is not known.
func (v *Verification) TimesRealTime() float64 {
	if v.Took <= 0 || v.Verification == nil || v.Header == nil {
		return 0
	}
	return float64(v.Header.Settings.Micros(int64(v.simulated()))) / 1e6 / v.Took.Seconds()
}

// MarshalJSON returns the result as samestep replay verify --json prints it.
func (v *Verification) MarshalJSON() ([]byte, error) {
	switch {
	case v.Imported != nil:
		return json.Marshal(struct {
			Foreign bool         `json:"foreign"` // the players were compared with each other only
			Class   replay.Class `json:"class"`
			Signed  *bool        `json:"signed,omitempty"`
			*Imported
			Error string `json:"error,omitempty"`
		}{true, cmp.Or(v.class(), "failed"), v.Signed, v.Imported, words.OfError(v.Err)})
	case v.Verification == nil:
		return json.Marshal(struct {
			Class  replay.Class `json:"class"`
			Signed *bool        `json:"signed,omitempty"`
			Error  string       `json:"error"`
		}{v.class(), v.Signed, words.OfError(v.Err)})
	}
	return json.Marshal(struct {
		*replay.Verification
		Reported
		Blames        []Blame           `json:"blames"`
		Verdict       *Verdict          `json:"verdict,omitempty"` // if anything differs
		Class         replay.Class      `json:"class"`
		Signed        *bool             `json:"signed,omitempty"`
		First         *differenceJSON   `json:"first"` // replaces the one of the embedded
		Game          string            `json:"game"`
		Match         string            `json:"match"`
		Lineage       []replay.Ancestor `json:"lineage,omitempty"`
		Seconds       float64           `json:"seconds"`
		TimesRealTime float64           `json:"times_real_time"`
		Error         string            `json:"error,omitempty"`
	}{
		Verification: v.Verification, Reported: v.Reported, Blames: v.Verdict.Blames, Verdict: v.accusation(), Class: v.class(), Signed: v.Signed, First: newDifferenceJSON(v.First),
		Game: v.Header.Game, Match: v.Header.Match.String(), Lineage: v.Lineage, Seconds: v.Took.Seconds(), TimesRealTime: v.TimesRealTime(), Error: words.OfError(v.Err),
	})
}

// A differenceJSON is a checksum that differs, as text.
type differenceJSON struct {
	Tick     lockstep.Tick `json:"tick"`
	Got      string        `json:"got"`
	Want     string        `json:"want"`
	Keyframe bool          `json:"keyframe"`
	End      string        `json:"end,omitempty"`
}

// newDifferenceJSON returns nil for nil.
func newDifferenceJSON(e *lockstep.DesyncError) *differenceJSON {
	if e == nil {
		return nil
	}
	return &differenceJSON{e.Tick, checksum.FormatHash(e.Got), checksum.FormatHash(e.Want), e.Keyframe, e.End}
}

// WriteText writes the result for people. Control characters in texts of the file are escaped.
func (v *Verification) WriteText(w io.Writer) error { return v.page().Write(w) }

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
		if m.Twin != nil {
			what, player = "difference of warm and cold", m.Where()
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

// openEnd says how a torn file ends.
const openEnd = "where the file ends without an end record: it is still being written, or was cut off"

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
	case class == replay.ClassTorn:
		return fmt.Sprintf("true up to tick %d, %s", v.Ticks, openEnd)
	case class == replay.ClassCorrupt || class == replay.ClassInvalid:
		return fmt.Sprintf("true up to tick %d, where the file becomes unreadable", v.Ticks)
	}
	return fmt.Sprintf("true up to tick %d; the rest was not verified", v.Ticks)
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
	case !m.Ended && replay.ClassOf(err) == replay.ClassTorn:
		return fmt.Sprintf("the players agree up to tick %d, %s", m.Ticks, openEnd)
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
