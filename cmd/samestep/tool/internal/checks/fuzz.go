//go:build !js

// Package checks has the verbs that check rules: fuzz, golden, vet, drill and simulate.
package checks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/line"
	probes "github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// FuzzCommand returns the verb fuzz.
func FuzzCommand() *cli.Command {
	return &cli.Command{
		Name:  "fuzz",
		Usage: "play random matches of a game, and find one that machines would compute differently",
		Description: `Plays random matches, each with its own seed: commands of every kind, in any order
of arrival, and bots in every second match. Each match is computed again in the ways
of package kit/locksteptest: saved and restored, joined late, predicted and
computed again, with other settings of the runtime. A failing match is reduced to the
few commands that matter, and written as a replay and as a Go test that fails in the
same way. With the sources of the game and the go command, it also names the line of
code, in at most a minute; SAMESTEP_LINE=5m gives it more, and SAMESTEP_LINE=off leaves
it out. Exits with 3 if a match fails, and with 7 if the rules panic in it.

For a fuzzer that sees which code a match reaches, use go test -fuzz with
locksteptest.Fuzz as the target.`,
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "how long to play; the last match is played to its end"},
			&cli.IntFlag{Name: "matches", Usage: "play `N` matches, however long they take; 0: play for --time"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the first match; each further match has the next one"},
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.UintFlag{Name: "players", Value: 2, Usage: "seats of a match, 1 to 16"},
			&cli.UintFlag{Name: "ticks", Usage: "most ticks of a match, 1 to 100000; 0: as many as a match of bots has, or 200 without bots"},
			&cli.IntFlag{Name: "workers", Value: 1, Usage: "matches played at the same time"},
			&cli.StringFlag{Name: "dir", Value: ".", Usage: "`FOLDER` for the replay and the Go test of a failure"},
			console.JSONFlag,
		}, console.RandomFlags...),
		Action: fuzz,
	}
}

// A fuzzStory is the result of a fuzz run.
type fuzzStory struct {
	Game    string                `json:"game"`
	Matches int                   `json:"matches"`
	Seconds float64               `json:"seconds"`
	Reached *locksteptest.Reached `json:"reached"`
	Found   *fuzzFind             `json:"found,omitempty"`

	weights map[string]int
}

type fuzzFind struct {
	Seed     uint64        `json:"seed,string"`
	Phase    string        `json:"phase"`
	From     lockstep.Tick `json:"from"`
	Tick     lockstep.Tick `json:"tick"`
	Field    string        `json:"field"`
	Failure  string        `json:"failure"`
	Shrunk   string        `json:"shrunk"` // the failure of the reduced match
	Commands int           `json:"commands"`
	Ticks    lockstep.Tick `json:"ticks"`
	Players  uint8         `json:"players"`
	Replay   string        `json:"replay"`
	Test     string        `json:"test"`

	Line   *line.Finding `json:"line,omitempty"`
	NoLine string        `json:"no_line,omitempty"` // why it is not known

	Unreduced string `json:"unreduced,omitempty"` // why the match is the one that was found; Commands is then 0
	Unwritten string `json:"unwritten,omitempty"` // why these files are missing
}

