package line

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// A side is one of the programs that compute the tick.
type side struct {
	name   string // for people: "A", "B"
	dir    string // of the sources
	env    []string
	folder string // for its files
	edits  map[string][]byte
	debug  bool     // without probes, for a debugger
	known  []string // packages of the sources, if they are known
	source *weave.Source
	binary string
	failed error    // of the build
	runner []string // what runs the binary on this machine; nil for the machine itself
}

// build reads, weaves and builds the sources.
func (s *side) build(ctx context.Context, game string) error {
	p, err := s.weave(game)
	if err != nil {
		return err
	}
	if s.debug {
		return s.compile(ctx, p, "build", "-gcflags=all=-N -l") // no optimization, no inlining
	}
	return s.compile(ctx, p, "build", "-trimpath")
}

// weave reads the sources, and writes woven copies.
func (s *side) weave(game string) (weave.Program, error) {
	return s.read(weave.Options{Dir: s.dir, Env: s.env, Game: game, Overlay: s.edits, Packages: s.known, Plain: s.debug})
}

func (s *side) read(o weave.Options) (p weave.Program, err error) {
	if s.source, err = weave.Read(o); err != nil {
		return p, err
	}
	woven := filepath.Join(s.folder, "woven")
	if err := os.MkdirAll(woven, 0o700); err != nil {
		return p, err
	}
	return s.source.Write(woven)
}

// compile builds woven copies with a verb of the go command and its flags.
func (s *side) compile(ctx context.Context, p weave.Program, verb string, flags ...string) error {
	binary := filepath.Join(s.folder, "rules.exe")
	if !s.debug {
		flags = append(flags, "-buildvcs=false", "-ldflags=-w") // what nothing reads takes half of the time
	}
	args := slices.Concat([]string{verb}, flags, []string{"-overlay", p.Overlay, "-o", binary}, s.source.BuildFlags(), []string{p.Package})
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env = p.Dir, s.env
	if out, err := c.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("line: go build of the sources in %s: %w\n%s", s.dir, err, clipLines(string(out), 20))
	}
	s.binary = binary
	return nil
}

func clipLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = append(lines[:n], "…")
	}
	return strings.Join(lines, "\n")
}

// A job is a job of a side, and its result.
type job struct {
	program.Job
	result program.Result
	stop   *Endless // it did not end a tick; nil if it did
}

// sideMemory is how much memory a side may need, in bytes.
var sideMemory int64 = 2 << 30

// run lets the program of a side do a job. env perturbs the Go runtime. That the program ends in a tick is an error, too, unless there
// are sums of the ticks before, or a recording of that tick.
func (s *side) run(ctx context.Context, name string, j program.Job, env ...string) (*job, error) {
	j.Folder = filepath.Join(s.folder, name)
	if err := os.MkdirAll(j.Folder, 0o700); err != nil {
		return nil, err
	}
	j.Memory = sideMemory
	path, result := filepath.Join(j.Folder, "job.json"), filepath.Join(j.Folder, program.ResultFile)
	if err := errors.Join(gone(result), program.WriteJSON(path, &j)); err != nil {
		return nil, err
	}
	out, err := s.start(ctx, s.runner, path, env)
	if errors.Is(err, syscall.ENOEXEC) { // some kernels run no programs of 32 bits
		var runner []string
		if runner, err = emulator("386"); err == nil {
			out, err = s.start(ctx, runner, path, env)
		}
	}
	if err != nil && (ctx.Err() != nil || !errors.As(err, new(*exec.ExitError))) {
		return nil, fmt.Errorf("line: side %s: %w\n%s", s.name, err, clipLines(string(out), 20))
	}
	done := &job{Job: j}
	switch read := program.ReadJSON(result, &done.result); {
	case read == nil && done.result.Memory > 0:
		done.stop = &Endless{Megabytes: int(done.result.Memory >> 20)}
	case errors.Is(read, os.ErrNotExist), read == nil && (done.result.Open || err != nil):
		done.stop = &Endless{Ended: endedBy(err, string(out))}
	case read != nil:
		return nil, read
	}
	if done.stop != nil && !done.begun() {
		return done, fmt.Errorf("line: side %s %s\n%s", s.name, done.stop.what("before the tick"), clipLines(string(out), 20))
	}
	if done.result.Error != "" && s.debug {
		return nil, fmt.Errorf("line: %w", errors.New(done.result.Error))
	}
	if done.result.Error != "" {
		return nil, fmt.Errorf("line: side %s: %w", s.name, errors.New(done.result.Error))
	}
	return done, nil
}

// start runs the program of a side with a job, and returns what it printed.
func (s *side) start(ctx context.Context, runner []string, job string, env []string) ([]byte, error) {
	args := append(append([]string{}, runner...), s.binary, job)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = time.Second // a runner may leave a program behind that holds the output
	return c.CombinedOutput()
}

// hashes returns the state hashes of a job, from that of the keyframe on.
func (j *job) hashes() ([]uint64, error) {
	b, err := os.ReadFile(filepath.Join(j.Folder, program.HashFile))
	if err != nil {
		return nil, err
	}
	all := make([]uint64, len(b)/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all, nil
}
