package desync

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A check is everything known about one checked tick.
type check struct {
	tick       lockstep.Tick
	tie        bool   // there is no agreed checksum
	agreed     uint64 // on a tie, the simulation's own
	own        uint64 // the simulation's
	mismatches []mismatch
	seats      int
	admitted   bool // the referee admitted that it was wrong
}

// sides returns the players whose mismatching checksum is the simulation's, and those whose is not.
func (c *check) sides() (right, wrong []lockstep.Player) {
	for _, m := range c.mismatches {
		if m.hash == c.own {
			right = append(right, m.player)
		} else {
			wrong = append(wrong, m.player)
		}
	}
	return right, wrong
}

// party returns the wrong party, or "" if only players were wrong. A minority that agrees with this build does not show
// that the referee was wrong: these players may have the same build.
func (c *check) party() Party {
	right, _ := c.sides()
	switch n := len(right); {
	case c.tie && n == 0:
		return WrongBuild
	case c.tie || c.own == c.agreed:
		return ""
	case 2*n > c.seats || n > 0 && c.admitted:
		return WrongReferee
	case n > 0 && 2*n == c.seats:
		return WrongUnclear
	}
	return WrongBuild
}

// A mismatch is the checksum of one player that was not the agreed one.
type mismatch struct {
	tick   lockstep.Tick
	player lockstep.Player
	hash   uint64
}

// sums are checksums by tick.
type sums []sum

type sum struct {
	tick lockstep.Tick
	hash uint64
}

// find returns the checksum of a tick, or nil.
func (s sums) find(t lockstep.Tick) *sum {
	if i := s.after(t) - 1; i >= 0 && s[i].tick == t {
		return &s[i]
	}
	return nil
}

// after returns the index of the first checksum after a tick.
func (s sums) after(t lockstep.Tick) int {
	return sort.Search(len(s), func(i int) bool { return s[i].tick > t })
}

// A checkLog has the checksums of a log.
type checkLog struct {
	seats      int
	agreed     sums          // by tick, after sort
	mismatches []mismatch    // by tick, after sort
	admitted   lockstep.Tick // the last check before the referee admitted that it was wrong
}

// record notes a record's checksums. It returns [io.EOF] after maxEvidence checksums.
func (l *checkLog) record(rec *record.Record) error {
	if max(len(l.agreed), len(l.mismatches)) >= maxEvidence {
		return io.EOF
	}
	switch rec.Kind {
	case record.KindHeader:
		l.seats = int(rec.Header.Settings.Players)
	case record.KindChecksum:
		l.agreed = append(l.agreed, sum{rec.Tick, rec.Hash})
	case record.KindMismatch:
		l.mismatches = append(l.mismatches, mismatch{rec.Tick, rec.Player, rec.Hash})
	case record.KindEvent:
		if n := len(l.agreed); n > 0 && rec.Event == record.EventReferee {
			l.admitted = l.agreed[n-1].tick
		}
	}
	return nil
}

// sort sorts the checksums by tick.
func (l *checkLog) sort() {
	slices.SortStableFunc(l.agreed, func(a, b sum) int { return cmp.Compare(a.tick, b.tick) })
	slices.SortStableFunc(l.mismatches, func(a, b mismatch) int { return cmp.Compare(a.tick, b.tick) })
}

// at returns the check of a tick, or nil if the log has no checksum of it. The simulation's checksum is own, or if that
// is not known, the agreed one.
func (l *checkLog) at(t lockstep.Tick, own uint64, known bool) *check {
	compare := func(m mismatch, t lockstep.Tick) int { return cmp.Compare(m.tick, t) }
	from, _ := slices.BinarySearchFunc(l.mismatches, t, compare)
	to, _ := slices.BinarySearchFunc(l.mismatches, t+1, compare)
	c := &check{tick: t, own: own, agreed: own, mismatches: l.mismatches[from:to], seats: l.seats, admitted: t <= l.admitted}
	switch agreed := l.agreed.find(t); {
	case agreed != nil:
		if c.agreed = agreed.hash; !known {
			c.own = c.agreed
		}
	case from < to:
		c.tie = true
	default:
		return nil
	}
	return c
}
