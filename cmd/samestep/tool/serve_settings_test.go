//go:build !js

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// serve has few flags. What it prints for --print-settings has each key once, with its meaning, and is a settings file whether its keys
// are set or not; what is set on the command line and in the file is set there, too.
func TestPrintSettings(t *testing.T) {
	print := func(flags ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep", "serve", "--print-settings"}, flags...), &out, &out); code != console.ExitOK {
			t.Fatalf("got exit code %d, %s", code, &out)
		}
		return out.String()
	}
	text := print()
	flags, keys := 0, 0
	for _, s := range console.SettingsIn(serving.ServeCommand().Flags) {
		if s.Where != console.InFile {
			flags++
		}
		if s.Where == console.AsCommand {
			continue
		}
		keys++
		_, rest, found := strings.Cut(text, "\n#"+s.Name()+": ")
		comment := text[:max(0, len(text)-len(rest)-len(s.Name())-4)]
		comment = comment[strings.LastIndex(comment, "\n\n")+1:]
		if !found || strings.Contains(rest, "\n#"+s.Name()+": ") || strings.HasSuffix(comment, "; live\n") != s.Live && strings.HasSuffix(strings.TrimSpace(comment), "live") != s.Live {
			t.Errorf("%s: got %q before it, want a comment and the key once, and whether it is live: %t", s.Name(), comment, s.Live)
		}
	}
	if flags > 25 || keys < 80 || len(tooltest.Overflowing(text, 100)) > 0 {
		t.Errorf("got %d flags and %d keys, and the wide lines %q, want at most 25 flags", flags, keys, tooltest.Overflowing(text, 100))
	}
	if code, out := checkServe(t, text, "--dir", ""); code != console.ExitOK {
		t.Errorf("with only comments: got exit code %d and %s", code, out)
	}
	set := print("--players", "3", "--set", "max-matches=7", "--set", "origin=a", "--set", "origin=b,c")
	for _, line := range []string{"players: 3", "max-matches: 7", "origin: [a, b, c]", "#bots: 0", "#grace: 30s", `#listen: 127.0.0.1:8766`} {
		if !strings.Contains(set, "\n"+line+"\n") {
			t.Errorf("got no line %q in\n%s", line, set)
		}
	}
	path := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(path, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := print("--settings", path); again != set {
		t.Errorf("printed again: got\n%s", again)
	}
}

// A key is no flag, and the error says how it is set. What --set says is stronger than the file, and wrong keys and values are refused.
func TestKeysAreNoFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--grace 5s":                       `serve: --grace: it is a key of the settings file, want --set grace=5s, or a line "grace: 5s" in the file of --settings`,
		"--web=false":                      `want --set web=false, or`,
		"--substitutes --grace 7s":         `want --set substitutes=true, or`,
		"--grace":                          `want --set grace=VALUE, or`,
		"--players 2 -idle 5s":             `want --set idle=5s, or`,
		"--max-matchs 5":                   `did you mean --set max-matches=VALUE?`,
		"--playrs 5":                       `did you mean --players?`,
		"--set grace":                      `--set: got "grace", want KEY=VALUE`,
		"--set grase=5s":                   `--set: unknown setting "grase"; serve --print-settings has all; did you mean grace?`,
		"--set settings=x":                 `--set: settings: got it in a settings file, want it on the command line`,
		"--set grace=5":                    `--set grace: got "5", want a time such as 30s or 1m30s`,
		"--set players=99":                 `players is 99`,
		"--set slow=5 --set slow=6":        `--set slow: got 5 and 6, want one value`,
		"--players 2 --set players=3":      `--set players: got 2 and 3, want one value`,
		"--set slow=5 --set slow=5":        `players is 99`,
		"--set origin=a --set origin=b":    `players is 99`,
		"--set slow=200":                   `--set slow: got 200, want 0 to 100`,
		"--set desync=ignore":              `--set desync: got "ignore", want log, resync or remove`,
		"--check-config --set seed=1":      "ok",
		"--check-config --set players=2":   "ok", // the file has another number
		"--check-config --tick-rate 250ms": `players is 99`,
		"--check-config --set players=2 --set view-bytes=9000000": "ok", // the limit is that of one view
		"--tick-rate 1001":       `--tick-rate: got "1001", want 1 to 1000 ticks per second, or a time of 1ms to 1m0s for each`,
		"--tick-rate 61s":        `--tick-rate: got "61s"`,
		"--tick-rate 1.0000001s": `--tick-rate: got "1.0000001s"`,
	} {
		code, out := checkServe(t, "players: 99\n", strings.Fields(line)...)
		if line == "--check-config --set seed=1" {
			code, out = checkServe(t, "players: 3\n", strings.Fields(line)...)
		}
		if !strings.Contains(out, want) || (code == console.ExitOK) != (want == "ok") {
			t.Errorf("%s: got exit code %d and %s, want %s", line, code, out, want)
		}
	}
}

// Whatever a setting is set to, serve takes it or refuses it as a mistake of the command line, and names it as it was written.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	files := []string{"dir", "tls-cert", "tls-key", "rules", "assets", "config", "from", "archive", "sign-key", "tokens", "jwt-key"} // which need not exist
	refused := 0
	for _, s := range console.SettingsIn(serving.ServeCommand().Flags) {
		if s.Where == console.AsCommand || slices.Contains(files, s.Name()) {
			continue
		}
		for _, value := range []string{"-1s", "18446744073709551615", "200000h", "{"} {
			var out bytes.Buffer
			pair := s.Name() + "=" + value
			args := []string{"samestep", "serve", "--check-config", "--game", "minimal", "--dir", "", "--set", pair}
			if s.Name() != "web" {
				args = append(args, "--set", "web=false")
			}
			switch code := tooltest.Run(t.Context(), args, &out, &out); {
			case code == console.ExitOK:
			case code != console.ExitUsage || !strings.Contains(out.String(), "--set "+s.Name()+": "):
				t.Errorf("--set %q: got exit code %d and %s, want %d and the name", pair, code, &out, console.ExitUsage)
			default:
				refused++
			}
		}
	}
	if refused < 150 {
		t.Errorf("got %d values refused, want at least 150", refused)
	}
}