func fuzz(c *cli.Context) error {
	game, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(console.Between[uint](c, "players", 1, 16), console.Between[uint](c, "ticks", 0, 100000),
		console.Between(c, "matches", 0, 0), console.Between(c, "workers", 1, 0), isDirectory(c.String("dir"))); err != nil {
		return err
	}
	if c.Int("matches") == 0 && c.Duration("time") <= 0 {
		return console.Usagef("--time: got %v, want more than 0, or --matches", c.Duration("time"))
	}
	players, config, err := game.Match(c, 24)
	if err != nil {
		return err
	}
	o := locksteptest.Options{
		Config: config, Players: players,
		Ticks: lockstep.Tick(c.Uint("ticks")), Seed: c.Uint64("seed"), AllowThin: c.String("allow-thin"), Floor: game.Floor,
	}
	if o.Weights, err = console.Weights(c); err != nil {
		return err
	}
	if err := game.Accepts(players, o.Seed, o.Config); err != nil {
		return err
	}
	from := time.Now()
	ctx, stop := console.Interruptible(c)
	search := locksteptest.SearchOptions{Matches: c.Int("matches"), Workers: c.Int("workers"), Bots: game.Bots()}
	timed, bar := ctx, console.NewProgress(c.App.ErrWriter, int64(search.Matches), "matches")
	if search.Matches <= 0 {
		bar = console.NewProgress(c.App.ErrWriter, int64(c.Duration("time").Seconds()), "seconds")
		limited, stop := context.WithTimeout(ctx, c.Duration("time"))
		defer stop()
		timed = limited
	}
	search.Progress = func(n int) {
		if search.Matches <= 0 {
			n = int(time.Since(from).Seconds())
		}
		bar.Set(int64(n))
	}
	found, reached, err := locksteptest.Search(timed, game.Game, o, search)
	interrupted := ctx.Err() != nil
	stop()
	bar.Done()
	if err != nil {
		return console.ThinHint(err, "--players N, --ticks N, ")
	}
	story := &fuzzStory{Game: game.Name(), Matches: reached.Matches, Reached: reached, Seconds: time.Since(from).Seconds(), weights: o.Weights}
	if found != nil {
		story.Found = explainFound(c.Context, found, game, c.String("dir"))
	}
	switch {
	case found != nil && found.Phase == locksteptest.PanicPhase:
		err = fmt.Errorf("seed %d: %w", found.Options.Seed, &console.ClassError{Class: replay.ClassPanic, Text: "the rules panic"})
	case found != nil:
		err = fmt.Errorf("seed %d: %w", found.Options.Seed, console.ErrFound)
	case interrupted:
		err = fmt.Errorf("%w after %s", console.ErrInterrupted, console.Count(reached.Matches, "seed"))
	}
	return gameset.Tell(c, story, story.Print, err)
}

// explainFound reduces a failure, looks for its line of code, and writes its replay and its Go test.
func explainFound(ctx context.Context, found *locksteptest.Failure, game *gameset.Playable, dir string) *fuzzFind {
	var limits locksteptest.ShrinkOptions
	if game.Module != nil {
		found, limits.Runs = inNewInstances(found, game), 300 // an instance of a module in Go takes longer than a short match
	}
	small := found.Shrink(limits)
	o := small.Options
	name := fmt.Sprintf("found_%s_%d", strings.ReplaceAll(small.Phase, " ", "_"), found.Options.Seed)
	f := &fuzzFind{
		Seed: found.Options.Seed, Phase: small.Phase, From: small.From, Tick: small.Tick, Field: small.Field,
		Failure: found.Error(), Shrunk: small.Error(),
		Commands: len(o.Orders), Ticks: o.Ticks, Players: o.Players,
		Replay: filepath.Join(dir, name+".ssr"), Test: filepath.Join(dir, name+"_test.go"),
	}
	if small == found && o.Orders == nil {
		f.Unreduced = "the failure did not happen again from a list of its commands"
	}
	err := files.Replace(f.Replay, func(w *os.File) error { return small.WriteReplay(w) })
	if game.Module != nil { // a Go test needs the sources
		if f.Test = ""; err == nil {
			f.addFunction(ctx, game)
		}
	} else if err == nil {
		source := game.Source
		source.Replay = filepath.Base(f.Replay)
		source.Comment = f.addLine(ctx, small, source, dir) // in the package of the rules
		if strings.HasSuffix(source.Package, "_test") {
			source.Package = cmp.Or(testPackageIn(dir), source.Package)
		}
		err = files.Replace(f.Test, func(w *os.File) error { return small.WriteTest(w, source) })
	}
	if err != nil {
		f.Unwritten = err.Error() // the failure is printed all the same
	}
	return f
}

// testPackageIn returns the name of the package that tests the one in a folder, "" without one: go refuses a folder with two.
func testPackageIn(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go")) // of a folder that cannot be read, writing tells
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err == nil && !strings.HasSuffix(name, "_test.go") {
			return f.Name.Name + "_test"
		}
	}
	return ""
}

// isDirectory returns an error unless path is a directory. A long run should not fail only at its end.
func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: is not a directory", path)
	}
	return err
}

