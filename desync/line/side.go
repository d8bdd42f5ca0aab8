package line

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A side is one of the two programs that compute the tick.
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

// build reads the sources, and builds woven copies.
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

// run runs a job with the program of a side. env perturbs the Go runtime. A program that ends in a tick is an error, unless there are
// sums of earlier ticks or a recording of that tick.
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
	return sumsIn(b), nil
}

// sumsIn returns the whole sums in a part of such a file.
func sumsIn(b []byte) []uint64 {
	all := make([]uint64, len(b)/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}

func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// begun reports whether an unfinished job has left results: sums, a recording, or the place of Step.
func (j *job) begun() bool {
	switch j.Kind {
	case program.Trace:
		return len(j.result.Runs) > 0
	case program.Stand:
		return j.result.Step.Name != ""
	}
	sums, err := j.hashes()
	return err == nil && len(sums) > 0 && (j.Kind == program.Hashes || j.Kind == program.Cold)
}

// stackOverflow is the Go runtime's message for a goroutine whose stack is too deep.
const stackOverflow = "stack overflow"

// endedBy says how a program ended. err is the result of Wait, out the program's output.
func endedBy(err error, out string) string {
	code, lines := 0, strings.Split(strings.TrimSpace(out), "\n")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	for _, l := range lines {
		switch fatal := strings.HasPrefix(l, "fatal error: "); {
		case code != 2: // that of the Go runtime
		case fatal && strings.HasSuffix(l, stackOverflow):
			return stackOverflow
		case fatal, strings.HasPrefix(l, "panic: "):
			return clipped(l)
		}
	}
	how := fmt.Sprintf("exit code %d", code)
	if code < 0 {
		how = exit.String() // such as a signal
	}
	if last := clipped(lines[len(lines)-1]); last != "" {
		how += ", after the line " + strconv.Quote(last)
	}
	return how
}

// Options say what to compare.
type Options struct {
	Source   string // a folder in the module with the rules, or a git revision; "" means the current folder
	Other    string // another version of it: a folder, or a git revision; "" for none
	Platform string // another platform, such as "js/wasm" or "linux/386"; "" for none
	Runs     int    // without both: how often to compute the match with one version; 0 means 4

	// Edits replace files on the disk: absolute path to content. They are the other version, unless Platform
	// is set. Nil for none.
	Edits map[string][]byte

	Tick lockstep.Tick // the tick; 0 means the first one whose results differ
	From lockstep.Tick // a tick at which the sides agree, if one is known
	Last lockstep.Tick // the last tick to look at; 0 means that of the log

	// Assets reads the assets of the match. Nil means that it has none.
	Assets func(lockstep.Asset) ([]byte, error)
	// List lists the assets of the match.
	List []lockstep.Asset

	// Progress is called with a description of the next step. Nil disables it.
	Progress func(text string)
}

func (o *Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// platform returns the environment that makes the go command build for a platform, and the command that runs its programs here.
func platform(name string) (env, runner []string, err error) {
	system, arch, ok := strings.Cut(name, "/")
	if !ok {
		return nil, nil, fmt.Errorf("line: got platform %q, want one such as js/wasm or linux/386", name)
	}
	env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	switch {
	case name == "js/wasm":
		runner = []string{filepath.Join(goRoot(), "lib", "wasm", "go_js_wasm_exec")}
		if _, err := exec.LookPath("node"); err != nil {
			return nil, nil, fmt.Errorf("line: %s programs need Node.js: %w", name, err)
		}
	case system != runtime.GOOS:
		return nil, nil, fmt.Errorf("line: programs for %s do not run on %s", name, runtime.GOOS)
	case arch == runtime.GOARCH || arch == "386" && runtime.GOARCH == "amd64":
	default:
		if runner, err = emulator(arch); err != nil {
			return nil, nil, fmt.Errorf("line: programs for %s need an emulator: %w", name, err)
		}
	}
	return env, runner, nil
}

// emulator returns the command that runs the Linux programs of another architecture.
func emulator(arch string) ([]string, error) {
	machine := cmp.Or(map[string]string{"arm64": "aarch64", "386": "i386", "amd64": "x86_64"}[arch], arch)
	for _, name := range []string{"qemu-" + machine, "qemu-" + machine + "-static"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("qemu-%s is not installed", machine)
}

func goRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "" // there is no runner then
	}
	return strings.TrimSpace(string(out))
}

func clipped(line string) string {
	return strings.ToValidUTF8(strings.TrimSpace(line[:min(len(line), maxFileLine)]), "�")
}

// maxFileLine is the longest part of a line of an embedded file that is shown, in bytes.
const maxFileLine = 160

// what says what a side does.
func (e *Endless) what(when string) string {
	switch {
	case e.Megabytes > 0:
		return fmt.Sprintf("needs more than %d MB %s", e.Megabytes, when)
	case e.Ended == stackOverflow:
		return "overflows its stack " + when
	case e.Ended != "":
		return fmt.Sprintf("exits %s (%s)", when, e.Ended)
	}
	return fmt.Sprintf("does not end %s within %s", strings.TrimPrefix(when, "in "), seconds(e.Seconds))
}
