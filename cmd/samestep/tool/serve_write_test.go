//go:build !js

package tool

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// writeInTest calls serve --write-settings.
func writeInTest(t *testing.T, path string, flags ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	code = tooltest.Execute(append([]string{"serve", "--write-settings", path}, flags...), &b, &b)
	return code, b.String()
}

// The safe start has at most 12 keys, opens nothing, resumes matches, and is what a start takes. It replaces no file.
func TestWriteSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	path := filepath.Join(dir, "serve.yaml")
	code, out := writeInTest(t, path, "--set", "allowed-host=play.example", "--dir", filepath.Join(dir, "matches"))
	if code != console.ExitOK || !strings.HasPrefix(out, "wrote "+path+"\n") {
		t.Fatalf("got exit code %d and %s, want the file first", code, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := os.ReadFile(filepath.Join(dir, "tokens"))
	if err != nil || strings.Contains(out, strings.Fields(string(tokens))[len(strings.Fields(string(tokens)))-1]) {
		t.Errorf("got %v and %s, want a token of an admin that is not shown", err, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "tokens")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v of the tokens, %v", info.Mode(), err)
	}
	got := map[string]any{}
	if err := yaml.Unmarshal(text, &got); err != nil || len(got) > 12 {
		t.Errorf("got %d keys, %v, want at most 12:\n%s", len(got), err, text)
	}
	for name, want := range map[string]any{"guests": 0, "replays": false, "resume": true, "listen": "127.0.0.1:8766", "matches": 0} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	for _, open := range []string{"anonymous-spectators", "bundles", "admin-listen", "web", "relay"} {
		if got[open] != nil {
			t.Errorf("the file has %s", open)
		}
	}
	if code, out := checkServe(t, "", "--settings", path); code != console.ExitOK {
		t.Errorf("check-config: got exit code %d and %s", code, out)
	}
	if code, out := writeInTest(t, path, "--set", "allowed-host=other.example"); code == console.ExitOK || !strings.Contains(out, "exists") {
		t.Errorf("again: got exit code %d and %s", code, out)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(text, again) {
		t.Errorf("again: got %s, %v", again, err)
	}
}

// A start that would fail leaves no file, so the next call can be right.
func TestWriteNoBadSettings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "serve.yaml")
	for flags, want := range map[string]string{
		"":                             "--write-settings needs --set allowed-host=VALUE",
		"--set allowed-host=*.example": `allowed host: got "*.example"`,
		"--set allowed-host=a.example --tick-rate 30":            "--tick-rate: --write-settings writes only",
		"--set allowed-host=a.example --set base-path=game":      "base-path: got",
		"--set allowed-host=a.example --set trusted-proxy=0::/0": "trusted-proxy: got",
		"--set allowed-host=a.example --tokens " + dir + "/a/b":  "no such file",
	} {
		if code, out := writeInTest(t, path, strings.Fields(flags)...); code == console.ExitOK || !strings.Contains(out, want) {
			t.Errorf("%s: got exit code %d and %s, want %q", flags, code, out, want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", flags, left, err)
		}
	}
}

// Replays are for this machine, unless replays opens them.
func TestReplaysAreHere(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][2]int{"": {403, 200}, "replays=true": {200, 200}, "replays=false": {403, 403}} {
		flags := []string{"--dir", t.TempDir(), "--players", "1", "--set", "allowed-host=play.example"}
		if flag != "" {
			flags = append(flags, "--set", flag)
		}
		s := tooltest.Serve(t, flags...)
		for i, host := range []string{"play.example", "localhost"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/replays", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want[i] {
				t.Errorf("%q at %s: got %d, want %d", flag, host, answer.StatusCode, want[i])
			}
		}
		s.Stop()
	}
}
