//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The commands of a report run.
func TestReportSteps(t *testing.T) {
	bundle := tooltest.DemoBundle(t)
	var out, errs bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "desync", "explain", bundle, "--json"}, &out, &errs); code != console.ExitDesync {
		t.Fatalf("got exit code %d: %s", code, &errs)
	}
	var e struct {
		Bundle string
		Steps  []desync.NextStep
	}
	if err := json.Unmarshal(out.Bytes(), &e); err != nil || e.Bundle != filepath.Base(bundle) || len(e.Steps) != 4 {
		t.Fatalf("got %+v, %v", e, err)
	}
	t.Chdir(t.TempDir())
	for i, want := range []string{"desync explain " + bundle, "desync line " + bundle, "replay dump " + bundle, "replay seal " + bundle} {
		command := e.Steps[i].Command
		if all := strings.Split(command, " && "); len(all) > 1 { // in a shell
			if len(all) != 4 || all[0] != "mkdir -p replays" || os.Mkdir("replays", 0o700) != nil || all[1] != "cp "+bundle+" replays" || all[3] != "samestep serve --dir replays --set bundles=true" {
				t.Errorf("got %q", command)
			}
			command = all[2]
		}
		if !strings.HasPrefix(command, "samestep "+want) {
			t.Errorf("got %q, want %q", command, want)
		}
		if i == 1 {
			continue // it needs a module
		}
		var out bytes.Buffer
		args := strings.Split(strings.ReplaceAll(command, "'", ""), " ")
		if code := tooltest.Run(t.Context(), args, &out, &out); code != console.ExitOK && code != console.ExitDesync || strings.Contains(out.String(), "usage:") {
			t.Errorf("%q: got exit code %d: %s", args, code, &out)
		}
	}
	if info, err := os.Stat("replays/skirmish.ssr"); err != nil || info.Size() == 0 {
		t.Errorf("got no replay for the viewer: %v", err)
	}
}

// A redacted report does not tell in which folder the bundle was.
func TestRedactedReportHasNoFolder(t *testing.T) {
	t.Parallel()
	bundle := tooltest.DemoBundle(t)
	page := filepath.Join(t.TempDir(), "page.html")
	for _, args := range [][]string{{"--redact", "--json"}, {"--redact", "--html", page}} {
		var out, errs bytes.Buffer
		if code := tooltest.Execute(append([]string{"desync", "explain", bundle}, args...), &out, &errs); code != console.ExitDesync {
			t.Fatalf("%q: got exit code %d: %s", args, code, &errs)
		}
		told := strings.ReplaceAll(out.String(), page, "")
		if b, err := os.ReadFile(page); err == nil {
			told += string(b)
		}
		if strings.Contains(told, filepath.Base(filepath.Dir(bundle))+string(filepath.Separator)+filepath.Base(bundle)) || !strings.Contains(told, "desync line "+filepath.Base(bundle)) {
			t.Errorf("%q: got %s", args, told)
		}
	}
}

// nextOf returns the commands that the text has.
func nextOf(e *desync.Explanation) (all []string) {
	for _, s := range e.Steps {
		if s.Next {
			all = append(all, s.Command)
		}
	}
	return all
}

