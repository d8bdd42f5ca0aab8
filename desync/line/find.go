// Package line finds the line of code at which two computations of one tick begin to differ.
//
// It builds the game's rules with probes (package desync/line/internal/weave), runs the same tick on two sides (package
// desync/probe/program), and compares the recordings of the probes. [Find] does all of this:
//
//	found, err := line.Find(ctx, file, line.Options{Source: ".", Other: "v1.3"})
//	found.WriteText(os.Stdout)
//
// The two sides are one of these:
//
//   - two versions of the sources;
//   - two platforms, whose arithmetic may differ;
//   - two runs of one version, which find map order and goroutines;
//   - a simulation from the start of the match and one restored from a snapshot, which find stale caches.
package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// Find compares two computations of the match in a file.
func Find(ctx context.Context, f *replay.File, o Options) (*Result, error) {
	x, err := NewFinder()
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Find(ctx, f, o)
}

func (s *search) find(ctx context.Context) (*Result, error) {
	if s.Other != "" && s.Platform != "" {
		return nil, errors.New("line: name another version or another platform, not both")
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if b := s.file.Bundle(); b != nil && s.Other == "" && s.Platform == "" {
		s.result.Notes = append(s.result.Notes, proposeSides(s.head, &b.Manifest)...)
	}
	from, notes := time.Now(), s.result.Notes
	err := s.sides(ctx)
	if at := (*beforeError)(nil); errors.As(err, &at) {
		s.result, s.named, s.Tick = &Result{Notes: append(notes, at.Error()+": this is the first tick that differs")}, false, 0
		if err = s.sides(ctx); err == nil && s.result.Tick == 0 {
			err = fmt.Errorf("line: %w, but no tick differs when the match is computed again", at)
		}
	}
	s.result.took = time.Since(from)
	return s.result, err
}

func (s *search) sides(ctx context.Context) error {
	switch {
	case s.Other != "" || s.Edits != nil && s.Platform == "":
		return s.versions(ctx)
	case s.Platform != "":
		return s.platforms(ctx)
	}
	return s.alone(ctx)
}

// Find compares two computations of the match in a file. All calls must have the same Options.Edits, and the sources must not change
// between them.
func (x *Finder) Find(ctx context.Context, f *replay.File, o Options) (*Result, error) {
	s, err := x.search(f, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.folder)
	return s.find(ctx)
}

// errCheck is wrapped by the errors of a test that does not fail in the same way again.
var errCheck = errors.New("line: the test, built with probes")

// Check builds a test with probes, runs it up to a check of package kit/locksteptest that has failed, and compares the
// two computations of the tick at which it failed.
func Check(ctx context.Context, o program.TestJob) (*Result, error) {
	folder, err := os.MkdirTemp("", "samestep-line-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	from := time.Now()
	s := &search{folder: folder, finder: finderIn(folder), head: &lockstep.Header{}, result: &Result{Mode: Checked}}
	a := s.side("A", o.Dir)
	p, err := a.read(weave.Options{Dir: o.Dir, Test: true, Tags: o.Tags, Overlay: o.Files})
	if err == nil {
		err = a.compile(ctx, p, "test", "-c", "-vet=off")
	}
	if err != nil {
		return nil, err
	}
	s.result.BuildSeconds, s.result.Probes = time.Since(from).Seconds(), len(a.source.Sites)
	built := time.Now()
	done, err := a.runTest(ctx, &o)
	if err != nil {
		return nil, err
	}
	s.result.RunSeconds = time.Since(built).Seconds()
	r := &done.result
	s.head.StateSchema, s.Tick = r.Schema, lockstep.Tick(r.Tick)
	s.result.First, s.result.Last = s.Tick-1, s.Tick
	s.result.Sides = [2]string{"the match", r.Phase}
	if r.From > 0 {
		s.result.Sides[1] += fmt.Sprintf(" of tick %d", r.From)
	}
	var before map[string]lastWrite
	if !slices.Contains(program.SameWay, r.Phase) {
		before = a.lastWrites(r.Before)
	}
	b := *a
	b.name = "B"
	if s.innocent, err = a.innocent(done, r.Equal); err != nil {
		return nil, err
	}
	err = s.compare([2]*side{a, &b}, [2]*job{done, done}, [2]*program.Run{&r.Runs[0], &r.Runs[1]}, before)
	s.result.took = time.Since(from)
	return s.result, err
}

// runTest runs the test up to the check.
func (s *side) runTest(ctx context.Context, o *program.TestJob) (*job, error) {
	j := &job{}
	j.Folder = filepath.Join(s.folder, "check")
	if err := os.MkdirAll(j.Folder, 0o700); err != nil {
		return nil, err
	}
	o.Check.Folder = j.Folder
	path := filepath.Join(j.Folder, "job.json")
	if err := program.WriteJSON(path, &o.Check); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, s.binary, "-test.run="+o.Run, "-test.count=1")
	c.Dir = cmp.Or(o.Folder, o.Dir)
	c.Env = append(os.Environ(), program.CheckVariable+"="+path)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if readErr := program.ReadJSON(filepath.Join(j.Folder, program.ResultFile), &j.result); readErr != nil {
		if err != nil {
			return nil, fmt.Errorf("%w, fails in another way: %w\n%s", errCheck, err, clipLines(string(out), 20))
		}
		return nil, fmt.Errorf("%w, never reaches a check with the same options", errCheck)
	}
	if j.result.Error != "" {
		return nil, fmt.Errorf("%w: %s", errCheck, strings.TrimSpace(j.result.Error))
	}
	return j, nil
}

// lastWrites returns the latest assignments in the ticks before, by name. all is in order.
func (s *side) lastWrites(all []program.Latest) map[string]lastWrite {
	before := map[string]lastWrite{}
	for _, l := range all {
		site := &s.source.Sites[l.Site]
		if site.Kind == weave.Write && !site.Local {
			before[site.Name] = lastWrite{site, l.Tick}
		}
	}
	return before
}

// A Session is a program that restores a match just before a tick and computes that tick, for the debugger Delve.
type Session struct {
	Tick   lockstep.Tick
	Folder string // with all its files
	Dir    string // of the module of the game
	Binary string
	Script string // commands for the debugger
	Job    string // the file that is the argument of Binary

	Built    string   // the build of the sources
	Recorded string   // that of the match
	Notes    []string // how the sources differ from those that recorded the replay
	Step     program.Function
	Field    *program.Field // that to watch, or nil
	Panic    string         // of the rules in the tick, or ""
}

// Prepare builds the program for Options.Tick in a folder. The debugger watches the field at a path of the state before the
// tick, if there is one and the platform can. Of the other options, those of a version of the sources count.
func Prepare(ctx context.Context, f *replay.File, folder, path string, o Options) (*Session, error) {
	s, err := finderIn(folder).search(f, o)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	a := s.side("debug", s.dir)
	a.edits, a.debug = s.Edits, true
	s.progress("building for the debugger")
	if err := s.build(ctx, a); err != nil {
		return nil, err
	}
	log, err := s.log("log", s.Tick-1, s.Tick)
	if err != nil {
		return nil, err
	}
	s.progress("computing the match up to tick %d", s.Tick-1)
	j := program.Job{Kind: program.Stand, Log: log, Assets: s.assets, Tick: uint32(s.Tick), Path: path}
	stood, err := a.run(ctx, "stand", j)
	if err != nil {
		return nil, err
	}
	d := &Session{
		Tick: s.Tick, Folder: folder, Dir: a.source.Dir, Binary: a.binary,
		Built: stood.result.Build, Recorded: s.head.Build, Notes: s.result.Notes, Step: stood.result.Step, Field: stood.result.Field, Panic: stood.result.Panic,
	}
	if stood.stop != nil {
		d.Notes = append(d.Notes, "the program "+stood.stop.what("in this tick"))
	}
	j = stood.Job
	j.Kind, j.Memory = program.Debug, 0
	if d.Job, err = filepath.Abs(filepath.Join(folder, "job.json")); err != nil {
		return nil, err
	}
	if err := program.WriteJSON(d.Job, &j); err != nil {
		return nil, err
	}
	return d, d.writeScript()
}

// hasWatchpoints reports whether Delve has watchpoints on this platform.
func hasWatchpoints() bool {
	return slices.Contains([]string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}, runtime.GOOS+"/"+runtime.GOARCH)
}

