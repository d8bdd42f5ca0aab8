//go:build !js

package gameset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/elsewhere"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// GameIn returns the game that fits the header of a file. If none fits, it returns the header and the reason.
func GameIn(c *cli.Context, f *replay.File) (*lockstep.Game, *lockstep.Header, error) {
	h, err := f.Header()
	if err != nil {
		return nil, nil, err
	}
	games, err := GamesFor(c, f)
	if err != nil {
		return nil, h, err
	}
	g, err := games.Of(h)
	return g, h, err
}

// Watched returns a Reader with a progress bar, which done removes.
func Watched(c *cli.Context, f *replay.File) (r *replay.Reader, done func(), err error) {
	content, size, err := f.Content()
	if err != nil {
		return nil, nil, err
	}
	bar := console.NewProgress(c.App.ErrWriter, size, "bytes")
	r, err = replay.NewReader(watchedFile{content, bar}, size)
	return r, bar.Done, err
}

// A watchedFile shows the position of its reader, for work that reads a file once and in one goroutine.
type watchedFile struct {
	io.ReaderAt
	bar *console.Progress
}

// ReadAt implements [io.ReaderAt].
func (f watchedFile) ReadAt(p []byte, at int64) (int, error) {
	f.bar.Set(at)
	return f.ReaderAt.ReadAt(p, at)
}

// OpenReplay opens a replay or a bundle, or lines of a match of another engine as a replay.
func OpenReplay(name string) (*replay.File, error) { return OpenWith(replay.Open, name) }

// OpenWith is OpenReplay with another function that opens the file.
func OpenWith(open func(string) (*replay.File, error), name string) (*replay.File, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if err := matchlines.ConvertLines(f); err != nil {
		f.Close()
		return nil, &console.FileError{Name: name, Err: err}
	}
	return f, nil
}

// OnReplay makes the action of a command whose only argument is a replay or a bundle.
func OnReplay(act func(*cli.Context, *replay.File) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return WithReplay(c.Args().First(), func(f *replay.File) error { return act(c, f) })
	}
}

// WithReplay opens a file for act, and adds the file's name to the error.
func WithReplay(name string, act func(*replay.File) error) error {
	f, err := OpenReplay(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return OfFile(name, act(f))
}

// A result is what a verb has found, which a game's own program can print, too.
type result interface{ WriteText(io.Writer) error }

// Report prints a result, as JSON with --json, and returns the error of printing or else err.
func Report(c *cli.Context, r result, err error) error {
	var werr error
	err = Tell(c, r, func(w io.Writer) { werr = r.WriteText(w) }, err)
	if err != nil && console.ClassOf(err) == replay.ClassSuspended {
		err = nil // the result says so, and nothing has failed
	}
	return cmp.Or(werr, err)
}

// GameOf returns the game of the match in a file, with the assets of --assets, if the program that runs a verb has it, or a module of
// its rules.
func GameOf(c *cli.Context, f *replay.File) (*lockstep.Game, error) {
	if m := ModulesOf(c); m != nil {
		defer m.Forget(f)
	}
	g, _, err := GameIn(c, f)
	return g, err
}

// PathFlag chooses a part of a state, by its path as the verbs print it.
var PathFlag = &cli.StringFlag{Name: "path", Usage: "of states: print the field at `PATH`, or those below it, such as Units[17].Pos.X or Units[ID=4000].Health"}

// PathError returns an error of --path as a usage error, and others as they are.
func PathError(err error) error {
	if errors.Is(err, state.ErrPath) {
		return console.Usagef("--path: %v", err)
	}
	return err
}

// Warn tells, on standard error, that no check confirms the state, for verbs that print the state itself.
func Warn(c *cli.Context, m *replay.Moment, file string) {
	if m.By == nil && m.Agreed < m.Tick {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: state of tick %d: %s\n", c.App.Name, console.Shown(file), m.Tick, m.Agreement())
	}
}

// StateAt returns the state after a tick: simulated unless the tick has a keyframe, or recorded in a match of another engine.
func StateAt(c *cli.Context, f *replay.File, t lockstep.Tick) (*replay.Moment, error) {
	g, header, noGame := GameIn(c, f)
	if header == nil {
		return nil, noGame
	}
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	var m *replay.Moment
	if header.Engine == replay.ForeignEngine {
		m, err = replay.RecordedAt(r, t)
	} else {
		o, done := SimulateOptions(c)
		m, err = replay.StateAt(r, g, t, o)
		done()
	}
	var missing *replay.TickError
	switch {
	case errors.As(err, new(*replay.NoStateError)):
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: err.Error()}
	case errors.Is(err, replay.ErrNoGame):
		return nil, fmt.Errorf("tick %d has no keyframe and cannot be simulated: %w", t, noGame)
	case errors.As(err, &missing):
		return nil, console.Usagef("%s", missing.Text())
	}
	return m, err
}

