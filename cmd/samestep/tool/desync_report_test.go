//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The commands of a report run.
func TestReportSteps(t *testing.T) {
	t.Parallel()
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
	dir := t.TempDir()
	for i, want := range []string{"desync explain " + bundle, "desync line " + bundle, "replay dump " + bundle, "replay seal " + bundle} {
		command := e.Steps[i].Command
		if all := strings.Split(command, " && "); len(all) > 1 { // in a shell
			if len(all) != 4 || all[0] != "mkdir -p replays" || os.Mkdir(filepath.Join(dir, "replays"), 0o700) != nil || all[1] != "cp "+bundle+" replays" || all[3] != "samestep serve --dir replays --set bundles=true" {
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
		o := tooltest.Order{Args: strings.Split(strings.ReplaceAll(command, "'", ""), " "), Dir: dir, Env: os.Environ()}
		if got, err := o.Run(); err != nil || got.Code != console.ExitOK && got.Code != console.ExitDesync || strings.Contains(got.Stderr, "usage:") {
			t.Errorf("%q: got %+v, %v", o.Args, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "replays", "skirmish.ssr")); err != nil || info.Size() == 0 {
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
