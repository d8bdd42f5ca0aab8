package line

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// changedField returns the first tick from 100 on in which a field of a list's elements changes, and the field's path.
func changedField(t *testing.T, p played, f *replay.File, end string) (lockstep.Tick, string) {
	t.Helper()
	for tick := lockstep.Tick(100); tick < p.ticks; tick++ {
		var states [2][]byte
		for i := range states {
			r, err := f.Reader()
			if err != nil {
				t.Fatal(err)
			}
			m, err := replay.StateAt(r, p.game, tick-1+lockstep.Tick(i), replay.SimulateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			states[i] = m.State
		}
		d, err := p.game.StateSchema().Diff(states[0], states[1], 10000)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range d.List {
			if strings.HasSuffix(one.Path, end) {
				return tick, one.Path
			}
		}
	}
	t.Fatalf("no field %s changes", end)
	return 0, ""
}

// watches reports whether a watchpoint stops a program on this machine.
func watches(t *testing.T, delve string) bool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module watched\n",
		"main.go": "package main\n\nvar Watched int\n\nfunc main() {\n\tWatched = 7\n\tprintln(Watched)\n}\n",
		"script":  "break main.main\ncontinue\nwatch -w main.Watched\ncontinue\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for _, args := range [][]string{
		{"go", "build", "-gcflags=all=-N -l", "-o", "watched"},
		{delve, "exec", "./watched", "--init", "script", "--allow-non-terminal-interactive=true"},
	} {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir, c.Stdin = dir, strings.NewReader("quit\n")
		var err error
		if out, err = c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if !bytes.Contains(out, []byte("Watchpoint main.Watched set")) {
		t.Fatalf("no watchpoint was set: %s", out)
	}
	return !bytes.Contains(out, []byte("has exited with status"))
}

// TestDebug lets Delve stop where a field is written, and compares the line with that of the assignment.
func TestDebug(t *testing.T) {
	testenv.Long(t)
	if !hasWatchpoints() {
		t.Skip("the debugger has no watchpoints here")
	}
	delve, err := exec.LookPath("dlv")
	testenv.Or(t, "dlv", err)
	if !watches(t, delve) {
		t.Skip("this machine has no hardware watchpoints, as some virtual machines: nothing was checked")
	}
	for _, c := range []struct {
		name, game, field, file, line string
		shifted                       bool // the sources are edited: all lines of the file move
	}{
		{"a field of the world", "skirmish", "Match.Tick", "step.go", "w.Match.Tick = uint32(t.Tick)", false},
		{"a part of a struct that is assigned as one", "skirmish", ".Pos.Y", "move.go", "u.Pos = to", false},
		{"a field of an element", "skirmish", ".Work", "economy.go", "u.Work--", false},
		{"edited sources", "skirmish", "Match.Tick", "step.go", "w.Match.Tick = uint32(t.Tick)", true},
		{"another game", "platforms", "Tick", "step.go", "w.Tick = uint32(turn.Tick) - 1 //", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.shifted && c.game == "skirmish" { // the edited sources are the longer way
				testenv.Night(t)
			}
			p := playedGame(c.game)
			f, err := replay.Open(p.record(t, t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			source, err := filepath.Abs(filepath.Join("..", "..", "examples", c.game, c.file))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{}
			if c.shifted {
				text = bytes.Replace(text, []byte("\nimport"), []byte(shift+"\nimport"), 1)
				o.Edits = map[string][]byte{source: text}
			}
			before, _, ok := strings.Cut(string(text), c.line)
			if !ok {
				t.Fatalf("%s has no line %q", c.file, c.line)
			}
			path := ""
			o.Tick, path = changedField(t, p, f, c.field)
			s, err := Prepare(context.Background(), f, t.TempDir(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			if s.Field.Path != path || s.Field.Value == "" || s.Built != s.Recorded || !strings.Contains(s.Step.Name, c.game+".") {
				t.Errorf("got %+v, %+v", s, s.Field)
			}
			var out bytes.Buffer
			if err := s.Run(context.Background(), delve, false, strings.NewReader("written\nquit\n"), &out, &out); err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
			if strings.Contains(out.String(), "\x1b[") {
				t.Errorf("got colors, not to a terminal: %q", &out)
			}
			if want := fmt.Sprintf("> [step] %s()", s.Step.Name); !strings.Contains(out.String(), want) {
				t.Errorf("got\n%s\nwant %q: the debugger stands in Step", &out, want)
			}
			if want := fmt.Sprintf("written at %s:%d\n", source, 1+strings.Count(before, "\n")); !strings.Contains(out.String(), path+" is ") || !strings.Contains(out.String(), want) {
				t.Errorf("got\n%s\nwant %q", &out, want)
			}
		})
	}
}

// The script and the text for people name everything that the debugger needs.
func TestSessionText(t *testing.T) {
	s := &Session{
		Tick: 78, Folder: t.TempDir(), Dir: "/my game", Binary: "/x/" + strings.Repeat("long/", 20) + "rules.exe", Job: "/x/job.json", Built: "2", Recorded: "1",
		Step:  program.Function{Name: "hold.step", File: "/my game/step.go", Line: 6},
		Field: &program.Field{Path: "Units[26].Pos.X", Value: "16.5", Type: "int64", FractionBits: 32},
	}
	if err := s.writeScript(); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(s.Script)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nbreak step hold.step\ncontinue\n", "\nbreak panicked runtime.gopanic\n", "watch -w *(*int64)(address)\n"} {
		wanted := hasWatchpoints() || !strings.HasPrefix(want, "watch")
		if strings.Contains(string(script), want) != wanted {
			t.Errorf("got\n%s\nwith %q: want %v", script, want, wanted)
		}
	}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"tick       78, of the sources in /my game\n           they are build \"2\", and the match is of build \"1\"\n",
		"step       hold.step at /my game/step.go:6\nfield      Units[26].Pos.X is 16.5 before the tick\n",
		"start      cd '/my game'\n           dlv exec " + s.Binary + " --init " + s.Script + " -- /x/job.json\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant\n%s", &b, want)
		}
	}
}