// engineProgram is the package of the functions before and after.
const engineProgram = "github.com/seed-49bee653/samestep/desync/probe/program"

// writeScript writes the commands for the debugger, and the definition of the command "written".
func (d *Session) writeScript() error {
	var script strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	line("break before %s.before", engineProgram)
	line("continue")
	line("clear before")
	if f := d.Field; f != nil && hasWatchpoints() {
		memory := f.Type
		if memory == "string" { // its pointer: no watchpoint is as wide as a string
			memory = "uintptr"
		}
		written := filepath.Join(d.Folder, "written.star")
		if err := os.WriteFile(written, fmt.Appendf(nil, writtenCommand, f.Path, f.Type, f.FractionBits), 0o600); err != nil {
			return err
		}
		line("source %s", written)
		line("watch -w *(*%s)(address)", memory)
	}
	line("break after %s.after", engineProgram)
	line("break panicked runtime.gopanic")
	line("break step %s", d.Step.Place())
	line("continue")
	d.Script = filepath.Join(d.Folder, "before-tick.dlv")
	return os.WriteFile(d.Script, []byte(script.String()), 0o600)
}

// writtenCommand defines a command of Delve. A processor stops after the instruction that writes, perhaps on the next line.
const writtenCommand = `path, kind, bits = %q, %q, %d

def command_written(args):
    "goes on to the next write of the watched field, and prints the line that wrote it."
    dlv_command("continue")
    now = state().State
    if now.Exited or now.CurrentThread == None:
        return
    hit = now.CurrentThread.Breakpoint
    if hit == None or hit.WatchExpr == "":
        return
    text = path
    if kind != "string":
        value = eval(None, "*(*%%s)(%%d)" %% (kind, hit.Addr)).Variable.Value
        text += " is %%s" %% (int(value) / (1 << bits) if bits > 0 else value)
    at = find_location(None, "*%%d" %% (now.CurrentThread.PC - 1)).Locations[0]
    if at.Function != None and at.Function.Name_.startswith("runtime."):
        for frame in stacktrace(-1, 50).Locations:
            at = frame.Location
            if at.Function != None and not at.Function.Name_.startswith("runtime."):
                break
    print("%%s, written at %%s:%%d" %% (text, at.File, at.Line))
`

