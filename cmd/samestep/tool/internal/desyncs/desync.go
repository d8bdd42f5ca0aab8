//go:build !js

// Package desyncs has the verbs about desyncs: samestep desync.
package desyncs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// DesyncCommand returns the verb desync.
func DesyncCommand() *cli.Command {
	return &cli.Command{Name: "desync", Usage: "find out why checksums differed", Subcommands: []*cli.Command{desyncExplainCommand(), desyncTriageCommand(), desyncLineCommand(), desyncRedactCommand()}}
}

func desyncRedactCommand() *cli.Command {
	return &cli.Command{
		Name:      "redact",
		Usage:     "write a bundle without names, chat and other texts, to give it to others",
		ArgsUsage: "BUNDLE OUT",
		Description: `OUT has the same match, states and checksums, so explain finds the same cause. It has no
names of players, no chat or other notes, no reason of the end, and no module paths or
revisions of programs, so desync line must be told the sources. Strings in the state, the
configuration and the commands stay, because the match cannot be computed without them;
redact lists these fields.`,
		Flags:  []cli.Flag{console.JSONFlag},
		Action: desyncRedact,
	}
}

func desyncRedact(c *cli.Context) error {
	in, out := c.Args().Get(0), c.Args().Get(1)
	f, err := replay.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	b := f.Bundle()
	if b == nil {
		return &console.FileError{Name: in, Err: replay.ErrBundle}
	}
	replays.Frugal()
	h, err := f.Header()
	if err != nil {
		return &console.FileError{Name: in, Err: err}
	}
	written := struct {
		File  string   `json:"file"`
		Stays []string `json:"stays"` // fields that are strings
	}{File: out}
	if written.Stays, err = replay.PlainTexts(h); err != nil {
		return &console.FileError{Name: in, Err: err}
	}
	err = files.Create(out, func(file *os.File) error {
		return gameset.OfFile(in, replay.RedactBundle(file, b, 256<<20)) // as explain does
	})
	if err != nil {
		return err
	}
	return gameset.Tell(c, written, func(w io.Writer) {
		line := console.NewLiner(w)
		line("written", "%s", out)
		replays.PrintLines(line, "stays", written.Stays)
	}, nil)
}

func desyncExplainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "read from a desync's bundle who was wrong, since which tick, in which fields, and why",
		ArgsUsage: "BUNDLE",
		Description: `A server writes a bundle next to the replay when a player's checksum differs, or when
the rules panic. explain simulates the match from the last tick at which all agreed,
several times: if the results vary, the rules have no fixed result, and nobody is accused.
It compares the states and looks for the single fault that leads to the wrong one: a
command lost, doubled, moved or reordered, one more draw from a random generator, an
altered field. Without the game's code it has only the states and the log. With --source,
--other or --platform it also finds the line of code, as desync line does.

For the panic of the rules, explain computes the tick again and names the functions and
the commands.

Exits with 3 if it explained a desync, and with 7 if it explained a panic.`,
		Flags: append([]cli.Flag{
			console.JSONFlag, gameset.PathFlag, gameset.AssetsFlag, viewerFlag,
			&cli.BoolFlag{Name: "redact", Usage: "leave out names of players, and strings in states and commands"},
			console.HTMLFlag,
			&cli.IntFlag{Name: "fields", Value: 200, Usage: "list at most `N` fields; with --json, all by default"},
			&cli.IntFlag{Name: "max-ticks", Value: 100_000, Usage: "simulate at most `N` ticks to reach the desync"},
			&cli.DurationFlag{Name: "budget", Value: 10 * time.Second, Usage: "search for the cause for at most `TIME`, and as long again for the commands"},
		}, lineFlags()...),
		Action: desyncExplain,
	}
}

