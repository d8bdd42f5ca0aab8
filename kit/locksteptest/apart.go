package locksteptest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An outsideResult is what another process has found. Its match is that of Check, if all states are.
type outsideResult struct {
	Error  string   // why it found nothing
	States []uint64 // sums, by tick from 0
	Failed *sent    // the failure of the phase
}

// sent is what is sent of a [Failure].
type sent struct {
	Tick             lockstep.Tick
	Field, Got, Want string
	More             int
	Under, Text      string // Text is that of Err
}

func checkOutside(g *lockstep.Game, o Options) *outsideResult {
	o.Skip = allBut(outsidePhase)
	m, err := o.match(g)
	if err != nil {
		return &outsideResult{Error: oneLine(err.Error())}
	}
	m.alone = true
	err = m.compute()
	r := &outsideResult{States: m.sums()}
	f := (*Failure)(nil)
	if errors.As(err, &f) && f.Phase == outsidePhase {
		r.Failed = &sent{f.Tick, f.Field, f.Got, f.Want, f.More, f.Under, ""}
		if f.Err != nil {
			r.Failed.Text = f.Err.Error()
		}
	} else if err != nil {
		r.Error = oneLine(err.Error())
	}
	return r
}

func (m *match) sums() (list []uint64) {
	for _, s := range m.states {
		h := fnv.New64a()
		h.Write(s)
		list = append(list, h.Sum64())
	}
	return list
}

// ranOutside has the checks for which another process has run. It takes as long as the test, so one of a hundred seeds is enough, and a
// test has at most mostOutside.
var ranOutside struct {
	sync.Mutex
	done   map[outsideKey]bool
	byTest map[string]int
}

const mostOutside = 4

type outsideKey struct {
	test, game, config string
	players            uint8
}

// goesOutside reports whether a check of a test is to run in another process.
func (m *match) goesOutside(test string) bool {
	key := outsideKey{test, m.game.Name(), string(m.header.Config), m.header.Settings.Players}
	r := &ranOutside
	r.Lock()
	defer r.Unlock()
	if r.done == nil {
		r.done, r.byTest = map[outsideKey]bool{}, map[string]int{}
	}
	if r.done[key] || r.byTest[test] == mostOutside {
		return false
	}
	r.done[key] = true
	r.byTest[test]++
	return true
}

// runOutside lets another process of the same test play the match, and compute it under other surroundings. It returns a [*Failure], and
// whether it was done or why not. Only a test of the testing package can run in a process of its own.
func (m *match) runOutside(t testing.TB, check program.CheckJob) (done bool, why, failure error) {
	if _, ok := t.(*testing.T); !ok || fuzzing() {
		return false, nil, nil
	}
	if !m.goesOutside(t.Name()) {
		return false, nil, nil
	}
	check.Seed, check.Phase = m.options.Seed, outsidePhase
	r, err := startOutside(t, check)
	switch {
	case err != nil:
		return false, err, nil
	case r.Error != "":
		return false, errors.New(r.Error), nil
	}
	own := m.sums()
	for tick := range min(len(own), len(r.States)) {
		if own[tick] != r.States[tick] {
			return true, nil, m.fail(outsidePhase, 0, lockstep.Tick(tick), errors.New("the same match has another state in another process on this machine"))
		}
	}
	if len(own) != len(r.States) {
		return true, nil, m.fail(outsidePhase, 0, lockstep.Tick(min(len(own), len(r.States))), errors.New("the same match has another length in another process on this machine"))
	}
	s := r.Failed
	if s == nil {
		return true, nil, nil
	}
	f := &Failure{Phase: outsidePhase, Tick: s.Tick, Field: s.Field, Got: s.Got, Want: s.Want, More: s.More, Under: s.Under}
	if s.Text != "" {
		f.Err = errors.New(s.Text)
	}
	f.Options, f.game, f.played = m.options, m.game, m.played
	return true, nil, f
}

const outsideTime = time.Minute // more than any match of a test takes

