//go:build !js

package tool

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// boomEnv names the function of the boom game that panics.
const boomEnv = "SAMESTEP_TEST_BOOM"

func boom(where string) {
	if os.Getenv(boomEnv) == where {
		panic("boom of " + where)
	}
}

// boomGame is a game of which one function panics. With views it has no Validate.
func boomGame() []Game {
	r := minimal.Rules()
	r.Name = "boom"
	start, step, describe := r.New, r.Step, r.Describe
	r.New = func(w *minimal.World, s *lockstep.Settings, c *minimal.Config) error {
		boom("New")
		return start(w, s, c)
	}
	r.Step = func(w *minimal.World, c *minimal.Config, t *lockstep.Turn) {
		if t.Tick > 5 {
			boom("Step")
		}
		if os.Getenv(boomEnv) == "Refuse" {
			t.Refuse(&lockstep.Command{Player: 9, Sequence: 99}, "no")
		}
		step(w, c, t)
	}
	r.Derive = func(*minimal.World, *minimal.Config) { boom("Derive") }
	r.Describe = func(c *lockstep.Command) string { boom("Describe"); return describe(c) }
	r.SelfTest = func() uint64 { boom("SelfTest"); return 1 }
	r.Validate = func(*minimal.World, *minimal.Config, *lockstep.Command) error { boom("Validate"); return nil }
	if where := os.Getenv(boomEnv); where == "View" || where == "refuse" {
		r.Validate = nil
		r.View = lockstep.View(func(*minimal.World, *minimal.Config, lockstep.Viewer, *struct{ A uint8 }) error {
			boom("View")
			return nil
		},
			func(*struct{ A uint8 }, *lockstep.Command) error { boom("refuse"); return nil })
	}
	options := []Option{
		Bot(func(p lockstep.Player, seed uint64) lockstep.Bot {
			boom("Bot")
			own := minimal.NewBot(p, seed)
			return func(s *lockstep.Simulation) []any { boom("Think"); return own(s) }
		}),
		Config(func(players int) (minimal.Config, error) {
			boom("Config")
			if os.Getenv(boomEnv) == "error of Config" {
				return minimal.Config{}, errors.New("the maps are closed")
			}
			return minimal.Usual(players), nil
		}),
		Scenario("big", 0, func(players int) minimal.Config { boom("Scenario"); return minimal.Usual(players) }),
	}
	switch os.Getenv(boomEnv) {
	case "Assets", "Load", "read":
		r.Assets = func(*minimal.Config) []lockstep.Asset {
			boom("Assets")
			return []lockstep.Asset{{Name: "dot", SHA256: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d", Size: 1}}
		}
		r.Load = func(*minimal.Config, [][]byte) error { boom("Load"); return nil }
		options = append(options, Assets(func(lockstep.Asset) ([]byte, error) { boom("read"); return []byte{0}, nil }))
	case "Compat":
		options = append(options, Compat(lockstep.DefaultSettings(1), func(*server.Server, CompatOptions) http.Handler { boom("Compat"); return nil }))
	}
	return []Game{New(r, options...)}
}

// A panic of any function that a game gives to the program ends in a sentence that says whose it is, and in a documented exit code. What goes
// on without the function says so too. A stack comes at most behind the sentence.
func TestPanicsOfCallbacks(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("boom")
	if err != nil {
		t.Fatal(err)
	}
	replay := filepath.Join(t.TempDir(), "base")
	run := func(where string, line string) (code int, text string) {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, program, strings.Fields(strings.NewReplacer("DIR", t.TempDir(), "FILE", replay+"/boom.ssr").Replace(line))...)
		c.Env = append(os.Environ(), boomEnv+"="+where)
		c.Stdout, c.Stderr, c.Dir = &out, &out, t.TempDir() // fuzz writes what it finds
		_ = c.Run()                                         // the exit code says it
		return c.ProcessState.ExitCode(), out.String()
	}
	if code, out := run("", "demo --seconds 2 --dir "+replay); code != console.ExitOK {
		t.Fatalf("without a panic: exit code %d\n%s", code, out)
	}
	const demo, verify = "demo --seconds 2 --dir DIR", "replay verify FILE"
	for _, row := range []struct {
		where, line string
		code        int
		want        string
	}{
		{"SelfTest", demo, 1, "the game panicked in SelfTest: boom of SelfTest"},
		{"New", demo, 1, "the game panicked in New: boom of New"},
		{"Assets", demo, 1, "the game panicked in Assets: boom of Assets"},
		{"Load", demo, 1, "the game panicked in Load: boom of Load"},
		{"Derive", demo, 7, "the game panicked in Derive: boom of Derive"},
		{"Derive", verify, 7, "the game panicked in Derive: boom of Derive"},
		{"Step", demo, 7, "tick 6: the game panicked in Step: boom of Step"},
		{"Step", verify, 7, "tick 6: the rules panic here in Step: boom of Step"},
		{"Step", "fuzz --matches 1 --ticks 40", 7, "panicked in Step: boom of Step"},
		{"Refuse", demo, 7, "the game panicked in Step: lockstep: Turn.Refuse: got command 99 of player 9, want a player's command of tick 1"},
		{"Validate", demo, 7, "the game panicked in Validate: boom of Validate"},
		{"refuse", demo, 7, "the game panicked in Validate: boom of refuse"},
		{"View", "replay feed --viewer player:0 FILE", 1, "the game panicked in View: boom of View"},
		{"Describe", "replay dump --commands FILE", 0, "go {"}, // the fields instead of words
		{"Bot", demo, 1, "boom: game boom: its maker of bots (tool.Bot, tool.NamedBot) panicked for player 0: boom of Bot\n\n"},
		{"Think", demo, 1, "boom: game boom: its bot (tool.Bot, tool.NamedBot) panicked as player 0 at tick 1: boom of Think\n\n"},
		{"Think", "fuzz --matches 1 --ticks 40", 1, "boom: game boom: its bot (tool.Bot, tool.NamedBot) panicked as player "},
		{"Config", demo, 1, "game boom has no configuration of a match of 4 seats: its function panicked: boom of Config"},
		{"error of Config", demo, 1, "game boom has no configuration of a match of 4 seats: the maps are closed"},
		{"Scenario", demo + " --scenario big", 1, "game boom has no configuration of a match of 4 seats: its function panicked: boom of Scenario"},
		{"read", demo, 1, "the game's function of tool.Assets panicked: boom of read"},
		{"Compat", "serve --listen 127.0.0.1:0 --dir DIR --set compat=true", 1, "the game's function of tool.Compat panicked: boom of Compat"},
	} {
		code, out := run(row.where, row.line)
		at := strings.Index(out, row.want)
		if stack := strings.Index(out, "\ngoroutine "); at < 0 || code != row.code || stack >= 0 && stack < at || strings.Contains(out, "panic: boom") {
			t.Errorf("%s, %s: got exit code %d\n%s\nwant %d and %s", row.where, row.line, code, out, row.code, row.want)
		}
	}
}