func desyncExplain(c *cli.Context) error {
	if err := cmp.Or(console.Between(c, "fields", 1, 0), console.Between(c, "max-ticks", 1, 0), console.Between(c, "budget", time.Millisecond, 0)); err != nil {
		return err
	}
	if viewer := c.String(viewerFlag.Name); viewer != "" && !strings.HasPrefix(viewer, "http://") && !strings.HasPrefix(viewer, "https://") {
		return console.Usagef("--viewer: got %q, want an address that begins with http:// or https://", viewer)
	}
	replays.Frugal()
	bar := console.NewProgress(c.App.ErrWriter, c.Duration("budget").Milliseconds(), "ms")
	path := c.Args().First()
	f, err := replay.Open(path)
	if err != nil {
		return &console.FileError{Name: path, Err: err}
	}
	defer f.Close()
	if f.Bundle() == nil {
		return &console.FileError{Name: path, Err: fmt.Errorf("%w; for a replay, use replay verify or replay bisect", replay.ErrBundle)}
	}
	fields := c.Int("fields")
	if c.Bool("json") && !c.IsSet("fields") {
		fields = math.MaxInt32 // as many as there are, up to a limit
	}
	games, err := gameset.GamesFor(c, f)
	if err != nil {
		return &console.FileError{Name: path, Err: err}
	}
	e, err := explainBundle(f, games, desync.Options{
		Path: c.String(gameset.PathFlag.Name), Fields: fields, MaxTicks: c.Int("max-ticks"), Budget: c.Duration("budget"), Redact: c.Bool("redact"),
		Apart: gameset.ApartFor(c, f), Progress: func(spent, _ time.Duration) { bar.Set(spent.Milliseconds()) },
	})
	bar.Done()
	if errors.Is(err, state.ErrPath) {
		return gameset.PathError(err)
	}
	if err != nil {
		return &console.FileError{Name: path, Err: err}
	}
	addLine(c, f, e)
	h, err := f.Header()
	if err != nil {
		return &console.FileError{Name: path, Err: err}
	}
	handOver(e, h, &f.Bundle().Manifest, c.App.Name, path, rulesOf(c), sidesOf(c), c.String(viewerFlag.Name))
	outcome := console.ErrExplained
	if e.Panic != nil {
		outcome = &console.ClassError{Class: replay.ClassPanic, Text: "a panic of the rules, explained"}
	}
	return gameset.TellPage(c, e, func(w io.Writer) { e.WriteText(w) }, &console.FileError{Name: path, Err: outcome})
}

// ExplainFile explains the bundle in a file, for readers who have a program.
func ExplainFile(program, path string, games replay.Games, o desync.Options) (*desync.Explanation, error) {
	f, err := replay.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := explainBundle(f, games, o)
	if err != nil {
		return nil, err
	}
	h, err := f.Header()
	if err == nil {
		handOver(e, h, &f.Bundle().Manifest, program, path, "", "", "")
	}
	return e, err
}

func explainBundle(f *replay.File, games replay.Games, o desync.Options) (*desync.Explanation, error) {
	o.Game, o.Now = games.Of, time.Now
	return desync.Explain(f.Bundle(), o)
}

// Explainer explains the bundles of a server, one at a time, in the log and on a page next to the bundle. With self, which starts the
// program, it does so in a process of its own: what ends that process, or never ends, is not the server.
func Explainer(c *cli.Context, log *slog.Logger, self func(context.Context, ...string) *exec.Cmd) func(path string) {
	var one sync.Mutex
	return func(path string) {
		one.Lock()
		defer one.Unlock()
		page := strings.TrimSuffix(path, ".zip") + ".html"
		var e *desync.Explanation
		var err error
		_ = os.Remove(page) // that of a bundle which this one has replaced; if it stays, it is not written
		if self == nil {
			if e, err = ExplainFile(c.App.Name, path, gameset.GamesOf(c), desync.Options{Budget: 3 * time.Second}); err == nil {
				err = files.Create(page, func(out *os.File) error { return e.WriteHTML(out) })
			}
		} else {
			ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
			e, err = explainApart(c, path, page, func(args ...string) *exec.Cmd { return self(ctx, args...) })
			stop()
		}
		if err != nil {
			log.Error("explain", "path", path, "err", err)
			return
		}
		cause := "unknown"
		if e.Cause != nil {
			cause = e.Cause.String()
		}
		name, _, _ := strings.Cut(filepath.Base(path), "-"+e.Match[:8])
		logged.Match(log, name, e.Match).Warn("explained", "verdict", e.Verdict.Text, "from", e.First.From, "to", e.First.To, "cause", cause, "fingerprint", e.Fingerprint.ID, "page", page)
	}
}

