package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// decide returns the verdict of an explanation: that the rules have no fixed result, or that the sides are different builds, and
// else who was wrong.
func (w *work) decide() Verdict {
	ours := w.again.side(w.manifest.Tick)
	v := w.verdict()
	if w.repeated != nil {
		w.repeated.later()
		w.repeated.note(&v)
		if p := w.repeated.parting(); p != nil {
			return p.unfixed(w.repeated.runs)
		}
	}
	if p := ownParting(w.manifest, v.Party); p != nil {
		return p.unfixed(v.Runs)
	}
	v.Grade = v.grade()
	var this *Program
	if ours.known() {
		this = w.thisProgram()
	}
	if b := twoBuilds(w.log.header, w.manifest, this, hash(ours)); b != nil {
		b.Runs, b.Apart, b.NotApart = v.Runs, v.Apart, v.NotApart
		return *b
	}
	return v
}

// verdict returns the verdict of an explanation: that of [Attribute] on the part of the log that was simulated, with the
// players that differ at the check of the desync.
func (w *work) verdict() Verdict {
	m, ours := w.manifest, w.again.side(w.manifest.Tick)
	if !ours.known() {
		return votes(m.Tie, w.e.Groups)
	}
	for i := range w.e.Groups {
		g := &w.e.Groups[i]
		g.Right = g.Checksum == hash(ours)
	}
	j := judge{w.e.Machine, w.e.Recorder, "the agreed checksum"}
	if slices.ContainsFunc(w.e.Groups, func(g Group) bool { return g.Referee }) {
		j.agreed = "the referee"
	} else if list := rightPlayers(w.e.Groups); len(list) > 0 {
		j.agreed = players(list)
	}
	v := w.attribution(ours.hash).verdict(append(w.log.falseKeyframes(w.again.keyframe), w.again.differences...), j)
	v.Blames = nil
	return *v
}

// attribution returns what the log says up to the check of the desync, at which our checksum is own. Of the players' checksums
// it has those of this check, and of those at which the simulation differs.
func (w *work) attribution(own uint64) *attribution {
	m, log := w.manifest, &w.log.sums
	a := &attribution{until: m.Tick, own: make(map[lockstep.Tick]uint64), decisive: make(map[Party]*check), blames: []Blame{}}
	a.log = checkLog{seats: log.seats, admitted: log.admitted, agreed: slices.Clone(log.agreed)}
	c := log.at(m.Tick, own, true)
	if c == nil {
		if c = checkOf(m, own, log.seats); !c.tie {
			a.log.agreed = append(a.log.agreed, sum{m.Tick, c.agreed})
		}
	}
	for _, d := range w.again.differences {
		if earlier := log.at(d.Tick, d.Got, true); !d.Keyframe && d.Tick < m.Tick && earlier != nil {
			a.log.mismatches = append(a.log.mismatches, earlier.mismatches...)
		}
	}
	a.log.mismatches = append(a.log.mismatches, c.mismatches...)
	for i := range a.log.agreed {
		a.ticks = append(a.ticks, a.log.agreed[i].tick)
	}
	if c.tie {
		a.ticks = append(a.ticks, m.Tick)
	}
	if c.tie || c.own != c.agreed {
		a.own[m.Tick] = own
	}
	return a
}

// checkOf returns the check of a bundle whose log does not have it yet.
func checkOf(m *replay.Manifest, own uint64, seats int) *check {
	c := &check{tick: m.Tick, tie: m.Tie, own: own, agreed: own, seats: seats}
	for i, g := range m.Groups {
		hash, err := checksum.ParseHash(g.Checksum)
		if err != nil {
			panic(err) // checkManifest has parsed it
		}
		if i == 0 && !m.Tie {
			c.agreed = hash
			continue
		}
		for _, p := range g.Players {
			c.mismatches = append(c.mismatches, mismatch{m.Tick, p, hash})
		}
	}
	return c
}
