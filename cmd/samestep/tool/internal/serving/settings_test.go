//go:build !js

package serving

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// settingsInTest returns the settings of a server that was started with flags, and a function that writes the file.
func settingsInTest(t *testing.T, first string, flags ...string) (f *settingsFile, write func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	serve := ServeCommand()
	serve.Action = func(c *cli.Context) error {
		f = newSettingsFile(c)
		if err := console.ReadSettings(c); err != nil {
			return err
		}
		f.reloadable(1)
		return nil
	}
	app := &cli.App{Commands: []*cli.Command{serve}}
	if err := app.RunContext(t.Context(), append([]string{"samestep", "serve", "--settings", path}, flags...)); err != nil {
		t.Fatal(err)
	}
	f.check = func(*cli.Context) error { return nil }
	return f, write
}

// No key of a settings file is ignored in silence: each one changes a limit of the running server, or is named as one that needs a
// restart. The command line stays stronger.
func TestEverySettingIsTold(t *testing.T) {
	f, write := settingsInTest(t, "", "--players", "3")
	told := 0
	for _, key := range console.SettingsIn(f.c.Command.Flags) {
		name := key.Name()
		if key.Where == console.AsCommand {
			continue
		}
		var other string
		switch v := f.c.Value(name).(type) {
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
		c, err := f.read()
		if err != nil {
			t.Errorf("%s: %s: %v", name, other, err)
			continue
		}
		changed, waiting := f.differ(c)
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
		if before := limitsOf(f.c, 0); reflect.DeepEqual(limitsOf(c, 0), before) == key.Live {
			t.Errorf("%s: %s: got the same limits: %t, want them to differ: %t", name, other, !key.Live, key.Live)
		}
		told++
	}
	if told < 80 {
		t.Errorf("told of %d keys", told)
	}
}

// A running server takes limits from its file. A bad file changes nothing and says why.
func TestReloadSettings(t *testing.T) {
	f, write := settingsInTest(t, "max-matches: 1\n")
	o := server.Options{Log: slog.New(slog.DiscardHandler)}
	o.Limits = limitsOf(f.c, 0)
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
		err := f.reload(s, log)
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
	list := gameset.List{playable(t, minimal.Rules())}
	list[0].Usual = func(players uint8) any { return new(minimal.Usual(int(players))) }
	f.c.App.Metadata, f.matches, f.check = map[string]any{gameset.GamesKey: list}, 3, checkAgain
	l := limitsOf(f.c, 0)
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
		c, err := f.read()
		if err == nil {
			l, _, _, err = f.change(c)
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
	list := gameset.List{playable(t, minimal.Rules())}
	list[0].Usual = func(players uint8) any { return new(minimal.Usual(int(players))) }
	f.c.App.Metadata, f.matches, f.check = map[string]any{gameset.GamesKey: list}, 3, checkAgain
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
		c, err := f.read()
		if err != nil {
			t.Fatal(err)
		}
		l, changed, _, err := f.change(c)
		if got := fmt.Sprint(changed); err != nil || got != row.changed || l.MaxMatches != row.matches {
			t.Errorf("%q: got %s, %d matches, %v, want %s, %d", row.text, got, l.MaxMatches, err, row.changed, row.matches)
		}
	}
}