// explainApart explains a bundle with the games of a server in a process of its own, which writes the page. It returns no fields.
func explainApart(c *cli.Context, path, page string, self func(args ...string) *exec.Cmd) (*desync.Explanation, error) {
	args := []string{"desync", "explain", path, "--json", "--html", page, "--budget", "3s"}
	if c.IsSet(gameset.AssetsFlag.Name) {
		args = append(args, "--"+gameset.AssetsFlag.Name, c.String(gameset.AssetsFlag.Name))
	}
	for _, module := range c.StringSlice(gameset.RulesFlag.Name) {
		args = append(args, "--"+gameset.RulesFlag.Name, module)
	}
	process := self(args...)
	out, err := gameset.Output(process, nil, 64<<20)
	if code := process.ProcessState.ExitCode(); err != nil && code != console.ExitDesync && code != console.ExitPanic {
		return nil, fmt.Errorf("the process that explains: %w", err)
	}
	var e desync.Explanation
	if err := json.Unmarshal(out, &e); err != nil || len(e.Match) < 8 {
		return nil, fmt.Errorf("the process that explains: got no explanation: %w", err)
	}
	return &e, nil
}

var viewerFlag = &cli.StringFlag{Name: "viewer", Usage: "link to the match on the server at `URL`, whose page shows replays"}

// addLine looks for the line of code if a flag asks for it. A failure is a note: the rest of the report is as good.
func addLine(c *cli.Context, f *replay.File, e *desync.Explanation) {
	if sidesOf(c) == "" {
		return
	}
	found, err := findOneLine(c, f)
	if err != nil {
		e.Notes = append(e.Notes, "the line of code was not found: "+err.Error())
		return
	}
	details, err := json.Marshal(found)
	if err != nil {
		panic(err) // cannot happen: it is plain data
	}
	l := &desync.Line{Tick: found.Tick, Phase: found.Phase, Because: found.Verdict(), Sides: found.Sides[:], Text: found.Lines(), Result: details}
	if f := found.Finding; f != nil && f.Reason != line.Nothing {
		at := f.Place()
		l.File, l.Number, l.Func, l.Source = at.File, at.Line, at.Func, at.Source
		if a := f.Where[0]; a != nil && a.Source != at.Source {
			l.OnA = a.Source
		}
	}
	if found.Tick > 0 && (found.Mode == line.Again || found.Mode == line.WarmCold) {
		l.Parting = &desync.Parting{Tick: found.Tick, Way: desync.WayAgain}
		if found.Mode == line.WarmCold {
			l.Parting.Way = desync.WayRestored
		}
		if len(found.Fields) > 0 {
			l.Parting.Field = found.Fields[0].Path
		}
	}
	if r := found.Reported; r != nil {
		l.Doubt = r.Doubt
	}
	e.SetLine(l)
}

// handOver adds the bundle's name, the next commands and the link to the viewer. rules and sides are the flags to repeat in them.
func handOver(e *desync.Explanation, h *lockstep.Header, m *replay.Manifest, program, path, rules, sides, viewer string) {
	e.Bundle = filepath.Base(path)
	whole, err := filepath.Abs(path)
	if err != nil {
		whole = path
	}
	if e.Redacted { // a folder often has somebody's name
		path, whole = e.Bundle, e.Bundle
	}
	file := words.ShellWord(path)
	bundle := file + rules
	step := func(why, format string, args ...any) {
		e.Steps = append(e.Steps, desync.NextStep{Why: why, Command: program + " " + fmt.Sprintf(format, args...)})
	}
	if program == "" {
		panic("tool: the steps of a report without the name of the program") // a caller of ours
	}
	if with := e.Verdict.With; with != "" {
		e.Steps = append(e.Steps, desync.NextStep{Why: "Explain it again with a program of revision " + with + ", in the folder with the sources", Command: line.AtRecorder(record.ParseSources(h.Sources), console.MainPath(), "desync", "explain", whole)})
	} else {
		step("Explain it again", "desync explain %s", bundle)
	}
	if e.Line != nil && e.Line.Doubt != "" {
		sides = "" // the sides that were compared are not those of the desync
	}
	if p := e.Verdict.Parting; p != nil {
		e.Steps = append(e.Steps, desync.NextStep{Why: "Find the line of code, in the folder with the sources of this program", Command: partingCommand(program, bundle, p)})
	} else if e.Twin != nil {
		step("Find the line of code, in the folder with the sources of the program that recorded the bundle", "desync line %s%s", bundle, sides)
	} else {
		sides = cmp.Or(sides, line.Revisions(h, m), ownSide(e))
		step("Find the line of code, in the folder with the sources; --other names another version", "desync line %s%s", bundle, sides)
	}
	markNext(e)
	if e.Panic != nil {
		step("Look at the tick, and at what each command does", "replay step %s", bundle)
		step("Stand before the panic in a debugger, in the folder with the sources", "replay debug %s", bundle)
	}
	before := e.First.From - min(e.First.From, 1)
	field := ""
	if len(e.Fields.List) > 0 {
		field = e.Fields.List[0].Path
		if len(e.Changes) > 0 {
			field = e.Changes[0].Field // by its ID
		}
		step(fmt.Sprintf("Show the first field that differs as it was before, at tick %d", before), "replay dump %s --tick %d --path %s", bundle, before, words.ShellWord(field))
	}
	if viewer != "" {
		e.Viewer = strings.TrimSuffix(viewer, "/") + "/" + viewAt(e)
		return
	}
	e.Steps = append(e.Steps, desync.NextStep{
		Why: "Open it in the viewer, at http://127.0.0.1:8766/" + viewAt(e),
		Command: fmt.Sprintf("mkdir -p replays && cp %s replays && %s replay seal %[1]s %[3]s && %[2]s serve --dir replays --set bundles=true",
			file, program, words.ShellWord("replays/"+matchFile(path))),
	})
}

