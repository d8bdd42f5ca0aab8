package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A runner runs steps, and prints a line for each that has ended.
type runner struct {
	out  io.Writer
	logs string // folder of the events

	mu     sync.Mutex
	failed []string // titles
}

// selected returns the steps to run: by day those of the day, or with a pattern those whose titles match. The first step
// prepares the others, and always runs.
func selected(steps []step, pattern *regexp.Regexp, night bool) (list []step) {
	for i, s := range steps {
		if named := pattern.String() != "" && pattern.MatchString(s.title); i == 0 || named || pattern.String() == "" && (night || !s.night) {
			list = append(list, s)
		}
	}
	return list
}

// run runs the steps in groups: each step that is alone is a group. If the first step fails, nothing is prepared for the others.
func (r *runner) run(steps []step) {
	for first := true; len(steps) > 0; first = false {
		n := slices.IndexFunc(steps, func(s step) bool { return s.mode == alone })
		switch {
		case n == 0:
			r.step(steps[0], false)
			n = 1
		case n < 0:
			n = len(steps)
			fallthrough
		default:
			r.group(steps[:n])
		}
		if steps = steps[n:]; first && len(r.failed) > 0 {
			return
		}
	}
}

// group runs steps of the two other modes. Those with clocks run in order. The others run behind them, and beside each other
// when no clocks are left.
func (r *runner) group(steps []step) {
	queue := make(chan step, len(steps))
	for _, s := range steps {
		if s.mode == work {
			queue <- s
		}
	}
	close(queue)
	var both sync.WaitGroup
	both.Go(func() {
		for s := range queue {
			r.step(s, true)
		}
	})
	both.Go(func() {
		for _, s := range steps {
			if s.mode == clocks {
				r.step(s, false)
			}
		}
		for s := range queue {
			r.step(s, false)
		}
	})
	both.Wait()
}

// step runs one step, at the lowest priority if it is behind others.
func (r *runner) step(s step, behind bool) {
	args := []string{"bash", "-euo", "pipefail", "-c", s.command}
	if behind {
		args = append([]string{"nice", "-n", "19"}, args...)
	}
	var log bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = time.Minute // for a process that the step has left behind
	start := time.Now()
	err := cmd.Run()
	spent := time.Duration(0)
	if p := cmd.ProcessState; p != nil {
		spent = p.UserTime() + p.SystemTime()
	}
	r.report(s, log.String(), err, time.Since(start), spent)
}

// report prints the outcome of a step: its seconds, the seconds of processor time, its work, and what people must know of its log.
func (r *runner) report(s step, log string, err error, elapsed, spent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = s.shortfall(log)
	}
	word, rest := "ok", notable(log)
	if err != nil {
		word, rest = "FAIL", fmt.Sprintf("%s\n%v", log, err)
		r.failed = append(r.failed, s.title)
	}
	done := "no work"
	if n := s.done(log); n >= 0 {
		done = fmt.Sprintf("%d %s", n, s.unit)
	}
	fmt.Fprintf(r.out, "%-4s %4.0fs %4.0fs  %s: %s\n", word, elapsed.Seconds(), spent.Seconds(), s.title, done)
	for line := range strings.Lines(rest) {
		if strings.TrimSpace(line) != "" {
			fmt.Fprintf(r.out, "             %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

// notable returns the lines of a log that people should read although the step ended well.
func notable(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "skipped: ") || strings.HasPrefix(line, "ran again: ") || strings.HasPrefix(line, "note: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// end prints the sums, and reports whether all steps ended well.
func (r *runner) end(steps int, start time.Time) (bool, error) {
	fmt.Fprintf(r.out, "\n%d steps in %.0f s\n", steps, time.Since(start).Seconds())
	if len(r.failed) > 0 {
		fmt.Fprintf(r.out, "failed steps:\n  %s\n", strings.Join(r.failed, "\n  "))
	}
	files, err := filepath.Glob(filepath.Join(r.logs, "*.events"))
	if err != nil {
		return false, err
	}
	slices.Sort(files)
	slices.Reverse(files) // the usual forms in tests.events before the long ones in long-*.events
	sum := tally{}
	for _, name := range files {
		if err := sum.readFile(name); err != nil {
			return false, err
		}
	}
	if len(files) > 0 {
		n := sum.counts()
		n.failed = max(n.failed, len(r.failed))
		fmt.Fprintln(r.out, n)
	}
	return len(r.failed) == 0, nil
}

// runTable is the command "ci run".
func runTable(args []string, table io.Reader, out io.Writer) error {
	expression := ""
	if len(args) > 0 {
		expression = args[0]
	}
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return fmt.Errorf("ci: the pattern of titles: %w", err)
	}
	steps, err := parseTable(table)
	if err != nil {
		return err
	}
	if err := os.Setenv("CI_PATTERN", expression); err != nil { // for the step prepare
		return err
	}
	steps = selected(steps, pattern, os.Getenv("SAMESTEP_CI_NIGHT") != "")
	start := time.Now()
	r := &runner{out: out, logs: os.Getenv("CI_LOGS")}
	r.run(steps)
	good, err := r.end(len(steps), start)
	if err == nil && !good {
		err = errFailed
	}
	return err
}
