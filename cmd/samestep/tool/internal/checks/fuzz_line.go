//go:build !js

package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/line"
	probes "github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/replay"
)

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

// inNewInstances returns a failure of rules in a module in instances that nobody has used: in others, data outside of the state may
// come from another match, and the reduced match would not fail again. It returns f itself if it does not happen there.
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
