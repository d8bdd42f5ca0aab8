package desync

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
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
