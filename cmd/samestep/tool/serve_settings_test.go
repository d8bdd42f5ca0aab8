//go:build !js

package tool

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// settingsInTest returns the settings of a server that was started with flags, and a function that writes the file.
func settingsInTest(t *testing.T, first string, flags ...string) (f *serving.SettingsFile, write func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	serve := serving.ServeCommand()
	serve.Action = func(c *cli.Context) error {
		f = serving.NewSettingsFile(c)
		if err := console.ReadSettings(c); err != nil {
			return err
		}
		f.Reloadable(1)
		return nil
	}
	app := &cli.App{Commands: []*cli.Command{serve}}
	if err := app.RunContext(t.Context(), append([]string{"samestep", "serve", "--settings", path}, flags...)); err != nil {
		t.Fatal(err)
	}
	f.Check = func(*cli.Context) error { return nil }
	return f, write
}

// No key of a settings file is ignored in silence: each one changes a limit of the running server, or is named as one that needs a
// restart. The command line stays stronger.
func TestEverySettingIsTold(t *testing.T) {
	f, write := settingsInTest(t, "", "--players", "3")
	told := 0
	for _, key := range console.SettingsIn(f.C.Command.Flags) {
		name := key.Name()
		if key.Where == console.AsCommand {
			continue
		}
		var other string
		switch v := f.C.Value(name).(type) {
		case bool:
			other = fmt.Sprint(!v)
		case uint, uint64:
			other = "7"
		case time.Duration:
			other = (v + 7*time.Second).String()
		case cli.StringSlice:
			other = "[other]"
		default:
			other = "other"
		}
		write(name + ": " + other + "\n")
		c, err := f.Read()
		if err != nil {
			t.Errorf("%s: %s: %v", name, other, err)
			continue
		}
		changed, waiting := f.Differ(c)
		var want [2][]string
		switch {
		case name == "players": // the command line has it
		case key.Live && name != "guests": // which begins at 0
			want[0] = []string{name}
		default:
			want[1] = []string{name}
		}
		if !slices.Equal(changed, want[0]) || !slices.Equal(waiting, want[1]) {
			t.Errorf("%s: %s: got %q changed and %q waiting, want %q", name, other, changed, waiting, want)
		}
		if before := serving.LimitsOf(f.C, 0); reflect.DeepEqual(serving.LimitsOf(c, 0), before) == key.Live {
			t.Errorf("%s: %s: got the same limits: %t, want them to differ: %t", name, other, !key.Live, key.Live)
		}
		told++
	}
	if told < 80 {
		t.Errorf("told of %d keys", told)
	}
}

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
	if flags > 25 || keys < 80 || len(overflowing(text, console.MaxHelp)) > 0 {
		t.Errorf("got %d flags and %d keys, and the wide lines %q, want at most 25 flags", flags, keys, overflowing(text, console.MaxHelp))
	}
	if code, out := checkServe(t, text, "--dir", ""); code != console.ExitOK {
		t.Errorf("with only comments: got exit code %d and %s", code, out)
	}
	_, write := settingsInTest(t, "")
	write(regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAllString(text, "$1")) // settingsInTest reads it
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
		"--set grace=5":                    `--set: grace: got "5", want a time such as 30s or 1m30s`,
		"--set players=99":                 `players is 99`,
		"--set desync=ignore":              `desync: got "ignore", want log, resync or remove`,
		"--check-config --set seed=1":      "ok",
		"--check-config --set players=2":   "ok", // the file has another number
		"--check-config --tick-rate 250ms": `players is 99`,
		"--tick-rate 1001":                 `--tick-rate: got "1001", want 1 to 1000 ticks per second, or a time of 1ms to 1m0s for each`,
		"--tick-rate 61s":                  `--tick-rate: got "61s"`,
		"--tick-rate 1.0000001s":           `--tick-rate: got "1.0000001s"`,
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