// Print prints it for people.
func (s *fuzzStory) Print(w io.Writer) {
	line := console.NewLiner(w)
	line("played", "%s with %s in %s", s.Game, console.Count(s.Matches, "seed"), console.Seconds(time.Duration(s.Seconds*float64(time.Second))))
	f := s.Found
	line("reached", "%s", s.Reached)
	var none []string
	for _, k := range s.Reached.Accepted {
		if weight, ok := s.weights[k.Kind]; k.N == 0 && (!ok || weight > 0) {
			none = append(none, k.Kind)
		}
	}
	if len(none) > 0 && s.Matches > 0 && f == nil {
		line("", "no command was accepted of the kinds %s: a longer --time reaches more, and --weight KIND=N gives more of one", strings.Join(none, ", "))
	}
	switch {
	case f != nil:
	case s.Matches == 0:
		line("verdict", "unknown: no match was played")
		return
	default:
		line("verdict", "every match gave the same result in every way")
		return
	}
	line("found", "%s", f.Failure)
	if f.Unreduced != "" {
		line("reduced", "not: %s", f.Unreduced)
	} else {
		line("reduced", "to %s of %s in %s", console.Count(f.Commands, "command"), console.Count(int(f.Players), "player"), console.Count(f.Ticks, "tick"))
		line("", "%s", f.Shrunk)
	}
	switch {
	case f.Line != nil:
		place := f.Line.Place()
		if place == nil {
			line("line", "no probe or call differs")
			break
		}
		if place.Source == "" {
			line("function", "%s", place)
			break
		}
		line("line", "%s:%d  in %s", place.File, place.Line, place.Func)
		line("", "%s", place.Source)
	case f.NoLine != "":
		line("line", "not known: %s", f.NoLine)
	}
	if f.Unwritten != "" {
		line("files", "not written: %s", f.Unwritten)
		return
	}
	line("replay", "%s", f.Replay)
	if f.Test != "" {
		line("test", "%s", f.Test)
	}
}

// lineOf returns the line of code behind a failure, from the Go test of it. dir has the replay that the test may read.
func lineOf(ctx context.Context, f *locksteptest.Failure, s locksteptest.Source, dir string) (*line.Result, error) {
	var test bytes.Buffer
	if err := f.WriteTest(&test, s); err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(test.String(), "\nfunc ")
	name, _, _ = strings.Cut(name, "(")
	ctx, stop := context.WithTimeoutCause(ctx, probes.LineTime(), errors.New("time limit exceeded"))
	defer stop()
	folder, err := packageFolder(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	return line.Check(ctx, probes.TestJob{
		Dir: folder, Folder: dir, Run: "^" + name + "$",
		Files: map[string][]byte{filepath.Join(folder, "samestep_found_test.go"): test.Bytes()},
		Check: probes.CheckJob{Seed: f.Options.Seed, Phase: f.Phase, From: uint32(f.From), Tick: uint32(f.Tick)},
	})
}

// packageFolder returns the folder of a package of the module that the current folder is in.
func packageFolder(ctx context.Context, path string) (string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "--", path)
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("the sources of %s are not here: %s", path, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// addLine looks for the line of a failure, and returns its text for the comment of the test.
func (f *fuzzFind) addLine(ctx context.Context, small *locksteptest.Failure, s locksteptest.Source, dir string) string {
	if probes.LineTime() == 0 {
		return ""
	}
	found, err := lineOf(ctx, small, s, dir)
	if !f.setLine(found, err) {
		return ""
	}
	var text strings.Builder
	_ = found.WriteFinding(&text) // a builder has no errors
	return text.String()
}

// setLine keeps the finding of a failure, or why there is none.
func (f *fuzzFind) setLine(found *line.Result, err error) bool {
	if err == nil && found.Finding == nil && found.At != nil {
		err = fmt.Errorf("the last one with a probe before the panic is %s: %s", found.At, found.At.Source)
	}
	if err == nil && found.Finding == nil {
		err = errors.New("the tick has the same result again")
	}
	if err != nil {
		f.NoLine = strings.Join(strings.Fields(err.Error()), " ")
		return false
	}
	f.Line = found.Finding
	return true
}

// addFunction looks for the function of a failure of rules in a module.
func (f *fuzzFind) addFunction(ctx context.Context, game *gameset.Playable) {
	if probes.LineTime() == 0 {
		return
	}
	ctx, stop := context.WithTimeoutCause(ctx, probes.LineTime(), errors.New("time limit exceeded"))
	defer stop()
	match, err := replay.Open(f.Replay)
	if err != nil {
		f.setLine(nil, err)
		return
	}
	defer match.Close()
	var x line.FunctionFinder
	defer x.Close()
	f.setLine(x.Find(ctx, match, line.Options{}, game.Side(game.Build()), nil))
}

// inNewInstances reproduces a failure in fresh instances of a module, without data left by other matches. It returns f if it does not recur.
func inNewInstances(f *locksteptest.Failure, game *gameset.Playable) *locksteptest.Failure {
	own, err := game.Side(game.Build()).Game(game.Module.Rules.Fresh(game.Module.Budget))
	if err == nil {
		_, err = locksteptest.Run(own, f.Options)
	}
	if again := (*locksteptest.Failure)(nil); errors.As(err, &again) {
		return again
	}
	return f
}
