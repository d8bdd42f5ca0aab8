package line

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

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

// writtenCommand defines a command of Delve. A processor stops after the instruction that writes, which may be on the next line
// already.
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
