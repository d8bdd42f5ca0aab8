package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
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
	j := judge{w.e.Machine, w.e.Recorder, "the agreed checksum"}
	if slices.ContainsFunc(w.e.Groups, func(g Group) bool { return g.Referee }) {
		j.agreed = "the referee"
	} else if list := rightPlayers(w.e.Groups); len(list) > 0 {
		j.agreed = players(list)
	}
	return j.verdict(c)
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
