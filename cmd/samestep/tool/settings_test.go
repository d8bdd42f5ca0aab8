//go:build !js

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// checkServe runs serve with a settings file and --check-config, and returns its exit code and output.
func checkServe(t *testing.T, settings string, flags ...string) (int, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := tooltest.Run(t.Context(), append([]string{"samestep", "serve", "--check-config", "--settings", path}, flags...), &out, &out)
	return code, strings.ReplaceAll(out.String(), path, "serve.yaml")
}

// A settings file sets flags. The environment is stronger, and the command line strongest.
func TestSettings(t *testing.T) {
	const players = "players is 99" // the error names the value that was used
	for _, x := range []struct {
		name, settings, variable string
		flags                    []string
		code                     int
		want                     string
	}{
		{name: "values and lists", settings: "# ours\nplayers: 2\nweb: false\norigin: [a.example, b.example]\nidle: 1m30s\nseed: 18446744073709551615\n", want: "ok\n"},
		{name: "nothing", settings: "# nothing\n", want: "ok\n"},
		{name: "the file", settings: "players: 99\n", code: console.ExitUsage, want: players},
		{name: "the environment", settings: "players: 98\n", variable: "99", code: console.ExitUsage, want: players},
		{name: "the command line", settings: "players: 97\n", variable: "98", flags: []string{"--players", "99"}, code: console.ExitUsage, want: players},
		{name: "out of range in the file", settings: "# ours\nplayers: 999\n", code: console.ExitUsage, want: "usage: serve: serve.yaml: line 2: players: got 999, want 1 to 250\n"},
		{name: "out of range in the environment", settings: "players: 3\n", variable: "999", code: console.ExitUsage, want: "usage: serve: SAMESTEP_PLAYERS: got 999, want"},
		{name: "out of range on the command line", settings: "players: 3\n", variable: "4", flags: []string{"--players", "999"}, code: console.ExitUsage, want: "usage: serve: --players: got 999, want"},
		{name: "out of range in a pair", settings: "players: 3\n", flags: []string{"--set", "players=999"}, code: console.ExitUsage, want: "usage: serve: --set players: got 999, want"},
		{name: "a wrong word in the file", settings: "durability: often\n", code: console.ExitUsage, want: "serve.yaml: line 1: durability: got \"often\", want none"},
		{name: "no number in the environment", variable: "many", code: console.ExitUsage, want: "SAMESTEP_PLAYERS: got \"many\", want a whole number of 0 or more; see samestep serve --help\n"},
		{name: "a wrong word", settings: "web: false\nplayer: 2\n", code: console.ExitUsage, want: `serve.yaml: line 2: unknown setting "player"; serve --print-settings has all; did you mean players?`},
		{name: "nearly itself", settings: "setting: x\n", code: console.ExitUsage, want: "unknown setting \"setting\"; serve --print-settings has all\n"},
		{name: "itself", settings: "settings: x\n", code: console.ExitUsage, want: "line 1: settings: got it in a settings file, want it on the command line"},
		{name: "help", settings: "help: true\n", code: console.ExitUsage, want: "line 1: help: got it in a settings file, want it on the command line"},
		{name: "twice", settings: "web: false\n\nweb: true\n", code: console.ExitUsage, want: "line 3: got web again, after line 1"},
		{name: "a wrong number", settings: "players: many\n", code: console.ExitUsage, want: "line 1: players: got \"many\", want a whole number of 0 or more\n"},
		{name: "a negative number", settings: "seed: -1\n", code: console.ExitUsage, want: "seed: got \"-1\", want a whole number of 0 or more\n"},
		{name: "no time", settings: "idle: 5\n", code: console.ExitUsage, want: "idle: got \"5\", want a time such as 30s or 1m30s\n"},
		{name: "neither true nor false", settings: "web: maybe\n", code: console.ExitUsage, want: "web: got \"maybe\", want true or false\n"},
		{name: "a list of one", settings: "players: [1, 2]\n", code: console.ExitUsage, want: "players: got a list, want one value"},
		{name: "a table", settings: "players: {a: 1}\n", code: console.ExitUsage, want: "players: want a value"},
		{name: "no value", settings: "players:\n", code: console.ExitUsage, want: "players: want a value"},
		{name: "no table", settings: "- players\n", code: console.ExitUsage, want: "line 1: want lines such as"},
		{name: "no YAML", settings: "players: [\n", code: console.ExitUsage, want: "serve.yaml: yaml: line"},
		{name: "too long", settings: strings.Repeat("#", 1<<20+1), code: console.ExitUsage, want: "more than 1048576 bytes"},
		{name: "no archive", settings: "keep-bundles: 5\n", code: console.ExitUsage, want: "serve.yaml: line 1: keep-bundles: needs archive\n"},
		{name: "the match", settings: "config: none.json\n", code: console.ExitError, want: "none.json"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.variable != "" {
				t.Setenv("SAMESTEP_PLAYERS", x.variable)
			}
			if code, out := checkServe(t, x.settings, x.flags...); code != x.code || !strings.Contains(out, x.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", code, out, x.code, x.want)
			}
		})
	}
}

