package desync

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Report is a participant's checksum of the state after a tick.
type Report struct {
	Tick     lockstep.Tick
	Hash     uint64
	Sections []uint64 // by section of the state; nil if they are not known
	State    []byte   // canonical bytes; nil if they are not known
}

// An item is one checksum of a replay, or one report.
type item struct {
	tick     lockstep.Tick
	hash     uint64
	keyframe bool // it is of a keyframe: the replay has the state
	report   *Report
}

// evidence is a list of checksums. After order, it has one item for each tick, ascending.
type evidence []item

// add adds the checksum of a record, if it has one.
func (e *evidence) add(rec *record.Record) error {
	var i item
	switch rec.Kind {
	case record.KindChecksum:
		i = item{tick: rec.Tick, hash: rec.Hash}
	case record.KindKeyframe:
		i = item{tick: rec.Tick, hash: rec.Keyframe.Hash, keyframe: true}
	default:
		return nil
	}
	if len(*e) == maxEvidence {
		return fmt.Errorf("desync: %w: more than %d checksums to compare", replay.ErrLimit, maxEvidence)
	}
	*e = append(*e, i)
	return nil
}

// order sorts the evidence, and keeps one item of each tick: a keyframe if there is one, unless its checksum is not the
// agreed one, as in imported matches.
func (e *evidence) order() {
	slices.SortStableFunc(*e, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(rank(a), rank(b)))
	})
	kept := (*e)[:0]
	for _, i := range *e {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].tick < i.tick:
			kept = append(kept, i)
		case rank(kept[last]) == 0 && rank(i) > 0 && kept[last].hash != i.hash:
			kept[last] = i
		}
	}
	*e = kept
}

// addMismatches adds the players' checksums that differ from the report, for the ticks without an agreed checksum.
func (e *evidence) addMismatches(mismatches []mismatch, reports evidence) {
	agreed := *e
	for _, d := range mismatches {
		if i := reports.find(d.tick); i != nil && i.hash != d.hash && agreed.find(d.tick) == nil {
			*e = append(*e, item{tick: d.tick, hash: d.hash})
		}
	}
	e.order()
}

func rank(i item) int {
	if i.keyframe || i.report != nil && i.report.State != nil {
		return 0
	}
	return 1
}

// find returns the item of a tick, or nil.
func (e evidence) find(t lockstep.Tick) *item {
	if i := e.after(t) - 1; i >= 0 && e[i].tick == t {
		return &e[i]
	}
	return nil
}

// after returns the index of the first item after a tick.
func (e evidence) after(t lockstep.Tick) int {
	return sort.Search(len(e), func(i int) bool { return e[i].tick > t })
}

// reported returns reports as evidence.
func reported(reports []Report) evidence {
	e := make(evidence, len(reports))
	for i := range reports {
		e[i] = item{tick: reports[i].Tick, hash: reports[i].Hash, report: &reports[i]}
	}
	e.order()
	return e
}

// PlayerReports returns one player's checksums: the mismatching ones, and the agreed one of every other check. It
// assumes that a player who reported nothing agreed. With an error, it returns the checksums before the damage.
func PlayerReports(r *replay.Reader, p lockstep.Player) ([]Report, error) {
	own, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	var all []Report
	err = replay.Play(own, nil, func(rec *record.Record) error {
		if rec.Kind != record.KindChecksum && (rec.Kind != record.KindMismatch || rec.Player != p) {
			return nil
		}
		if rec.Kind == record.KindMismatch { // it comes soon after the agreed one
			for i := len(all) - 1; i >= max(0, len(all)-lateReports); i-- {
				if all[i].Tick == rec.Tick {
					all[i].Hash = rec.Hash
					return nil
				}
			}
		}
		if len(all) == maxEvidence {
			return fmt.Errorf("desync: %w: more than %d checksums to compare", replay.ErrLimit, len(all))
		}
		all = append(all, Report{Tick: rec.Tick, Hash: rec.Hash})
		return nil
	})
	return all, err
}

// lateReports is the number of latest checks that are searched for the check of a mismatching checksum. A coordinator
// accepts no mismatch after 32 checks.
const lateReports = 64

// A mismatch is the checksum of one player that was not the agreed one.
type mismatch struct {
	tick   lockstep.Tick
	player lockstep.Player
	hash   uint64
}