// partingCommand returns the command that finds the line of code at which rules have no fixed result.
func partingCommand(program, bundle string, p *desync.Parting) string {
	return fmt.Sprintf("%s desync line %s --tick %d", program, bundle, p.Tick)
}

// element finds the ID in the path of an element of a list, or of a field in it.
var element = regexp.MustCompile(`^[^\[]+\[[A-Za-z_]+=(\d+)\]`)

// viewAt returns the part of a page's address that shows both sides where they first differ: the unit, or else the field.
func viewAt(e *desync.Explanation) string {
	at := "#/replay/" + url.PathEscape(e.Bundle)
	if e.Shown == nil {
		return fmt.Sprintf("%s?t=%d", at, e.Tick)
	}
	at = fmt.Sprintf("%s?t=%d", at, e.Shown.Tick)
	if id := element.FindStringSubmatch(e.Shown.Field); id != nil {
		at += "&unit=" + id[1]
	}
	return at + "&path=" + url.QueryEscape(e.Shown.Field)
}

// rulesOf returns the flags that name modules of rules; "" for none.
func rulesOf(c *cli.Context) (flags string) {
	for _, module := range c.StringSlice(gameset.RulesFlag.Name) {
		flags += " --" + gameset.RulesFlag.Name + " " + words.ShellWord(module)
	}
	return flags
}

// markNext marks, for the text, the command that explains the bundle with the build that recorded it, if this one cannot, and the
// one that finds the line of code, unless the line is known, or the machine was right when it computed the ticks again.
func markNext(e *desync.Explanation) {
	e.Steps[0].Next = e.Verdict.With != ""
	known := e.Line != nil && e.Line.File != "" && e.Line.Doubt == ""
	elsewhere := !e.Verdict.Simulated && e.Verdict.Advice != "" // the advice comes first: nothing here has the game
	memory := e.Verdict.Parting == nil && e.Again != nil && e.Again.Outcome == protocol.RightThisTime.String()
	memory = memory || e.Twin != nil && e.Verdict.Simulated && e.Verdict.Grade == desync.GradeUnknown
	e.Steps[1].Next = !known && !elsewhere && !memory
}

// ownSide names the platform that only the machines that differ have, as a flag; "" for none.
func ownSide(e *desync.Explanation) string {
	for _, t := range e.Traits {
		if platform, _, _ := strings.Cut(t.Value, " "); t.Name == "platform" && t.Telling() && strings.Contains(platform, "/") {
			return " --platform " + words.ShellWord(platform)
		}
	}
	return ""
}

// matchFile returns the name of the replay of the match whose server has written a bundle.
func matchFile(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), replays.BundleExtension)
	if i := max(strings.LastIndex(name, "-desync-"), strings.LastIndex(name, "-panic-"), strings.LastIndex(name, "-twin-")); i > 0 {
		name = name[:i]
	}
	return cmp.Or(name, "match") + replays.ReplayExtension
}