// Command returns the command that starts the debugger.
func (d *Session) Command(delve string) []string {
	return []string{delve, "exec", d.Binary, "--init", d.Script, "--", d.Job}
}

// WriteText writes how to start the debugger by hand.
func (d *Session) WriteText(w io.Writer) error {
	var p words.Page
	p.Line("tick", "%d, of the sources in %s", d.Tick, d.Dir)
	if d.Built != d.Recorded {
		p.Line("", "they are build %q, and the match is of build %q", d.Built, d.Recorded)
	}
	d.addNotes(&p)
	p.Line("step", "%s at %s:%d", d.Step.Name, d.Step.File, d.Step.Line)
	if d.Field != nil {
		p.Line("field", "%s is %s before the tick", d.Field.Path, d.Field.Value)
		if !hasWatchpoints() {
			p.Line("", "no watchpoint: the debugger has none on %s/%s; set breakpoints on the lines that assign the field", runtime.GOOS, runtime.GOARCH)
		}
	}
	p.Line("folder", "%s has the program and its files; remove it afterwards", d.Folder)
	p.Command("start", "cd", d.Dir)
	p.Command("", d.Command("dlv")...)
	return p.Write(w)
}

// WriteNotes writes only the notes.
func (d *Session) WriteNotes(w io.Writer) error {
	var p words.Page
	d.addNotes(&p)
	return p.Write(w)
}

func (d *Session) addNotes(p *words.Page) {
	if d.Panic != "" {
		p.Line("panic", "the rules panic in this tick: %s", d.Panic)
		p.Line("", "the command continue goes there")
	}
	for i, text := range d.Notes {
		p.Note(words.First("note", i), text)
	}
}

// Run runs the debugger. Without a terminal, it reads commands from in until its end.
func (d *Session) Run(ctx context.Context, delve string, terminal bool, in io.Reader, out, errs io.Writer) error {
	args := d.Command(delve)
	if !terminal {
		args = slices.Insert(args, 2, "--allow-non-terminal-interactive=true")
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = d.Dir, in, out, errs
	if !terminal {
		c.Env = append(os.Environ(), "TERM=dumb") // no colors in a file or a pipe
	}
	c.WaitDelay = time.Second
	if err := c.Run(); err != nil {
		return fmt.Errorf("line: %s: %w", delve, err)
	}
	return nil
}
