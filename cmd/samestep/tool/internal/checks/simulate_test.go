//go:build !js

package checks

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/testing/commands"
	"github.com/seed-49bee653/samestep/internal/testing/mutants"
	"github.com/seed-49bee653/samestep/internal/testing/simulate"
)

// appOfSimulate returns a program with the verb.
func appOfSimulate(stdout, stderr io.Writer) *cli.App {
	game, err := gameset.New(skirmish.Rules())
	if err != nil {
		panic(err)
	}
	verb := SimulateCommand()
	gameset.TakesRules(verb)
	return &cli.App{Name: "samestep", Writer: stdout, ErrWriter: stderr, Commands: []*cli.Command{verb}, Metadata: map[string]any{gameset.GamesKey: gameset.List{game}}}
}

// The printed command replays the same match as the failed run, with whatever flags that run had.
func TestAgain(t *testing.T) {
	const seed = 12
	parse := func(args []string, from uint64) (p *simulate.Plan, command string) {
		app := appOfSimulate(io.Discard, io.Discard)
		app.Command("simulate").Action = func(c *cli.Context) error {
			campaign, err := campaignOf(c)
			if err != nil {
				return err
			}
			if from == 0 {
				from = campaign.First
			}
			p, command = simulate.Expand(campaign.Options, from), again(c, from)
			return nil
		}
		if err := app.Run(args); err != nil {
			t.Fatal(err)
		}
		return p, command
	}
	plain, _ := parse([]string{"samestep", "simulate"}, seed)
	for _, flags := range [][]string{
		nil,
		{"--minutes", "0.2", "--only", "none"},
		{"--minutes", "0.75"},
		{"--minutes", "7", "--clients", "3"},
		{"--only", "none"},
		{"--only", "one-way up,power cut"},
	} {
		want, command := parse(append([]string{"samestep", "simulate"}, flags...), seed)
		calls, err := commands.Command{Text: command}.Calls()
		if err != nil {
			t.Fatal(err)
		}
		args := calls[0].Args
		got, _ := parse(args, 0)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s is another match (-want +got):\n%s", flags, command, diff)
		}
		if flags != nil && cmp.Equal(want, plain) {
			t.Errorf("%v: the same match as without", flags)
		}
	}
}

// The printed command keeps every flag that decides how a match goes, as a shell reads it.
func TestAgainKeepsFlags(t *testing.T) {
	var got []string
	app := appOfSimulate(io.Discard, io.Discard)
	simulate := app.Command("simulate")
	simulate.Action = func(c *cli.Context) error {
		calls, err := commands.Command{Text: again(c, 7)}.Calls()
		got = calls[0].Args
		return err
	}
	args := []string{"samestep", "simulate"}
	var want []string
	for _, f := range simulate.Flags {
		name := f.Names()[0]
		flag := []string{"--" + name, "a '$b'"}
		switch f.(type) {
		case *cli.BoolFlag:
			flag = []string{"--" + name + "=true"}
		case *cli.IntFlag, *cli.Uint64Flag, *cli.UintFlag, *cli.Float64Flag:
			flag = []string{"--" + name, "7"}
		case *cli.DurationFlag:
			flag = []string{"--" + name, "7s"}
		case *cli.GenericFlag:
			continue
		}
		args = append(args, flag...)
		if kept := []string{"seed", "minutes", "clients", "game"}; slices.Contains(kept, name) || !slices.Contains(notOfMatch, name) {
			want = append(want, strings.Join(flag, " "))
		}
	}
	if err := app.Run(args); err != nil {
		t.Fatal(err)
	}
	for _, flag := range want {
		if !strings.Contains(strings.Join(got, " ")+" ", flag+" ") {
			t.Errorf("got %q, want %q in it", got, flag)
		}
	}
	if len(want) < 12 {
		t.Errorf("got the flags %q", want)
	}
}

// failedRun returns a match that violates an invariant, which the tests share.
func failedRun(t *testing.T) (*simulate.Subject, *simulate.Outcome) {
	t.Helper()
	out, err := failedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return simulate.Drones(8), out
}