// The text has the command that finds the line before the evidence, and it names both revisions if the bundle does.
func TestNextCommand(t *testing.T) {
	line := &desync.Line{File: "a.go"}
	steps := []desync.NextStep{{Command: "samestep desync explain b.zip"}, {Command: "samestep desync line b.zip"}}
	for _, row := range []struct {
		name string
		e    desync.Explanation
		want string
	}{
		{"not asked", desync.Explanation{}, "samestep desync line b.zip"},
		{"the line is known", desync.Explanation{Line: line}, ""},
		{"a line of another version", desync.Explanation{Line: &desync.Line{File: "a.go", Doubt: "neither"}}, "samestep desync line b.zip"},
		{"no line was found", desync.Explanation{Line: &desync.Line{}}, "samestep desync line b.zip"},
		{"its memory", desync.Explanation{Again: &desync.Again{Outcome: "right this time"}}, ""},
		{"another build", desync.Explanation{Verdict: desync.Verdict{With: "3b18e512dba7"}}, "samestep desync explain b.zip\nsamestep desync line b.zip"},
		{"its rules", desync.Explanation{Again: &desync.Again{Outcome: "wrong in the same way"}}, "samestep desync line b.zip"},
	} {
		row.e.Steps = slices.Clone(steps)
		desyncs.MarkNext(&row.e)
		got := strings.Join(nextOf(&row.e), "\n")
		if text := strings.Join(row.e.Lines(), "\n"); got != row.want || got != "" && !strings.Contains(text, "\nnext       "+strings.ReplaceAll(got, "\n", "\n           ")+"\nmatch ") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	bundle := tooltest.DemoBundle(t)
	f, err := replay.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := &f.Bundle().Manifest
	for i := range m.Participants {
		if p := &m.Participants[i]; p.Player == m.Player {
			h, err := f.Header()
			if err != nil {
				t.Fatal(err)
			}
			p.Sources = record.ParseSources(h.Sources).Module + " a1b2c3d4e5f60718"
		}
	}
	var e desync.Explanation
	desyncs.HandOver(&e, f, "samestep", bundle, "", "", "")
	if got := strings.Join(nextOf(&e), "\n"); !strings.HasSuffix(got, " --other a1b2c3d4e5f6") {
		t.Errorf("got %q, want the player's revision", got)
	}
	for _, row := range []struct {
		shown *desync.Shown
		want  string
	}{
		{&desync.Shown{Tick: 125, Field: "Units[ID=7].Pos.X"}, "t=125&unit=7&path=Units%5BID%3D7%5D.Pos.X"},
		{&desync.Shown{Tick: 125, Field: "Units[ID=7]"}, "t=125&unit=7&path=Units%5BID%3D7%5D"},
		{&desync.Shown{Tick: 120, Field: "Board[3].Piece"}, "t=120&path=Board%5B3%5D.Piece"},
		{&desync.Shown{Tick: 120, Field: "Match.Score[2].Of[ID=4]"}, "t=120&path=Match.Score%5B2%5D.Of%5BID%3D4%5D"},
		{nil, "t=130"},
	} {
		e = desync.Explanation{Tick: 130, Shown: row.shown}
		desyncs.HandOver(&e, f, "samestep", "skirmish-desync-130.zip", "", "", "https://play.example/")
		if want := "https://play.example/#/replay/skirmish-desync-130.zip?" + row.want; e.Viewer != want {
			t.Errorf("got the link %q, want %q", e.Viewer, want)
		}
	}
}

// With --other, explain names the line, and links to a viewer. A version without sources is a note.
func TestReportLine(t *testing.T) {
	testenv.Long(t)
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	bundle := tooltest.DemoBundle(t)
	explain := func(args ...string) string {
		var out bytes.Buffer
		args = append([]string{"samestep", "desync", "explain", bundle, "--viewer", "https://play.example/"}, args...)
		if code := tooltest.Run(t.Context(), args, &out, &out); code != console.ExitDesync {
			t.Errorf("%q: got exit code %d: %s", args, code, &out)
		}
		return out.String()
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if out := explain("--source", ".", "--html", page); !strings.Contains(out, "\nline       this version computes the same again") {
		t.Errorf("got %s", out)
	}
	b, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(b), `<a href="https://play.example/#/replay/skirmish-desync-140-player3.zip?t=121&amp;unit=91&amp;path=Units%5BID%3D91%5D.Health"`) || !strings.Contains(string(b), " --source .</pre>") {
		t.Errorf("got %v, and a page without the link or the command", err)
	}
	if out := explain("--other", "no-such-revision"); !strings.Contains(out, "the line of code was not found: ") || strings.Contains(out, "\nline ") {
		t.Errorf("got %s", out)
	}
}
