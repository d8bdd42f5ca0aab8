//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The rules of a game outside of the engine's module panic on a command in a match on a server: every verb finds the command and the panic
// in what the server leaves, with the rules in the program and in a module.
func TestForeignPanic(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	path := filepath.Join(f.dir, "rules", "rules.go")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = "			w.Diggers[c.Player].To = order.at()\n", "			if turn.Tick > 60 {\n				_ = w.Gold[int(order.X)+len(w.Gold)]\n			}\n"
	if strings.Count(string(b), right) != 1 {
		t.Fatalf("%s has no line %q", path, right)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), right, right+wrong, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	f.build()

	dir := t.TempDir()
	s := tooltest.ServeFrom(t, f.program, "--players", "2", "--tick-rate", "100", "--dir", dir, "--set", "player-tokens=a b")
	url := s.URL + "/matches/match-1"
	for _, g := range []*guest{f.join(url, "--token", "a"), f.join(url, "--token", "b")} {
		if <-g.done; g.code != console.ExitPanic {
			t.Errorf("join of a match whose rules panicked: got exit code %d, want %d:\n%s", g.code, console.ExitPanic, g.output)
		}
	}
	if s.Stop(); !strings.Contains(s.Stderr.String(), "level=ERROR msg=panic") || !strings.Contains(s.Stderr.String(), "rules.step") {
		t.Errorf("the log of the quiet server lacks the error and its stack:\n%s", s.Stderr.String())
	}
	file, bundle := tooltest.One(t, filepath.Join(dir, "*.ssr")), tooltest.One(t, filepath.Join(dir, "*-panic-*-server.zip"))
	for _, name := range []string{file, bundle} {
		if out := f.run(console.ExitPanic, "replay verify "+name, "PANIC of the rules at tick", "proven: computed again", "computed again here, they panic in the same way"); strings.Contains(out, "true") {
			t.Errorf("a file with a panic is called true:\n%s", out)
		}
		f.run(console.ExitPanic, "replay step "+name, "walks to", "the rules panic: ", "index out of range")
		f.run(console.ExitPanic, "replay debug --print "+name, "the rules panic in this tick", "index out of range")
		f.run(console.ExitPanic, "desync line "+name, "the rules panic in tick", "rules/rules.go:", "turn.Tick > 60")
	}
	f.run(console.ExitOK, "replay dump --commands "+file, "walks to")
	f.run(console.ExitOK, "replay dump "+bundle, "walks to", "the rules panicked in Step: ")
	f.run(console.ExitOK, "replay diff "+bundle+" "+file, "in A, tick ", "the rules panicked in Step: ")
	f.run(console.ExitOK, "replay bisect "+bundle+" "+file, "compared; in A,")
	f.run(console.ExitOK, "replay info "+file, "the rules panicked in Step: ")
	f.run(console.ExitOK, "replay export "+file, "not exported: tick", "the rules panicked in Step: ")
	f.run(console.ExitPanic, "desync explain "+bundle, "THE RULES PANICKED", "hold/rules.step", "walks to")
	var e struct{ Steps []desync.NextStep }
	explained := f.run(console.ExitPanic, "desync explain --json "+bundle)
	if err := json.NewDecoder(strings.NewReader(explained)).Decode(&e); err != nil || len(e.Steps) != 5 {
		t.Errorf("got the steps %+v, %v", e.Steps, err)
	}
	for _, s := range e.Steps[:len(e.Steps)-1] { // the last one serves
		verb, is := strings.CutPrefix(s.Command, "hold ")
		if !is {
			t.Errorf("the command %q does not begin with the program", s.Command)
		}
		f.run(console.ExitPanic, strings.Replace(verb, "replay debug ", "replay debug --print ", 1)) // without a debugger
	}
	f.run(console.ExitPanic, "desync triage "+dir, "1 panic: hold, panic of the rules, example.com/hold/rules.step")

	f.run(console.ExitOK, "rules build -o hold.wasm ./rules")
	module := filepath.Join(f.dir, "hold.wasm")
	for _, args := range [][]string{{"replay", "verify", "--rules", module, file}, {"desync", "line", "--rules", module, file}} {
		var out, errs bytes.Buffer
		if code := tooltest.Execute(args, &out, &errs); code != console.ExitPanic || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "index out of range") {
			t.Errorf("samestep %v: got exit code %d, want %d:\n%s%s", args, code, console.ExitPanic, out.String(), errs.String())
		}
	}

	if err := os.WriteFile(path, b, 0o644); err != nil { // the rules are mended
		t.Fatal(err)
	}
	f.run(console.ExitOK, "desync line "+bundle, "these sources do not panic in it")
}
