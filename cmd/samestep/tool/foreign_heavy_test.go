//go:build !js

package tool

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// plantStale plants a cache that goes stale when gold is found, in the rules of the game.
func (f *foreign) plantStale() {
	f.t.Helper()
	path := filepath.Join(f.dir, "rules", "rules.go")
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	text := string(b)
	for _, edit := range [][2]string{
		{"	Gold    []fixed.Vec2\n}", "	Gold    []fixed.Vec2\n	left    int `state:\"derived\"`\n}"},
		{"		Step:     step,\n", "		Step:     step,\n		Derive:   func(w *World, _ *Config) { w.left = len(w.Gold) },\n"},
		{"d.At.MoveToward(d.To, config.Speed)", "d.At.MoveToward(d.To, config.Speed+fixed.Q(w.left))"},
	} {
		if strings.Count(text, edit[0]) != 1 {
			f.t.Fatalf("%s has not once %q", path, edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.build()
}

// get returns the answer to a request without a token.
func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A stale cache in the rules of a game outside of the engine's module: the heavy mode of the server and that of a player find it in a match
// in which all machines agree, and explain and line name the field and the line, with the rules in the program and in a module.
func TestForeignHeavy(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	f.plantStale()

	dir := t.TempDir()
	s := tooltest.ServeFrom(t, f.program, "--players", "2", "--tick-rate", "200", "--dir", dir, "--set", "player-tokens=a b", "--set", "start=2", "--set", "heavy=10%")
	url := s.URL + "/matches/match-1"
	other := f.join(url, "--token", "b")
	joined := f.run(console.ExitDesync, "join "+url+" --token a --heavy 10%", "0 differ", "0 desyncs", "warm and cold differ at tick ", "bundle ", "a restored copy")
	if <-other.done; other.code != console.ExitOK {
		t.Errorf("the other player: got exit code %d:\n%s", other.code, other.output)
	}
	metrics := get(t, s.URL+"/metrics")
	for _, want := range []string{"\nsamestep_twin_differences_total 1\n", `samestep_events_total{kind="warm and cold differ",subject="match"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %q:\n%s", want, metrics)
		}
	}
	if strings.Contains(metrics, "\nsamestep_twin_ticks_total 0\n") {
		t.Error("no tick of a twin is counted")
	}
	if s.Stop(); !strings.Contains(s.Stderr.String(), `event="warm and cold differ"`) {
		t.Errorf("the log lacks the event:\n%s", s.Stderr.String())
	}
	file := tooltest.One(t, filepath.Join(dir, "*.ssr"))
	f.run(console.ExitOK, "replay verify "+file, "true")
	for _, bundle := range []string{tooltest.One(t, filepath.Join(dir, "*-twin-*-server.zip")), filepath.Join(f.dir, f.word(joined, ".zip"))} {
		out := f.run(console.ExitDesync, "desync explain "+bundle, "warm and cold differ: Diggers[", "WARM AND COLD DIFFER", "grade: proven", "warm → cold", "next", "desync line "+bundle)
		_, next, _ := strings.Cut(out, "desync line ")
		next, _, _ = strings.Cut(next, "\n")
		f.run(console.ExitDesync, "desync line "+next, "restored at tick", "rules/rules.go:", "w.left")
		f.run(console.ExitDesync, "desync explain "+bundle+" --source . --json", `"class": "warm and cold differ"`, `"grade": "proven"`, "w.left")
		f.run(console.ExitOK, "desync redact "+bundle+" redacted.zip")
		f.run(console.ExitDesync, "desync explain redacted.zip", "grade: proven")
		os.Remove(filepath.Join(f.dir, "redacted.zip"))
		f.run(console.ExitOK, "replay verify "+bundle, "difference of warm and cold")
	}
	f.run(console.ExitDesync, "desync triage "+dir, "1 desync", "warm and cold differ")

}
