package bisect

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A reportLine is a line of JSON with a checksum, and maybe the sums of the state's sections, in order.
type reportLine struct {
	Tick     *lockstep.Tick   `json:"t"`
	Player   *lockstep.Player `json:"p"`
	Sum      *string          `json:"sum"`
	Sections []string         `json:"sections"`
}

// A ReportsError is an error in a line of reports, and not of reading it.
type ReportsError struct {
	Line int
	Err  error
}

func (e *ReportsError) Error() string {
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns Err.
func (e *ReportsError) Unwrap() error { return e.Err }

// ErrPlayers means that reports are of several players, and the caller has named none.
var ErrPlayers = errors.New("several players reported")

// ReadReports reads the checksums in lines of JSON, as samestep replay export prints them, which may be compressed with
// gzip. It skips other lines and, unless only is nil, other players. The error is a [*ReportsError], which wraps
// [ErrPlayers] if several players reported and only is nil, or that of r.
func ReadReports(r io.Reader, only *lockstep.Player) ([]Report, error) {
	var all []Report
	in := bufio.NewReader(r)
	limited := &io.LimitedReader{R: in, N: maxReportBytes + 1}
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		limited.R = z
	}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxReportLine)
	var who *lockstep.Player
	n, sections := 1, 0
	for ; lines.Scan() && limited.N > 0; n++ {
		var l reportLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, &ReportsError{n, err}
		}
		if l.Sum == nil || only != nil && l.Player != nil && *l.Player != *only {
			continue
		}
		if who == nil {
			who = l.Player
		} else if l.Player != nil && *l.Player != *who {
			return nil, &ReportsError{n, fmt.Errorf("player %d, after player %d: %w", *l.Player, *who, ErrPlayers)}
		}
		report, err := l.report()
		if err != nil {
			return nil, &ReportsError{n, err}
		}
		if all = append(all, report); len(all) > maxReports {
			return nil, &ReportsError{n, fmt.Errorf("want at most %d checksums", maxReports)}
		}
		if sections += len(report.Sections); sections > maxReportSections {
			return nil, &ReportsError{n, fmt.Errorf("want at most %d sections in all", maxReportSections)}
		}
	}
	if limited.N == 0 {
		return nil, &ReportsError{n, fmt.Errorf("more than %d bytes of lines", maxReportBytes)}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &ReportsError{n, err}
	} else if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &ReportsError{n - 1, errors.New("no checksums up to here")}
	}
	return all, nil
}

func (l *reportLine) report() (r Report, err error) {
	if l.Tick == nil {
		return r, fmt.Errorf("a checksum without a tick")
	}
	r.Tick = *l.Tick
	if r.Hash, err = checksum.ParseHash(*l.Sum); err != nil {
		return r, err
	}
	for _, text := range l.Sections {
		sum, err := checksum.ParseHash(text)
		if err != nil {
			return r, err
		}
		r.Sections = append(r.Sections, sum)
	}
	return r, nil
}

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
func (e *evidence) addMismatches(mismatches []item, reports evidence) {
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
