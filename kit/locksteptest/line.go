package locksteptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

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
		err = errors.New("the time was over")
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
