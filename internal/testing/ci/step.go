package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A mode says how a step shares the processors.
type mode string

const (
	alone  mode = "alone"
	clocks mode = "clocks"
	work   mode = "work"
)

// A step is one line of the table.
type step struct {
	night   bool
	mode    mode
	floor   int    // least number of units of work
	unit    string // one or more words: "matches"
	title   string
	command string // for bash
}

// parseTable reads the table. Empty lines and those that begin with # are comments.
func parseTable(r io.Reader) (steps []step, err error) {
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("ci: line %d of the table: %w", number, err)
		}
		steps = append(steps, s)
	}
	return steps, lines.Err()
}

func parseStep(line string) (s step, err error) {
	columns := strings.SplitN(line, "|", 5)
	if len(columns) != 5 {
		return s, fmt.Errorf("got %d columns, want 5: when | mode | floor | title | command", len(columns))
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	number, unit, _ := strings.Cut(columns[2], " ")
	s = step{night: columns[0] == "night", mode: mode(columns[1]), unit: unit, title: columns[3], command: columns[4]}
	s.floor, err = strconv.Atoi(number)
	switch {
	case columns[0] != "day" && columns[0] != "night":
		return s, fmt.Errorf("got %q, want day or night", columns[0])
	case s.mode != alone && s.mode != clocks && s.mode != work:
		return s, fmt.Errorf("got the mode %q, want %s, %s or %s", s.mode, alone, clocks, work)
	case err != nil || s.floor < 1 || unit == "":
		return s, fmt.Errorf("got the floor %q, want a number above 0 and a unit", columns[2])
	case s.title == "" || s.command == "":
		return s, fmt.Errorf("want a title and a command")
	}
	return s, nil
}

// done returns how much work a step says in its log that it did, or -1 if it does not say so.
func (s *step) done(log string) int {
	line := regexp.MustCompile(`(?m)^(\d+) ` + regexp.QuoteMeta(s.unit) + `\b`)
	if !line.MatchString(log) {
		return -1
	}
	return lastNumber(line, log)
}

// shortfall returns why the work that a step says it did is not enough, or nil.
func (s *step) shortfall(log string) error {
	switch n := s.done(log); {
	case n < 0:
		return fmt.Errorf("no line of the output says how many %s there were, want at least %d", s.unit, s.floor)
	case n < s.floor:
		return fmt.Errorf("got %d %s, want at least %d", n, s.unit, s.floor)
	}
	return nil
}