// --check-config finds what would stop the server, and leaves nothing behind.
func TestCheckConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "matches")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[string][]string{
		"ok\n":                     {"--dir", dir, "--matches", "3", "--bots", "2"},
		"bad list of tokens":       {"--tokens", file},
		"JWT key":                  {"--set", "jwt-key=" + file},
		"--tls-cert and --tls-key": {"--tls-cert", file},
		"base-path":                {"--set", "base-path=x"},
		"want another one":         {"--dir", dir, "--set", "archive=" + dir},
		"sign-key":                 {"--set", "sign-key=" + file, "--set", "keep-open=true"},
		"got \"one\", want none":   {"--durability", "one"},
		"not a folder":             {"--dir", file},
		"config":                   {"--config", file},
		"AWS_ACCESS_KEY_ID":        {"--dir", dir, "--set", "archive=s3://bucket"},
		"got the bucket \"eu\"":    {"--dir", dir, "--set", "archive=s3://eu/matches"},
		"proxy-protocol: needs":    {"--set", "proxy-protocol=true"},
		"datagrams: got":           {"--set", "datagrams=8766"},
		`--listen: got "foo", want HOST:PORT with a port of 0 to 65535, unix:PATH or systemd`: {"--listen", "foo"},
		`--listen: got ":99999", want`:             {"--listen", ":99999"},
		`--listen: got ":-1", want`:                {"--listen", ":-1"},
		`--listen: got ":http", want`:              {"--listen", ":http"},
		`--listen: got "", want`:                   {"--listen", ""},
		`--listen: got "unix:", want`:              {"--listen", "unix:"},
		`got "http://127.0.0.1:80", want`:          {"--listen", "http://127.0.0.1:80"},
		`--admin-listen: got "8767", want`:         {"--admin-listen", "8767"},
		`datagrams: got ":65536", want`:            {"--set", "datagrams=:65536"},
		`datagrams-public: got "h:x", want`:        {"--set", "datagrams-public=h:x"},
		`the program for that is samestep-cluster`: {"--durability", "replicated"},
		`--config: lockstep: configuration`:        {"--config", "{"},
		"datagrams-public: got":                    {"--set", "datagrams-public=play.example.org"},
		"datagrams-public: needs":                  {"--set", "datagrams-public=play.example.org:7001", "--set", "trusted-proxy=10.0.0.5"},
	} {
		key := map[string]string{"got the bucket \"eu\"": "key"}[want]
		t.Setenv("AWS_ACCESS_KEY_ID", key)
		t.Setenv("AWS_SECRET_ACCESS_KEY", key)
		if code, out := checkServe(t, "", flags...); (code == console.ExitOK) != (want == "ok\n") || !strings.Contains(out, want) {
			t.Errorf("%q: got exit code %d and %q, want %q", flags, code, out, want)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("there is a folder of matches")
	}
}

// A start without --resume says that it leaves matches behind.
func TestInterruptedMatchesAreNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "live", "match-1-01234567.ssr"), []byte("a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "--resume resumes them"
	if code, out := checkServe(t, "", "--dir", dir); code != 0 || !strings.Contains(out, want) {
		t.Errorf("got %d %q, want %q", code, out, want)
	}
	if code, out := checkServe(t, "", "--dir", dir, "--resume"); code != console.ExitCorrupt || strings.Contains(out, want) || strings.Contains(out, "tokens") {
		t.Errorf("with --resume: got %d %q", code, out)
	}
	if code, out := checkServe(t, "", "--dir", t.TempDir()); code != 0 || strings.Contains(out, want) {
		t.Errorf("an empty folder: got %d %q", code, out)
	}
}
