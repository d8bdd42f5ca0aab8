package tool

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	maxReports        = 1 << 17
	maxReportSections = 1 << 20   // of all reports
	maxReportLine     = 64 << 10  // bytes
	maxReportBytes    = 256 << 20 // of all lines, unpacked
)

// A reportLine is a line of JSON with a checksum, and maybe the sums of the state's sections, in order.
type reportLine struct {
	Tick     *lockstep.Tick   `json:"t"`
	Player   *lockstep.Player `json:"p"`
	Sum      *string          `json:"sum"`
	Sections []string         `json:"sections"`
}

// A reportsError is an error in a line, and not of reading it.
type reportsError struct {
	line int
	err  error
}

func (e *reportsError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *reportsError) Unwrap() error { return e.err }

// readReports reads the checksums in lines of JSON, which may be compressed with gzip, and skips other lines. If
// several players reported, only must name one.
func readReports(r io.Reader, only *lockstep.Player) ([]desync.Report, error) {
	var all []desync.Report
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
			return nil, &reportsError{n, err}
		}
		if l.Sum == nil || only != nil && l.Player != nil && *l.Player != *only {
			continue
		}
		if who == nil {
			who = l.Player
		} else if l.Player != nil && *l.Player != *who {
			return nil, usagef("line %d: player %d, after player %d: want --player", n, *l.Player, *who)
		}
		report, err := l.report()
		if err != nil {
			return nil, &reportsError{n, err}
		}
		if all = append(all, report); len(all) > maxReports {
			return nil, &reportsError{n, fmt.Errorf("want at most %d checksums", maxReports)}
		}
		if sections += len(report.Sections); sections > maxReportSections {
			return nil, &reportsError{n, fmt.Errorf("want at most %d sections in all", maxReportSections)}
		}
	}
	if limited.N == 0 {
		return nil, &reportsError{n, fmt.Errorf("more than %d bytes of lines", maxReportBytes)}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &reportsError{n, err}
	} else if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &reportsError{n - 1, errors.New("no checksums up to here")}
	}
	return all, nil
}

func (l *reportLine) report() (r desync.Report, err error) {
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