func startOutside(t testing.TB, check program.CheckJob) (*outsideResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if check.Folder, err = os.MkdirTemp("", "samestep-check-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(check.Folder)
	path := filepath.Join(check.Folder, "job.json")
	if err := program.WriteJSON(path, &check); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), outsideTime)
	defer stop()
	c := exec.CommandContext(ctx, self, "-test.run="+testPattern(t.Name()), "-test.count=1", fmt.Sprint("-test.short=", testing.Short()))
	c.Dir, c.Env, c.WaitDelay = packageDir, append(os.Environ(), program.CheckVariable+"="+path), time.Second
	out, err := c.CombinedOutput()
	r := &outsideResult{}
	if read := program.ReadJSON(filepath.Join(check.Folder, program.ResultFile), r); read != nil {
		if err == nil {
			err = errors.New("it never reaches a check with the same options")
		}
		return nil, fmt.Errorf("another process of the test: %w: %s", err, shown(string(out)))
	}
	return r, nil
}

// fuzzing reports whether this process is a worker of a fuzzer.
func fuzzing() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// checkTraced is Check in a program with probes. It does the job if that is the failed check, and skips the rest of the test.
func checkTraced(t testing.TB, j *program.CheckJob, g *lockstep.Game, o Options) {
	t.Helper()
	o.Seed = j.Seed // a test may take another one each time
	if j.Options != "" && checkName(g, o) != j.Options {
		return
	}
	var result any
	if j.Phase == outsidePhase && j.Tick == 0 {
		result = checkOutside(g, o)
	} else {
		result = traceCheck(j, g, o)
	}
	if err := program.WriteJSON(filepath.Join(j.Folder, program.ResultFile), result); err != nil {
		t.Fatal(err)
	}
	t.SkipNow()
}

const traceTries = 4 // of a match that fails in another way each time

// traceCheck plays the match until it fails, with a recording of the tick at which it did so before.
func traceCheck(j *program.CheckJob, g *lockstep.Game, o Options) *program.Result {
	want := *j
	var last *match
	for range traceTries {
		o.Skip = allBut(want.Phase)
		m, err := o.match(g)
		if err == nil {
			m.alone = true
			m.tracer = &tracer{job: want, history: program.History{}}
			err = m.compute()
		}
		if m != nil && m.tracer.differ() {
			return m.tracer.result(g, m.header, want)
		}
		if f, ok := err.(*Failure); ok && f.Tick > 0 && m != nil {
			if f.Phase == want.Phase && uint32(f.From) == want.From && uint32(f.Tick) == want.Tick {
				if r := m.tracer; f.Phase == PanicPhase && r.have[0] && r.runs[0].Panic != "" {
					r.runs[1] = r.runs[0] // nothing was computed again
					return r.result(m.game, m.header, want)
				}
				return &program.Result{Error: "the difference does not arise in Step"}
			}
			last, want.Phase, want.From, want.Tick = m, f.Phase, uint32(f.From), uint32(f.Tick)
		}
	}
	if last != nil {
		if r := last.traceAgain(want); r != nil {
			return r
		}
	}
	return &program.Result{Error: "the match does not fail again"}
}

const traceRuns = 64 // of a tick whose result is random

// traceAgain computes one tick again and again until it has two results, or returns nil.
func (m *match) traceAgain(want program.CheckJob) *program.Result {
	t := lockstep.Tick(want.Tick)
	if int(t) > len(m.frames) || int(t) > len(m.states) {
		return nil
	}
	r := &tracer{job: want}
	r.job.Phase = ""
	for n := range traceRuns {
		sim, err := m.game.AwaitState(m.header)
		if err != nil || sim.Restore(t-1, m.states[t-1]) != nil {
			return nil
		}
		sim.Schedule(1, nil)
		if n == 1 {
			sim.Schedule(1, program.Backwards)
		}
		r.index = min(n, 1)
		if r.open, err = program.Record(want.Folder, r.index, sim, nil); err != nil {
			return nil
		}
		r.end(sim.Step(&m.frames[t-1]))
		if r.differ() {
			return r.result(m.game, m.header, want)
		}
	}
	return nil
}

