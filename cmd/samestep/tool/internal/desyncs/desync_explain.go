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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

func desyncExplainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "read from a desync's bundle who was wrong, since which tick, in which fields, and why",
		ArgsUsage: "BUNDLE",
		Description: `A server writes a bundle next to the replay when a player's checksum differs, or when
the rules panic. explain simulates the match in it again from the last tick at which all agreed, several times:
rules that compute otherwise each time have no fixed result, and nobody is accused. It
compares the states, and tries which single fault gives the wrong state: a command
lost, doubled, moved or run in another order, one more draw from a random generator,
an altered field. Without the game's code, it uses the states and the log alone. With --source,
--other or --platform it also looks for the line of code, as desync line does.

Of the bundle of a panic of the rules, explain computes its tick again, and names the
functions and the commands.

Exits with 3 if it has explained the desync, and with 7 of a panic.`,
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
	HandOver(e, f, c.App.Name, path, rulesOf(c), sidesOf(c), c.String(viewerFlag.Name))
	return gameset.TellPage(c, e, func(w io.Writer) { e.WriteText(w) }, &console.FileError{Name: path, Err: outcome(e)})
}

// outcome returns the error after a bundle was explained.
func outcome(e *desync.Explanation) error {
	if e.Panic != nil {
		return &console.ClassError{Class: replay.ClassPanic, Text: "a panic of the rules, explained"}
	}
	return console.ErrExplained
}

// ExplainFile explains the bundle in a file, for readers who have a program.
func ExplainFile(program, path string, games replay.Games, o desync.Options) (*desync.Explanation, error) {
	f, err := replay.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := explainBundle(f, games, o)
	if err == nil {
		HandOver(e, f, program, path, "", "", "")
	}
	return e, err
}

func explainBundle(f *replay.File, games replay.Games, o desync.Options) (*desync.Explanation, error) {
	o.Game, o.Now = games.Of, time.Now
	return desync.Explain(f.Bundle(), o)
}

// explainTime is more than an explanation with the budget of a server takes.
const explainTime = 2 * time.Minute

// maxExplained bounds the JSON of an explanation with 200 fields.
const maxExplained = 64 << 20

// Explainer explains the bundles of a server, one at a time, in the log and on a page next to the bundle. If the program can start itself, it
// does so in a process of its own: what ends that process, or never ends, is not the server.
func Explainer(c *cli.Context, log *slog.Logger) func(path string) {
	var one sync.Mutex
	self := gameset.StartsItself()
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
			ctx, stop := context.WithTimeout(context.Background(), explainTime)
			e, err = Explained(self(ctx, ExplainArgs(c, path, page)...))
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

// ExplainArgs are the arguments of a process that explains a bundle with the games of a server.
func ExplainArgs(c *cli.Context, path, page string) []string {
	args := []string{"desync", "explain", path, "--json", "--html", page, "--budget", "3s"}
	if c.IsSet(gameset.AssetsFlag.Name) {
		args = append(args, "--"+gameset.AssetsFlag.Name, c.String(gameset.AssetsFlag.Name))
	}
	for _, module := range c.StringSlice(gameset.RulesFlag.Name) {
		args = append(args, "--"+gameset.RulesFlag.Name, module)
	}
	return args
}

// Explained returns what a process has explained, without the fields.
func Explained(process *exec.Cmd) (*desync.Explanation, error) {
	out, err := gameset.Output(process, nil, maxExplained)
	if code := process.ProcessState.ExitCode(); err != nil && code != console.ExitDesync && code != console.ExitPanic {
		return nil, fmt.Errorf("the process that explains: %w", err)
	}
	var e desync.Explanation
	if err := json.Unmarshal(out, &e); err != nil || len(e.Match) < 8 {
		return nil, fmt.Errorf("the process that explains: got no explanation: %w", err)
	}
	return &e, nil
}