// MaxTicksFlag bounds a simulation.
var MaxTicksFlag = &cli.UintFlag{Name: "max-ticks", Usage: "refuse to simulate more than `N` ticks", DefaultText: "262144 and 64 for each byte, at most 16777216"}

// MaxTicks returns the value of --max-ticks, or 0 without it.
func MaxTicks(c *cli.Context) lockstep.Tick {
	if !c.IsSet("max-ticks") {
		return 0
	}
	return max(TickOf(c, "max-ticks"), 1)
}

// TickOf returns the value of a flag that is a tick.
func TickOf(c *cli.Context, flag string) lockstep.Tick {
	return lockstep.Tick(min(c.Uint(flag), math.MaxUint32))
}

// SimulateOptions returns the limits of a simulation, with a progress bar that done removes.
func SimulateOptions(c *cli.Context) (o replay.SimulateOptions, done func()) {
	bar := console.NewProgress(c.App.ErrWriter, 0, "ticks")
	o.MaxTicks = MaxTicks(c)
	o.Progress = func(done, all lockstep.Tick) { bar.SetOf(int64(done), int64(all)) }
	return o, bar.Done
}

// SourceFlag says where the sources of the rules are.
var SourceFlag = &cli.StringFlag{Name: "source", Usage: "`FOLDER` in the module with the rules, or a git revision", DefaultText: "the current one"}

// LineAssets adds the assets of the match: from the program's games, or else from the folder.
func LineAssets(c *cli.Context, f *replay.File, o *line.Options) error {
	h, err := f.Header()
	if err != nil {
		return err
	}
	g, err := assetsFor(c, f, h)
	if g == nil {
		return err
	}
	o.Assets = g.ReadAsset
	o.List, err = g.Assets(h)
	return err
}

// Tell prints v with --json, with the rules that were used, and otherwise calls print. It returns the error of printing, or else err, the verb's result.
func Tell(c *cli.Context, v any, print func(io.Writer), err error) error {
	if !c.Bool("json") {
		print(c.App.Writer)
		return err
	}
	b, werr := WithRules(v, ModulesOf(c).UsedSoFar(nil))
	if werr == nil {
		werr = console.WriteJSON(c.App.Writer, b)
	}
	return cmp.Or(werr, err)
}

// TellPage is Tell for a report that --html also writes as a page. If that fails, the report is printed all the same.
func TellPage(c *cli.Context, v interface{ WriteHTML(io.Writer) error }, print func(io.Writer), err error) error {
	page, failed := c.String(console.HTMLFlag.Name), error(nil)
	if page != "" {
		failed = files.Create(page, func(out *os.File) error { return v.WriteHTML(out) })
	}
	err = Tell(c, v, func(w io.Writer) {
		print(w)
		if page != "" && failed == nil {
			console.NewLiner(w)("page", "%s", page)
		}
	}, err)
	return cmp.Or(failed, err)
}

// A Subject is a file to compare: a replay, a bundle, or a state. A bundle of a panic has no states, and counts as its replay.
type Subject struct {
	*replay.File
	IsReplay bool
	Head     *lockstep.Header // of the replay; nil for a state
	Game     *lockstep.Game   // of the replay, if this program has it
}

// OpenSubject opens a file, and tells its type by the first bytes.
func OpenSubject(c *cli.Context, name string) (*Subject, error) {
	f, err := OpenReplay(name)
	if err != nil {
		return nil, err
	}
	s := &Subject{File: f}
	replays, err := BeginsAsReplay(f)
	s.IsReplay = replays && (f.Bundle() == nil || f.Bundle().Manifest.Panic != nil || f.Bundle().Manifest.Twin != nil)
	if err == nil && replays {
		var noGame error
		if s.Game, s.Head, noGame = GameIn(c, f); s.Head == nil {
			err = noGame
		}
	}
	if err != nil {
		f.Close()
		return nil, s.Error(err)
	}
	return s, nil
}

// BeginsAsReplay reports whether a file is a bundle, or begins with the first bytes of a replay.
func BeginsAsReplay(f *replay.File) (bool, error) {
	if f.Bundle() != nil {
		return true, nil
	}
	head, err := matchlines.FirstBytes(f)
	return head == "\x89SSR", err
}

// Error adds the name of the file to err.
func (s *Subject) Error(err error) error { return OfFile(s.Path(), err) }

// Schema returns the schema of the subject's states, or nil for a file that is only a state.
func (s *Subject) Schema() (*state.Schema, error) {
	if s.Head == nil {
		return nil, nil
	}
	schema, err := state.ParseSchema(s.Head.StateSchema)
	return schema, s.Error(err)
}

