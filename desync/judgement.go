package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// verdict returns the verdict of an explanation. It is that of the first check at which the simulation differs from the
// log, or if there is none, the check of the desync.
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
		return fmt.Sprintf("%s%s alone: this build (on %s) may be theirs, and differs from the one of most players (on %s)",
			again, players(right), w.e.Machine, w.e.Recorder)
	case v.Party == WrongBuild:
		return fmt.Sprintf("the match simulated again (on %s) matches no report: this build differs from the one that played the match (on %s), or all reports are wrong",
			w.e.Machine, w.e.Recorder)
	case v.Party == WrongUnclear:
		return again + "half of the players: which half is right is unknown"
	case v.Party == WrongReferee:
		return again + players(right) + ", not with the referee"
	case v.Party == WrongPlayer && slices.ContainsFunc(w.e.Groups, func(g Group) bool { return g.Referee }):
		return again + "the referee, not with " + players(v.Players)
	case v.Party == WrongPlayer:
		return again + players(rightPlayers(w.e.Groups)) + ", not with " + players(v.Players)
	}
	return "all checksums in the bundle match the simulation"
}

// takeAgain judges what the player's machine has computed again. It trusts the states that were simulated here more than
// the referee's hashes, unless this build computes otherwise, and these more than the server's verdict.
func (w *work) takeAgain() {
	m := w.manifest.Resimulation
	if m == nil || w.e.Verdict.Party == WrongReferee {
		return
	}
	a := &Again{From: m.From, To: m.To, Runs: len(m.Runs), Altered: m.Altered, player: w.manifest.Player}
	for i := range int(m.To - m.From) {
		right, known := w.rightHash(m, i)
		if !known {
			break // the referee's hashes end where it differs
		}
		if slices.ContainsFunc(m.Runs, func(run []string) bool { return run[i] != right }) {
			a.First = m.From + 1 + lockstep.Tick(i)
			break
		}
	}
	if a.First == m.First {
		a.Section = m.Section
	} else if m.First > 0 {
		w.note("the server says that the player's machine, computing again, first differed at tick %d, but its checksums do not", m.First)
	}
	if a.outcome = a.judge(m, w.e.Groups); a.outcome == protocol.OutcomeUnknown {
		return
	}
	a.Outcome, w.e.Again = a.outcome.String(), a
	if t := a.exact(); t > 0 {
		w.good = max(w.good, t-1)
	}
}

// rightHash returns the right state hash of the i-th tick that was computed again.
func (w *work) rightHash(m *replay.BundleResimulation, i int) (hash string, known bool) {
	if b := w.again.state(m.From + 1 + lockstep.Tick(i)); b != nil && !w.e.Verdict.undecided() {
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, w.log.schema, b); err != nil {
			panic(err) // our own states are canonical
		}
		return checksum.FormatHash(sum.Hash), true
	}
	if i < len(m.Right) {
		return m.Right[i], true
	}
	return "", false
}

// settleAgain lets what the machine computed again decide what the trials cannot: the tick, and that memory was not
// altered if the same ticks went wrong again.
func (w *work) settleAgain() {
	a := w.e.Again
	if a == nil {
		return
	}
	if c := w.e.Cause; c != nil && c.Kind == AlteredField && a.outcome != protocol.RightThisTime {
		w.note("%s set to %s after tick %d would have had the same effect, but the machine went wrong again: not its memory", c.Path, c.Wrong, c.When.To)
		w.e.Cause = nil
	}
	if t := a.exact(); t > 0 {
		w.e.First = Span{t, t}
		if c := w.e.Cause; c != nil && (t < c.When.From || t > c.When.To) {
			w.note("the cause would fit another tick than the one at which the machine says that it differed: one of both is not right")
		}
	}
}
