package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
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

// verdict returns the verdict of an explanation. It judges the first check at which the simulation differs from the log,
// and else that of the desync.
func (w *work) verdict() Verdict {
	m, ours := w.manifest, w.again.side(w.manifest.Tick)
	if !ours.known() {
		return votes(m.Tie, w.e.Groups)
	}
	for i := range w.e.Groups {
		g := &w.e.Groups[i]
		g.Right = g.Checksum == hash(ours)
	}
	c := w.log.sums.at(m.Tick, ours.hash, true)
	if earlier := w.again.wrong; earlier != nil && earlier.Tick < m.Tick {
		c = w.log.sums.at(earlier.Tick, earlier.Got, true)
	}
	if c == nil {
		c = checkOf(m, ours.hash, w.log.sums.seats)
	}
	right, wrong := c.sides()
	v := Verdict{Party: c.party(), Players: []lockstep.Player{}, Simulated: true}
	switch {
	case v.Party == "" && len(wrong) > 0:
		v.Party, v.Players = WrongPlayer, wrong
	case v.Party == "":
		v.Party = WrongUnknown
	}
	slices.Sort(v.Players)
	v.Text = w.verdictText(&v, c, right)
	return v
}

// checkOf returns the check of a bundle whose log does not have it yet.
func checkOf(m *replay.Manifest, own uint64, seats int) *check {
	c := &check{tick: m.Tick, tie: m.Tie, own: own, agreed: own, seats: seats}
	for i, g := range m.Groups {
		sum, err := checksum.ParseHash(g.Checksum)
		if err != nil {
			panic(err) // checkManifest has parsed it
		}
		if i == 0 && !m.Tie {
			c.agreed = sum
			continue
		}
		for _, p := range g.Players {
			c.mismatches = append(c.mismatches, mismatch{m.Tick, p, sum})
		}
	}
	return c
}

// verdictText puts a verdict into words.
func (w *work) verdictText(v *Verdict, c *check, right []lockstep.Player) string {
	again := "the match simulated again agrees with "
	switch {
	case v.Party == WrongBuild && c.tick < w.manifest.Tick:
		return fmt.Sprintf("this build computes %s at tick %d where the log has %s, before anybody differed: explain it with the build and platform that recorded it (%s)",
			checksum.FormatHash(c.own), c.tick, checksum.FormatHash(c.agreed), w.e.Recorder)
	case v.Party == WrongBuild && len(right) > 0:
		return fmt.Sprintf("%s%s alone: this build (on %s) may be theirs, and computes otherwise than the one that most played with (on %s)",
			again, players(right), w.e.Machine, w.e.Recorder)
	case v.Party == WrongBuild:
		return fmt.Sprintf("the match simulated again (on %s) agrees with nobody: this build computes otherwise than the one that was played with (on %s), or everybody is wrong",
			w.e.Machine, w.e.Recorder)
	case v.Party == WrongUnclear:
		return again + "half of the players: it is not known which half is right"
	case v.Party == WrongReferee:
		return again + players(right) + ", not with the referee"
	case v.Party == WrongPlayer && slices.ContainsFunc(w.e.Groups, func(g Group) bool { return g.Referee }):
		return again + "the referee, not with " + players(v.Players)
	case v.Party == WrongPlayer:
		return again + players(rightPlayers(w.e.Groups)) + ", not with " + players(v.Players)
	}
	return "all checksums in the bundle are that of the match simulated again: nobody differs"
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

// votes is the verdict where nothing was simulated.
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