// State returns the state after a tick. Of a bundle, it returns the referee's or the player's.
func (s *Subject) State(c *cli.Context, t lockstep.Tick, referee bool) (b []byte, err error) {
	switch {
	case s.Bundle() != nil:
		b, err = s.exhibit(t, referee)
	case !s.IsReplay:
		b, err = s.bytes()
	default:
		var at *replay.Moment
		if at, err = StateAt(c, s.File, t); err == nil {
			Warn(c, at, s.Path())
			b = at.State
		}
	}
	return b, s.Error(err)
}

// exhibit returns a state of a bundle.
func (s *Subject) exhibit(t lockstep.Tick, referee bool) ([]byte, error) {
	m := &s.Bundle().Manifest
	i := slices.IndexFunc(m.Exhibits, func(x replay.BundleExhibit) bool { return x.Tick == t })
	if i < 0 {
		return nil, console.Usagef("%s: the bundle has no states of tick %d", s.Path(), t)
	}
	name, whose := m.Exhibits[i].Player, "player's"
	if referee {
		name, whose = m.Exhibits[i].Referee, "referee's"
	}
	if name == "" {
		return nil, fmt.Errorf("the bundle does not have the %s state of tick %d", whose, t)
	}
	return s.Bundle().State(name)
}

// bytes returns the content of a file that is a state.
func (s *Subject) bytes() ([]byte, error) {
	content, size, err := s.Content()
	if err != nil {
		return nil, err
	}
	if size > lockstep.MaxStateSize {
		return nil, fmt.Errorf("%d bytes, want a state of at most %d", size, lockstep.MaxStateSize)
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}

// ApartVerb is the verb that computes ticks again in another process, see [desync.ComputeApart]. It has no flags and no help.
const ApartVerb = "compute-apart"

// apartTime is more than the ticks of a job take.
const apartTime = 20 * time.Second

// maxReason bounds the text of a process that has died.
const maxReason = 4 << 10

// ComputeApart is the program in the other process, elsewhere in the world.
func ComputeApart(list List, in io.Reader, out io.Writer) error {
	job, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	elsewhere.Zone()
	if _, err := elsewhere.Variables(); err != nil {
		return err
	}
	_, err = out.Write(desync.ComputeApart(job, list.Games().Of))
	return err
}

// Apart returns a function that computes ticks in a fresh process or module instance, or nil if this process cannot start itself.
func (l List) Apart() func(job []byte) ([]byte, error) {
	self := StartsItself()
	modules := slices.ContainsFunc(l, func(g *Playable) bool { return g.Module != nil })
	if self == nil && !modules {
		return nil
	}
	return func(job []byte) ([]byte, error) {
		if modules {
			if g, err := l.module(job); g != nil || err != nil {
				return desync.ComputeApart(job, func(*lockstep.Header) (*lockstep.Game, error) { return g, err }), nil
			}
		}
		if self == nil {
			return nil, errors.New("this program cannot start itself")
		}
		ctx, stop := context.WithTimeout(context.Background(), apartTime)
		defer stop()
		return Output(self(ctx, ApartVerb), job, len(job)+1<<16) // of each tick at most one state
	}
}

// ApartFor returns apart of the games with which the match in a file is simulated.
func ApartFor(c *cli.Context, f *replay.File) func(job []byte) ([]byte, error) {
	list := Listed(c)
	if m := ModulesOf(c); m != nil {
		list, _ = m.OfFile(f) // of whose error the verb tells
	}
	return list.Apart()
}

// module returns the game of a job in new instances if a module has its rules, or nil.
func (l List) module(job []byte) (*lockstep.Game, error) {
	var of struct{ Header *lockstep.Header }
	if err := json.Unmarshal(job, &of); err != nil {
		return nil, err
	}
	g, err := l.Of(of.Header)
	if err != nil || g.Module == nil {
		return nil, nil // which the program has
	}
	return g.Side(g.Build()).Game(g.Module.Rules.Fresh(g.Module.Budget))
}

// Output runs a process, and returns what it has printed, if that is not too much. Its error has the first line of the other output.
func Output(c *exec.Cmd, in []byte, most int) ([]byte, error) {
	out, errs := &beginning{most: most}, &beginning{most: maxReason}
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(in), out, errs, time.Second
	err := c.Run()
	if out.all > most {
		err = fmt.Errorf("got %d bytes of output, want at most %d", out.all, most)
	}
	if first, _, _ := strings.Cut(errs.String(), "\n"); err != nil && first != "" {
		err = fmt.Errorf("%w: %s", err, first)
	}
	return out.Bytes(), err
}

// A beginning keeps the first bytes of a text.
type beginning struct {
	bytes.Buffer
	most, all int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.all += len(p)
	b.Buffer.Write(p[:min(len(p), b.most-b.Len())])
	return len(p), nil
}
