package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Verdict names the party that computed the match wrong.
type Verdict struct {
	Party     Party             `json:"party"`
	Players   []lockstep.Player `json:"players"` // set for WrongPlayer
	Text      string            `json:"text"`
	Simulated bool              `json:"simulated"` // the match was simulated again; if false, only the votes count

	// Blames has the ticks at which each party was wrong, ordered by First. Only [Attribute] sets it.
	Blames []Blame `json:"-"`
}

// texts are the verdicts on a verified replay. WrongPlayer means that the agreed checksums are right.
var texts = map[Party]string{
	WrongReferee:  "the referee; most players had what the simulation gives",
	WrongBuild:    "all who agreed when it was played differ from this build, or the file was edited",
	WrongKeyframe: "the keyframe; the checksums are right",
	WrongUnclear:  "half of the players had what the simulation gives: which half is right is unknown",
	WrongPlayer:   "only players reported checksums that the simulation does not give",
	WrongUnknown:  "unknown",
}

// verdictOf returns the verdict for some blames. The first blame of a party other than a player decides.
func verdictOf(blames []Blame) *Verdict {
	v := &Verdict{Party: WrongUnknown, Players: []lockstep.Player{}, Simulated: true, Blames: blames}
	for i := range blames {
		b := &blames[i]
		if b.Who != WrongPlayer {
			v.Party, v.Players = b.Who, []lockstep.Player{}
			break
		}
		v.Party, v.Players = WrongPlayer, append(v.Players, b.Player)
	}
	slices.Sort(v.Players)
	v.Text = texts[v.Party]
	return v
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
func (v *Verdict) undecided() bool { return v.Party == WrongBuild || v.Party == WrongUnclear }

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
	switch len(list) {
	case 0:
		return "nobody"
	case 1:
		return fmt.Sprintf("player %d", list[0])
	}
	var text []string
	for _, p := range list {
		text = append(text, fmt.Sprint(p))
	}
	last := len(text) - 1
	return "players " + strings.Join(text[:last], ", ") + " and " + text[last]
}
