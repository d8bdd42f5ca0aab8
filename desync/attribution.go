package desync

import (
	"cmp"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A mismatch is the checksum of one player that was not the agreed one.
type mismatch struct {
	tick   lockstep.Tick
	player lockstep.Player
	root   uint64
}

// A presence tells that a player came or went.
type presence struct {
	tick   lockstep.Tick
	player lockstep.Player
	there  bool
}

// An attribution finds who was wrong, from what a log says of checksums and from
// the simulation's own checksums.
type attribution struct {
	verified   *replay.Verification
	checks     evidence   // in the order of ticks
	mismatches []mismatch // in the order of ticks
	presence   []presence // no more than maxEvidence
	seats      int
	own        map[lockstep.Tick]uint64 // the simulation's checksums that differ; only looked up, never ranged over
	blames     []Blame
	admitted   lockstep.Tick         // the last check before the referee said that it was wrong
	keyframe   *lockstep.DesyncError // a keyframe that differs, until the next check tells more
	differs    bool                  // at the last check
	gone       [256]lockstep.Tick    // since when a player is gone; 0 for those who are there
}

// Attribute says who was wrong in a replay that was verified with game g: at the
// first difference, or if the verification kept going, at all checks. It reads
// the file of r independently of r, up to where it cannot be read further.
func Attribute(r *replay.Reader, g *lockstep.Game, v *replay.Verification, o replay.SimulateOptions) *Verdict {
	if v.Dissents == 0 && v.First == nil {
		return verdictOf([]Blame{})
	}
	own, err := r.Reopen()
	if err != nil {
		return verdictOf([]Blame{})
	}
	a := &attribution{verified: v, own: make(map[lockstep.Tick]uint64), blames: []Blame{}}
	replay.Play(own, nil, a.record) // the verification told the error
	slices.SortStableFunc(a.mismatches, func(a, b mismatch) int { return cmp.Compare(a.tick, b.tick) })
	a.sortChecks()
	a.ties(r, g, &o)
	a.sortChecks()
	a.judge()
	slices.SortStableFunc(a.blames, func(a, b Blame) int { return cmp.Compare(a.First, b.First) })
	return verdictOf(a.blames)
}

// record takes what a record says of checksums and players.
func (a *attribution) record(rec *lockstep.Record) error {
	switch rec.Kind {
	case lockstep.RecordHeader:
		a.seats = int(rec.Header.Settings.Players)
	case lockstep.RecordFrame:
		for i := range rec.Frame.Commands {
			if c := &rec.Frame.Commands[i]; c.Player == lockstep.System && len(a.presence) < maxEvidence {
				a.meet(c)
			}
		}
	case lockstep.RecordChecksum:
		a.checks = append(a.checks, item{tick: rec.Tick, root: rec.Root})
	case lockstep.RecordDissent:
		a.mismatches = append(a.mismatches, mismatch{rec.Tick, rec.Player, rec.Root})
	case lockstep.RecordNote:
		if n := len(a.checks); n > 0 && rec.Player == lockstep.System && rec.Topic == lockstep.TopicReferee {
			a.admitted = a.checks[n-1].tick
		}
	}
	if len(a.checks) > maxEvidence || len(a.mismatches) > maxEvidence {
		return io.EOF // enough to tell
	}
	return nil
}

// meet takes a command of System.
func (a *attribution) meet(c *lockstep.Command) {
	value, err := lockstep.SystemValue(c)
	if err != nil {
		return // another engine's
	}
	switch v := value.(type) {
	case *lockstep.Joined:
		a.presence = append(a.presence, presence{c.Tick, v.Player, true})
	case *lockstep.Left:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	case *lockstep.Lost:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	case *lockstep.TakenOver:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	}
}

func (a *attribution) sortChecks() {
	slices.SortStableFunc(a.checks, func(a, b item) int { return cmp.Compare(a.tick, b.tick) })
}

// maxTies is how many ticks on which the players did not agree are simulated
// again.
const maxTies = 8

// ties adds a check for the first ticks without an agreed checksum: the
// simulation's own.
func (a *attribution) ties(r *replay.Reader, g *lockstep.Game, o *replay.SimulateOptions) {
	agreed := slices.Clone(a.checks)
	var last lockstep.Tick
	found := 0
	for _, m := range a.mismatches {
		if m.tick == last || m.tick > a.verified.Ticks || agreed.find(m.tick) != nil {
			continue
		}
		if found++; found > maxTies {
			break
		}
		last = m.tick
		root, _, err := rootAt(r, g, m.tick, &replay.SimulateOptions{MaxTicks: o.MaxTicks})
		if err != nil {
			return
		}
		a.checks = append(a.checks, item{tick: m.tick, root: root})
	}
}