var failedOnce = sync.OnceValues(func() (*simulate.Outcome, error) {
	subject := simulate.Drones(8)
	p := simulate.Expand(simulate.Options{Subject: subject, Clients: 1, Length: simulate.Shortest, Calm: true}, 1)
	p.Machines[0].Every = 1 // it is thrown out for all its commands, which must never be
	return simulate.Run(subject, p)
})

// A violation is reported even if its file cannot be written, and no partial file remains.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	app := appOfSimulate(&b, io.Discard)
	app.Name = "hold"
	subject, out := failedRun(t)
	app.Command("simulate").Action = func(c *cli.Context) error {
		story := &simulated{Violations: []simulatedFail{{Seed: 1, Violation: *out.Violation}}, Program: c.App.Name}
		story.keepFailures(c.Context, c, subject, []*simulate.Outcome{out})
		story.Print(c.App.Writer, false)
		return nil
	}
	play := func() string {
		b.Reset()
		if err := app.Run([]string{"hold", "simulate", "--shrink", "0", "--dir", dir}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	name := filepath.Join(dir, "simulation-1.json")
	if got := play(); !strings.Contains(got, "reduced: hold simulate --artifact "+name+"\nstopped: after 0 matches (--shrink); a smaller one may fail as well\n") {
		t.Error(got)
	}
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o777)); err != nil {
		t.Fatal(err)
	}
	if got := play(); !strings.Contains(got, "seed 1: I7 violated") || !strings.Contains(got, "reduced: not written: open ") {
		t.Error(got)
	}
	broken := filepath.Join(dir, "half")
	err := files.Replace(broken, func(w *os.File) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, io.ErrShortWrite)
	})
	if _, gone := os.Stat(broken); !errors.Is(err, io.ErrShortWrite) || !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("got %v and %v, want no file", err, gone)
	}
}

// The file of a failure follows no link, and is private.
func TestFailureIsPrivate(t *testing.T) {
	dir := t.TempDir()
	victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "simulation-1.json")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, name); err != nil {
		t.Skip("no links: ", err)
	}
	subject, failed := failedRun(t)
	app := appOfSimulate(io.Discard, io.Discard)
	app.Command("simulate").Action = func(c *cli.Context) error {
		return new(simulatedFail).keep(c.Context, c, subject, failed)
	}
	if err := app.Run([]string{"samestep", "simulate", "--dir", dir, "--shrink", "1"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("got %v, %v, want a file of mode 0600", info, err)
	}
	if b, err := os.ReadFile(victim); string(b) != "precious" {
		t.Errorf("the victim was overwritten: %v", err)
	}
}

// A surviving mutant is in the report, and the run fails.
func TestMutantAlive(t *testing.T) {
	m := mutants.Mutant{Name: "a fence is left out", Hits: "I1 I4"}
	dead, alive := mutants.Result{Mutant: &m, Runs: 7}, mutants.Result{Mutant: &m, File: "lockstep/host.go"}
	var none *hunted
	for _, row := range []struct {
		name string
		h    *hunted
		want string
		fail bool
	}{
		{"not hunted", none, "mutants    not hunted (--mutants)\n", false},
		{"all dead", newHunted(mutants.Summarize([]mutants.Result{dead})), "mutants    1 of 1 killed, after 7 runs in the median, 7 at the most\n", false},
		{"one lives", newHunted(mutants.Summarize([]mutants.Result{dead, alive})), "\nalive: a fence is left out\nin:    lockstep/host.go, and breaks I1 I4\n", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			(&simulated{Mutants: row.h}).Print(&b, true)
			if !strings.Contains(b.String(), row.want) {
				t.Errorf("got\n%swant\n%s", &b, row.want)
			}
			if err := row.h.err(); (err != nil) != row.fail || row.fail && (!errors.Is(err, errAlive) || console.ExitCode(err) != console.ExitError) {
				t.Errorf("got error %v, want one: %t", err, row.fail)
			}
		})
	}
}
