//go:build !js

package tool

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

func TestFlagsFirst(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "samestep", "samestep"},
		{"flags stand first already", "samestep replay verify --json a", "samestep replay verify --json -- a"},
		{"flag behind the file", "samestep replay verify a --json", "samestep replay verify --json -- a"},
		{"flag with a value", "samestep replay dump a --tick 5 --json", "samestep replay dump --tick 5 --json -- a"},
		{"value after an equals sign", "samestep replay dump a --tick=5 b", "samestep replay dump --tick=5 -- a b"},
		{"value that looks like a flag", "samestep replay dump a --tick --json", "samestep replay dump --tick --json -- a"},
		{"flag without its value", "samestep replay dump a --tick", "samestep replay dump --tick -- a"},
		{"unknown flag", "samestep replay verify a --fast b", "samestep replay verify --fast -- a b"},
		{"after two dashes all are arguments", "samestep replay verify -- --json", "samestep replay verify -- --json"},
		{"a dash is an argument", "samestep replay verify - --json", "samestep replay verify --json -- -"},
		{"help", "samestep help demo", "samestep help demo"},
		{"help of a verb", "samestep replay --help", "samestep replay --help"},
		{"unknown verb", "samestep fly --high", "samestep fly --high"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := console.FlagsFirst(app, strings.Fields(c.in)), strings.Fields(c.want); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// An error of the flag parser names the flag as typed, the value, and what was expected.
func TestFlagMistakes(t *testing.T) {
	t.Setenv("SAMESTEP_MAX_MATCHES", "")
	for line, want := range map[string]string{
		"serve --players x":                 `usage: --players: got "x", want a whole number of 0 or more; see samestep serve --help`,
		"serve -players=-1":                 `--players: got "-1", want a whole number of 0 or more; see`,
		"serve --players":                   `--players: got no value, want a whole number of 0 or more; see`,
		"serve --dir":                       `--dir: got no value, want a value; see`,
		"serve --resume=perhaps":            `--resume: got "perhaps", want true or false; see`,
		"serve --token-file x":              `unknown flag --token-file; see samestep serve --help; did you mean --tokens?`,
		"join URL --token-file x":           `unknown flag --token-file; see samestep join --help; did you mean --token?`,
		"join URL --for 3s":                 `unknown flag --for; see samestep join --help; did you mean --time?`,
		"join URL --time 3":                 `usage: --time: got "3", want a time such as 30s or 1m30s; see samestep join --help`,
		"join URL --=x":                     `got "--=x", want a flag such as --help; see`,
		"replay verify FILE -jsno":          `unknown flag --jsno; see samestep replay verify --help; did you mean --json?`,
		"bench log --minutes many":          `usage: --minutes: got "many", want a whole number; see`,
		"--loud":                            `unknown flag --loud; see samestep --help`,
		"SAMESTEP_MAX_MATCHES=x serve":      `SAMESTEP_MAX_MATCHES: got "x", want a whole number of 0 or more; see samestep serve --help`,
		"SAMESTEP_IDLE=5 serve":             `SAMESTEP_IDLE: got "5", want a time such as 30s or 1m30s; see`,
		"SAMESTEP_WEB=perhaps serve":        `SAMESTEP_WEB: got "perhaps", want true or false; see`,
		"SAMESTEP_DURABILITY=often serve":   `SAMESTEP_DURABILITY: got "often", want none`,
		"SAMESTEP_ALLOWED_HOST=a/b serve":   `SAMESTEP_ALLOWED_HOST: server: allowed host: got "a/b"`,
		"SAMESTEP_LISTEN=nowhere serve":     `SAMESTEP_LISTEN: got "nowhere", want HOST:PORT`,
		"SAMESTEP_GRACE=0s serve --dir x":   `SAMESTEP_GRACE: got 0s, want`,
		"SAMESTEP_PLAYERS=5 serve --bots 6": `--bots: got 6, want at most --players`,
	} {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(line)
			if name, value, ok := strings.Cut(words[0], "="); ok && strings.HasPrefix(name, "SAMESTEP") {
				t.Setenv(name, value)
				words = words[1:]
			}
			var out bytes.Buffer
			code := tooltest.Run(t.Context(), append([]string{"samestep"}, words...), &out, &out)
			if code != console.ExitUsage || !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("got exit code %d and %s, want %d and %s", code, &out, console.ExitUsage, want)
			}
		})
	}
}