// The time that looking for the line of a failure may take.
const (
	minLineTime = 10 * time.Second // less is not worth to begin
	stopTime    = 5 * time.Second  // before the deadline of the test; and for the program to stop
)

// engineModule is the module whose program looks for lines.
const engineModule = "github.com/seed-49bee653/samestep"

// packageDir is the folder of the package under test: the go command runs a test there.
var packageDir, _ = os.Getwd()

// line returns the line of code behind a failure, or why it is not known, as lines of text. j says which test fails in this way.
func (f *Failure) line(t testing.TB, j program.TestJob) string {
	text, err := f.lookForLine(t, j)
	if err != nil {
		return fmt.Sprintf("line       not %s\n", oneLine(err.Error()))
	}
	return text
}

var (
	errNoStep = errors.New("looked for: the difference does not arise in Step")
	errNoTime = errors.New("looked for: the test has no time left")
)

// lookForLine returns the line of code behind a failure, or nothing if nobody wants it.
func (f *Failure) lookForLine(t testing.TB, j program.TestJob) (string, error) {
	switch {
	case testing.Short() || program.LineTime() == 0:
		return "", nil
	case !f.inStep():
		return "", errNoStep
	}
	until := time.Now().Add(program.LineTime())
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := d.Deadline(); ok && end.Add(-2*stopTime).Before(until) {
			until = end.Add(-2 * stopTime)
		}
	}
	if time.Until(until) < minLineTime {
		return "", errNoTime
	}
	text, err := f.findLine(j, until)
	if err != nil {
		return "", fmt.Errorf("known: %w", err)
	}
	return text, nil
}

// inStep reports whether the failure is one of a step, and not of what came before it.
func (f *Failure) inStep() bool {
	switch f.Phase {
	case "new", "play", "validate", "configuration", "fields", "round trip":
		return false
	}
	if f.Err != nil {
		p := (*lockstep.PanicError)(nil)
		return errors.As(f.Err, &p) && p.Where == "Step"
	}
	return f.Tick > f.From
}

// findLine lets the go command run the program that looks for the line: what reads and builds sources is no part of this one.
func (f *Failure) findLine(job program.TestJob, until time.Time) (string, error) {
	folder, err := os.MkdirTemp("", "samestep-check-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	job.Dir, job.Tags, job.Until = packageDir, buildTags(), until.Unix()
	job.Env = map[string]string{"GOWORK": os.Getenv("GOWORK"), "GOFLAGS": os.Getenv("GOFLAGS")}
	job.Check.Seed, job.Check.Phase, job.Check.From, job.Check.Tick = f.Options.Seed, f.Phase, uint32(f.From), uint32(f.Tick)
	path := filepath.Join(folder, "job.json")
	if err := program.WriteJSON(path, &job); err != nil {
		return "", err
	}
	ctx, stop := context.WithDeadline(context.Background(), until.Add(stopTime))
	defer stop()
	out, err := goCommand(ctx, packageDir, os.Environ(), "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", engineModule)
	if err != nil {
		return "", err
	}
	engine := strings.TrimSpace(out)
	if engine == "" {
		return "", fmt.Errorf("the module cache does not have module %s", engineModule)
	}
	env := append(os.Environ(), "GOFLAGS=", "GOWORK=") // those of the game are not for the engine
	return goCommand(ctx, engine, env, "run", "-mod=readonly", "./desync/line/checkline", path)
}

// testPattern returns the regular expressions that only one test has.
func testPattern(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}

// goCommand runs the go command, and returns what it prints.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	var out, bad bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = dir, env, &out, &bad, time.Second
	err := c.Run()
	if text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(bad.String()), "exit status 1")); err != nil && text != "" {
		err = errors.New(text)
	}
	if ctx.Err() != nil {
		err = errors.New("time limit exceeded")
	}
	return out.String(), err
}

// buildTags returns the tags that this program was built with.
func buildTags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}
