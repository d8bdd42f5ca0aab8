//go:build !js

package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// trio is a game for three or six players. Its function for the configuration panics for others.
func trio() Game {
	rules := minimal.Rules()
	start := rules.New
	rules.Name = "trio"
	rules.New = func(w *minimal.World, s *lockstep.Settings, c *minimal.Config) error {
		if s.Players%3 != 0 {
			return fmt.Errorf("got %d players, want 3 or 6", s.Players)
		}
		return start(w, s, c)
	}
	return New(rules, Bot(minimal.NewBot), Config(func(players int) minimal.Config {
		return minimal.Config{Size: 32, Coins: map[int]uint16{3: 300, 6: 600}[[]int{3: 3, 6: 6}[players]]}
	}))
}

// A verb plays with a number of seats that the game accepts. What the game's own function says of others is an error.
func TestSeatsThatFit(t *testing.T) {
	t.Parallel()
	list := gameset.List{trio().game}
	for _, row := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"demo --seconds 2", console.ExitOK, "match      3 bots", ""},
		{"fuzz --matches 1 --ticks 40", console.ExitOK, "verdict", ""},
		{"simulate --seeds 3 --minutes 0.7 --clients 8 --once", console.ExitOK, "violations 0", ""},
		{"simulate --seeds 1 --minutes 0.7 --clients 2 --once", console.ExitOK, "violations 0", ""},
		{"demo --seconds 2 --players 9", console.ExitError, "", "game trio has no configuration of a match of 9 seats: its function panicked: runtime error: index out of range [9] with length 7"},
		{"fuzz --matches 1 --players 2", console.ExitError, "", "got 2 players, want 3 or 6"},
		{"golden --add --players 8", console.ExitError, "", "no configuration of a match of 8 seats"},
		{"bench log --players 7", console.ExitError, "", "no configuration of a match of 7 seats"},
	} {
		var stdout, stderr strings.Builder
		args := strings.Fields(row.args)
		if args[0] == "demo" || args[0] == "golden" {
			args = append(args, "--dir", t.TempDir())
		}
		code := runGames(list, t.Context(), append([]string{"trio"}, args...), &stdout, &stderr, serving.Extension{})
		if code != row.code || !strings.Contains(stdout.String(), row.stdout) || !strings.Contains(stderr.String(), row.stderr) || strings.Contains(stderr.String(), "goroutine") {
			t.Errorf("%s: got code %d, %s%s\nwant code %d, %q, %q", row.args, code, stdout.String(), stderr.String(), row.code, row.stdout, row.stderr)
		}
	}
}
