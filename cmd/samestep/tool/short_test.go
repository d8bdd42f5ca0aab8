//go:build !js

package tool

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A game whose ticks take five seconds: a match of five minutes has 60 ticks. Each verb plays as long as that.
func TestMatchesOfFewTicks(t *testing.T) {
	t.Parallel()
	rules := minimal.Rules()
	step := rules.Step
	rules.Name, rules.Result = "turns", lockstep.Result[minimal.Config]()
	rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
		if step(w, config, turn); turn.Tick == 60 {
			turn.End(&minimal.Config{Coins: 1})
		}
	}
	list := gameset.List{New(rules, Bot(minimal.NewBot), Config(func(players int) minimal.Config { return minimal.Config{Size: 9, Coins: 400} }), Tick(5*time.Second)).game}
	verbs := map[string]string{
		"demo --dir " + t.TempDir():               "match      4 bots, 45 ticks",
		"bench log --time 1ms":                    "100 matches one after the other",
		"fuzz --matches 4":                        "every match gave the same result",
		"golden --add --dir " + t.TempDir():       "reached    1 match, 60 ticks",
		"simulate --seeds 5 --minutes 0.7 --once": "violations 0",
	}
	if !testenv.Small(t) {
		verbs["drill --players 2"] = "verdict: "
		verbs["demo --network --dir "+t.TempDir()] = "everything worked"
	}
	for args, want := range verbs {
		var stdout, stderr strings.Builder
		code := runGames(list, t.Context(), append([]string{"turns"}, strings.Fields(args)...), &stdout, &stderr, serving.Extension{})
		if code != console.ExitOK || !strings.Contains(stdout.String(), want) {
			t.Errorf("%s: got code %d, %s%s\nwant %q", args, code, stdout.String(), stderr.String(), want)
		}
	}
}

// A match of 12 ticks is enough for each verb, or the verb says what it needs, and a shorter one is refused before it starts. None waits for
// ticks of ten seconds.
func TestMatchesThatEndAtOnce(t *testing.T) {
	testenv.Long(t)
	for _, row := range []struct {
		end  lockstep.Tick
		args string
		want string
		code int
	}{
		{12, "demo --dir " + t.TempDir(), "9 ticks", console.ExitOK},
		{12, "demo --network --dir " + t.TempDir(), "everything worked", console.ExitOK},
		{12, "drill --players 2", "answers right", console.ExitOK},
		{12, "fuzz --matches 4", "every match gave the same result", console.ExitOK},
		{12, "golden --add --dir " + t.TempDir(), "1 match, 12 ticks", console.ExitOK},
		{12, "simulate --seeds 6 --minutes 0.7 --once", "violations 0", console.ExitOK},
		{5, "demo --dir " + t.TempDir(), "the rules end the match at tick 5, want at least 6 ticks", console.ExitError},
		{5, "demo --network --dir " + t.TempDir(), "the rules end the match at tick 5, want at least 6 ticks", console.ExitError},
		{24, "demo --network --seconds 2 --dir " + t.TempDir(), "the rules end the match at tick 24, want at least 40 ticks", console.ExitError},
		{24, "demo --seconds 30 --dir " + t.TempDir(), "--seconds: got 30, want at least 40 for 4 ticks of this game", console.ExitUsage},
		{5, "drill --players 2", "the rules end the match in tick 5, want at least 9 ticks", console.ExitError},
	} {
		rules := minimal.Rules()
		step := rules.Step
		rules.Name, rules.Result = "turns", lockstep.Result[minimal.Config]()
		rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
			if step(w, config, turn); turn.Tick == row.end {
				turn.End(&minimal.Config{Coins: 1})
			}
		}
		list := gameset.List{New(rules, Bot(minimal.NewBot), Config(func(players int) minimal.Config { return minimal.Config{Size: 9, Coins: 400} }), Tick(10*time.Second)).game}
		var out strings.Builder
		code := runGames(list, t.Context(), append([]string{"turns"}, strings.Fields(row.args)...), &out, &out, serving.Extension{})
		if code != row.code || !strings.Contains(out.String(), row.want) {
			t.Errorf("%d ticks: %s: got code %d, %s\nwant %d and %q", row.end, row.args, code, out.String(), row.code, row.want)
		}
	}
}

// The author's floor counts in each verb that says what its matches reached.
func TestFloorOfGame(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"fuzz --matches 1":                  "want 100 %",
		"golden --add --dir " + t.TempDir(): "want 100 %",
		"simulate --game minimal --seeds 1 --minutes 0.2 --only none --once": "want 100 %",
		"simulate --seeds 1 --minutes 0.2 --game drones --only none --once":  "",
	} {
		list := gameset.List{New(minimal.Rules(), Bot(minimal.NewBot), Floor(0, 0, 100), Config(func(players int) minimal.Config { return minimal.Config{Size: 9, Coins: 400} })).game}
		var stdout, stderr strings.Builder
		code := runGames(list, t.Context(), append([]string{"minimal"}, strings.Fields(args)...), &stdout, &stderr, serving.Extension{})
		if (code == console.ExitOK) != (want == "") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: got code %d, %s%s\nwant %q", args, code, stdout.String(), stderr.String(), want)
		}
	}
	if err := New(minimal.Rules(), Floor(0, 101, 0)).err; err == nil {
		t.Error("a floor of 101 %: got no error")
	}
}

// Rules whose result is not fixed end each verb that plays them with 3, and no verb says that all copies are equal.
func TestVerbsOfTwoResults(t *testing.T) {
	t.Setenv("SAMESTEP_LINE", "off")
	verbs := []string{"golden --add --dir " + t.TempDir(), "fuzz --matches 1 --dir " + t.TempDir()}
	if !testenv.Small(t) {
		verbs = append(verbs, "demo --network --seconds 8 --dir "+t.TempDir())
	}
	for _, args := range verbs {
		rules := minimal.Rules()
		step := rules.Step
		var steps atomic.Uint32
		rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
			step(w, config, turn)
			w.Rand.Lo += uint64(steps.Add(1))
		}
		list := gameset.List{New(rules, Bot(minimal.NewBot), Config(func(players int) minimal.Config { return minimal.Config{Size: 9, Coins: 400} }), Tick(10*time.Second)).game}
		var out strings.Builder
		code := runGames(list, t.Context(), append([]string{"minimal"}, strings.Fields(args)...), &out, &out, serving.Extension{})
		if code != console.ExitDesync || strings.Contains(out.String(), "for all") && !strings.Contains(out.String(), "not for all") {
			t.Errorf("%s: got code %d, %s", args, code, out.String())
		}
	}
}
