package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Verdict names the party that computed the match wrong.
type Verdict struct {
	Party     Party             `json:"party"`
	Players   []lockstep.Player `json:"players"` // set for WrongPlayer, and for WrongKeyframe if players were wrong, too
	Text      string            `json:"text"`
	Simulated bool              `json:"simulated"` // the match was simulated again; if false, only the votes count
	Grade     Grade             `json:"grade"`
	Runs      int               `json:"runs,omitempty"`      // simulations of the ticks that decide, which all have one result without a Parting
	Apart     bool              `json:"apart,omitempty"`     // one of them in a process of its own, see [Options.Apart]
	NotApart  string            `json:"not_apart,omitempty"` // why none was
	Parting   *Parting          `json:"parting,omitempty"`   // of NoFixedResult

	// Advice is set if this build does not show who was wrong: it says which build does. With is the revision of that build, as
	// git knows it, or "". Only [Explain] sets them.
	Advice string `json:"advice,omitempty"`
	With   string `json:"explain_with,omitempty"`

	// Blames has the ticks at which each party was wrong, ordered by First. Only [Attribute] sets it.
	Blames []Blame `json:"-"`

	later bool // one of the Runs came a whole second after the others
}

// A Grade says how well a verdict is known.
type Grade string

// The grades.
const (
	// GradeProven: by the machines' own records, or by a simulation that came out the same every time, also a second later and in a process
	// of its own.
	GradeProven Grade = "proven"

	// GradeConsistent: nothing contradicts it, and nothing was simulated that could, or only at once, or in a process that had done other things before.
	GradeConsistent Grade = "consistent with"

	// GradeUnknown: the text says what is missing.
	GradeUnknown Grade = "unknown"

	// GradeUnfixed: the same computation had two results.
	GradeUnfixed Grade = "no fixed result"
)

// grade returns the grade of a verdict on a party.
func (v *Verdict) grade() Grade {
	switch {
	case v.Party == NoFixedResult:
		return GradeUnfixed
	case v.Party == WrongUnknown, v.Party == WrongBuild, v.Party == WrongUnclear:
		return GradeUnknown
	case !v.Simulated || !v.Apart || !v.later:
		return GradeConsistent
	}
	return GradeProven
}

// verdictOf returns the verdict for some blames. The first blame of a party other than a player decides. A keyframe does not
// excuse the players that were wrong as well.
func verdictOf(blames []Blame) *Verdict {
	v := &Verdict{Party: WrongUnknown, Players: []lockstep.Player{}, Simulated: true, Blames: blames}
	for i := range blames {
		b := &blames[i]
		switch {
		case b.Who == WrongPlayer:
			v.Players = append(v.Players, b.Player)
			if v.Party == WrongUnknown {
				v.Party = WrongPlayer
			}
		case v.Party == WrongKeyframe: // it came first
		case b.Who == WrongKeyframe:
			v.Party = WrongKeyframe
		default:
			v.Party, v.Players = b.Who, []lockstep.Player{}
			return v
		}
	}
	slices.Sort(v.Players)
	return v
}

// unfixed returns the verdict on rules without a fixed result.
func (p *Parting) unfixed(runs int) Verdict {
	whose := "the rules of this build have no fixed result: "
	if p.Way == WayMachine {
		whose = ""
	}
	return Verdict{
		Party: NoFixedResult, Players: []lockstep.Player{}, Simulated: runs > 0, Grade: GradeUnfixed, Runs: runs, Parting: p, Blames: []Blame{},
		Text: "nobody is accused, because " + whose + p.String(),
	}
}

// rightPlayers returns the players of the groups that are right.
func rightPlayers(groups []Group) []lockstep.Player {
	var all []lockstep.Player
	for _, g := range groups {
		if g.Right {
			all = append(all, g.Players...)
		}
	}
	return all
}

// undecided reports whether neither side of the desync is known to be right.
func (v *Verdict) undecided() bool { return v.alien() || v.Party == WrongUnclear }

// alien reports whether what this build computes shows nothing of the match.
func (v *Verdict) alien() bool {
	return v.Party == WrongBuild || v.Party == NoFixedResult || v.Party == TwoBuilds
}

// votes returns the verdict of the votes, without a simulation.
func votes(tie bool, groups []Group) Verdict {
	v := Verdict{Party: WrongUnknown, Players: []lockstep.Player{}}
	if tie || len(groups) < 2 {
		v.Text = "no checksum has a majority, and the match was not simulated again"
		return v
	}
	first, voters := groups[0], 0
	for _, g := range groups[1:] {
		v.Players = append(v.Players, g.Players...)
		voters += len(g.Players)
	}
	slices.Sort(v.Players)
	if first.Referee && len(first.Players) == 0 && len(groups) == 2 && voters > 1 {
		v.Party, v.Players = WrongReferee, []lockstep.Player{}
		v.Text = fmt.Sprintf("all %d players who reported have one checksum, and the referee has another; not simulated again", voters)
		return v
	}
	v.Party = WrongPlayer
	v.Text = "the checksum of " + players(v.Players) + " is not the agreed one; not simulated again"
	return v
}

// players returns "player 3" or "players 1 and 3".
func players(list []lockstep.Player) string {
	g := Group{BundleGroup: replay.BundleGroup{Players: list}}
	return g.who()
}
