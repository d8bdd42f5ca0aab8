package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Party is who can be wrong.
type Party string

// The parties. See docs/desync.md for how they are told apart.
const (
	WrongPlayer   Party = "player"   // its own checksum, which the log has, is not the simulation's
	WrongReferee  Party = "referee"  // the agreed checksum is not the simulation's; most seats reported the simulation's, or the referee said that it was wrong
	WrongBuild    Party = "build"    // this build computes a checksum that nobody had, or the file was edited
	WrongKeyframe Party = "keyframe" // a keyframe, though the checksum of its tick is right
	WrongUnclear  Party = "unclear"  // exactly half of the seats reported the simulation's checksum
	WrongUnknown  Party = "unknown"
)

// A Verdict says who computed the match wrong.
type Verdict struct {
	Party     Party             `json:"party"`
	Players   []lockstep.Player `json:"players"` // of WrongPlayer
	Text      string            `json:"text"`
	Simulated bool              `json:"simulated"` // by simulating the match again, not only by the votes

	// Blames say for how long each was wrong, in the order of their first ticks.
	// Only [Attribute] gives them.
	Blames []Blame `json:"-"`
}

// texts are the verdicts on a verified replay. WrongPlayer means that the agreed
// checksums are right.
var texts = map[Party]string{
	WrongReferee:  "the referee; most players had what the simulation gives",
	WrongBuild:    "all who agreed when it was played differ from this build, or the file was edited",
	WrongKeyframe: "the keyframe; the checksums are right",
	WrongUnclear:  "half of the players had what the simulation gives; not known who is right",
	WrongPlayer:   "only checksums of players",
	WrongUnknown:  "not known who is wrong",
}

// verdictOf returns the verdict with some blames. The first one that is not a
// player's decides.
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

// A court has what a verdict is made from.
type court struct {
	tick     lockstep.Tick
	tie      bool
	groups   []Group
	again    *rerun
	platform string // ours
	recorder string
}

// judge says who is wrong, and marks the groups that are right.
func (c *court) judge() Verdict {
	ours := c.again.side(c.tick)
	if !ours.known() {
		return c.votes()
	}
	v := Verdict{Simulated: true, Players: []lockstep.Player{}}
	if w := c.again.wrong; w != nil && w.Tick < c.tick {
		v.Party = WrongBuild
		v.Text = fmt.Sprintf("this build computes %s at tick %d where the log has %s, before anybody differed: explain it with the build and platform that recorded it (%s)",
			checksum.FormatRoot(w.Got), w.Tick, checksum.FormatRoot(w.Want), c.recorder)
		return v
	}
	referee, right, wrong := -1, 0, 0
	for i := range c.groups {
		g := &c.groups[i]
		g.Right = g.Checksum == checksum.FormatRoot(ours.root)
		if g.Referee {
			referee = i
		}
		if g.Right {
			right++
		} else {
			wrong++
			v.Players = append(v.Players, g.Players...)
		}
	}
	slices.Sort(v.Players)
	switch {
	case wrong == 0:
		v.Party, v.Text = WrongUnknown, "all checksums in the bundle are that of the match simulated again: nobody differs"
	case right == 0:
		v.Party, v.Players = WrongBuild, []lockstep.Player{}
		v.Text = fmt.Sprintf("the match simulated again (on %s) agrees with nobody: this build computes otherwise than the one that was played with (on %s), or everybody is wrong",
			c.platform, c.recorder)
	case referee >= 0 && !c.groups[referee].Right:
		v.Party = WrongReferee
		v.Text = "the match simulated again agrees with " + players(c.rightPlayers()) + ", not with the referee"
		v.Players = []lockstep.Player{}
	default:
		v.Party = WrongPlayer
		with := players(c.rightPlayers())
		if referee >= 0 {
			with = "the referee"
		}
		v.Text = fmt.Sprintf("the match simulated again agrees with %s, not with %s", with, players(v.Players))
	}
	return v
}

func (c *court) rightPlayers() []lockstep.Player {
	var all []lockstep.Player
	for _, g := range c.groups {
		if g.Right {
			all = append(all, g.Players...)
		}
	}
	return all
}

// votes is the verdict where nothing was simulated.
func (c *court) votes() Verdict {
	v := Verdict{Party: WrongUnknown, Players: []lockstep.Player{}}
	if c.tie || len(c.groups) < 2 {
		v.Text = "no checksum has a majority, and the match was not simulated again"
		return v
	}
	first, voters := c.groups[0], 0
	for _, g := range c.groups[1:] {
		v.Players = append(v.Players, g.Players...)
		voters += len(g.Players)
	}
	slices.Sort(v.Players)
	if first.Referee && len(first.Players) == 0 && len(c.groups) == 2 && voters > 1 {
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
