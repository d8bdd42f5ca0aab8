//go:build !js

package tool

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/about"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A shell completes values: those of --game, and of the bots and scenarios of the game that is named, of flags with few words, and of keys.
func TestCompleteValues(t *testing.T) {
	for line, want := range map[string]string{
		"serve --game ":                          "skirmish minimal platforms",
		"serve --game mi":                        "minimal",
		"replay verify --rules ":                 "",
		"serve --durability ":                    "none interval frame",
		"bench net --durability f":               "frame",
		"serve --log-level w":                    "warn",
		"serve --resume ":                        "",
		"join --bot ":                            "default none",
		"demo --game skirmish --scenario ":       strings.Join(gameset.ChoiceNames(games[0].Scenarios), " "),
		"demo --bot ":                            strings.Join(gameset.ChoiceNames(games[0].Opponents), " "),
		"demo --game minimal --bot ":             "",
		"serve --set desync=re":                  "desync=resync desync=remove",
		"serve --set desync =":                   "log resync remove",
		"serve --set desync = re":                "resync remove",
		"serve --set relay=":                     "relay=true relay=false",
		"serve --set game=skirmish --set gra":    "grace=",
		"serve --set grace=":                     "",
		"simulate --relay ":                      "",
		"serve --vers":                           "--version",
		"serve --grac":                           "",
		"serve --settings ":                      "",
		"replay ver":                             "verify",
		"xyz --game ":                            "",
		"serve --set max-matches=20 --set proxy": "proxy-header= proxy-protocol=",
	} {
		var out bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep", about.CompleteWord}, strings.Split(line, " ")...), &out, &out); code != console.ExitOK {
			t.Errorf("%s: got exit code %d", line, code)
		}
		got, words := strings.Fields(out.String()), strings.Fields(want)
		if line == "serve --game " { // the program has more
			got = slices.DeleteFunc(got, func(w string) bool { return !slices.Contains(words, w) })
		}
		if !slices.Equal(got, words) {
			t.Errorf("%s: got %q, want %q", line, got, words)
		}
	}
}