// A running server takes limits from its file. A bad file changes nothing and says why.
func TestReloadSettings(t *testing.T) {
	f, write := settingsInTest(t, "max-matches: 1\n")
	o := server.Options{Log: slog.New(slog.DiscardHandler)}
	o.Limits = serving.LimitsOf(f.C, 0)
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(t.Context())
	create := func(name string) error {
		_, err := s.Create(server.MatchSpec{Name: name, Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 20}})
		return err
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	for _, x := range []struct {
		text, name string
		ok         bool
		want       string // in the log or the error
	}{
		{"max-matches: 1\n", "one", true, ""},
		{"max-matches: many\n", "two", false, `max-matches: got "many"`},
		{"max-matche: 2\n", "two", false, "did you mean max-matches?"},
		{"max-matches: 2\ntick-rate: 30\nguests: 4\n", "two", true, `changed=[max-matches] "need a restart"="[tick-rate guests]"`},
		{"max-matches: 2\n", "three", false, ""},
		{"", "three", true, "changed=[max-matches]"},
		{"max-spectators: 1\nguest-seats: 1\nguest-inactive: 1m\ngrace: 1m\n", "four", true, `changed="[max-spectators guest-inactive guest-seats]" "need a restart"=[grace]`},
	} {
		said.Reset()
		write(x.text)
		err := f.Reload(s, log)
		if got := fmt.Sprint(err) + said.String(); !strings.Contains(got, x.want) {
			t.Errorf("%q: got %s, want %s", x.text, got, x.want)
		}
		if err := create(x.name); (err == nil) != x.ok {
			t.Errorf("%q: match %s: got %v", x.text, x.name, err)
		}
	}
}

// Limits that wait for a restart stay, also when others change; a file with which the server would not start changes nothing.
func TestReloadKeepsWhatWaits(t *testing.T) {
	f, write := settingsInTest(t, "guests: 5\nmax-requests: 10\n", "--dir", "")
	f.C.App.Metadata, f.Matches, f.Check = map[string]any{gameset.GamesKey: games}, 3, serving.CheckAgain
	l := serving.LimitsOf(f.C, 0)
	for _, row := range []struct {
		text                      string
		guests, requests, matches int
		err                       string
	}{
		{"guests: 0\nmax-requests: 20\nmax-matches: 2\n", 5, 20, 3, ""},
		{"guests: 6\nmax-requests: 20\n", 6, 20, 1000, ""},
		{"guests: 6\nmax-requests: 30\ntrusted-proxy: [nonsense]\n", 6, 20, 1000, "trusted-proxy: got \"nonsense\""},
		{"guests: 6\nmax-requests: 30\nbase-path: nonsense\n", 6, 20, 1000, "base-path"},
	} {
		write(row.text)
		c, err := f.Read()
		if err == nil {
			l, _, _, err = f.Change(c)
		}
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%q: got %v, want %s", row.text, err, row.err)
		}
		if l.GuestMatches != row.guests || l.MaxReads != row.requests || l.MaxMatches != row.matches {
			t.Errorf("%q: got %+v", row.text, l)
		}
	}
}

// A reload tells of a limit that is another one now, and not of 0 in the place of the default.
func TestReloadTellsWhatHolds(t *testing.T) {
	f, write := settingsInTest(t, "max-requests: 50\n", "--dir", "")
	f.C.App.Metadata, f.Matches, f.Check = map[string]any{gameset.GamesKey: games}, 3, serving.CheckAgain
	for _, row := range []struct {
		text    string
		changed string
		matches int
	}{
		{"max-requests: 0\nmax-matches: 0\nmax-per-address: 0\n", "[]", 1000},
		{"max-requests: 20\nmax-matches: 0\n", "[max-requests]", 1000},
		{"max-requests: 0\nmax-matches: 7\n", "[max-requests max-matches]", 7},
		{"max-matches: 2\n", "[max-matches]", 3},
		{"max-matches: 1\n", "[]", 3}, // those of the start
	} {
		write(row.text)
		c, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		l, changed, _, err := f.Change(c)
		if got := fmt.Sprint(changed); err != nil || got != row.changed || l.MaxMatches != row.matches {
			t.Errorf("%q: got %s, %d matches, %v, want %s, %d", row.text, got, l.MaxMatches, err, row.changed, row.matches)
		}
	}
}
