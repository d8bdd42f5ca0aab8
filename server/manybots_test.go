//go:build !js

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// The server's bots play in their matches without connections: two in each of 200 matches meet no limit.
func TestManyBots(t *testing.T) {
	t.Parallel()
	const matches = 200
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MaxPerAddress: 1}}, newFile: inNowhere}, func(t *testing.T, s *stage) {
		asked := make([]int, 2*matches) // how often a bot was asked for its commands; each match has a goroutine
		for i := range matches {
			bots := make([]lockstep.Bot, 2)
			for p := range bots {
				bots[p] = func(*lockstep.Simulation) []any {
					asked[2*i+p]++
					return nil
				}
			}
			settings := lockstep.DefaultSettings(2)
			_, err := s.server.Create(server.MatchSpec{
				Name: fmt.Sprintf("bots-%d", i), Game: s.game, Settings: settings, Config: &minimal.Config{Size: 5, Coins: 5}, Bots: bots,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		status, metrics := s.ask(t, http.MethodGet, "/metrics", "", "")
		if status != http.StatusOK {
			t.Fatalf("got %d", status)
		}
		for line := range strings.Lines(string(metrics)) {
			if strings.HasPrefix(line, "samestep_turned_away_total") && !strings.HasSuffix(line, " 0\n") {
				t.Errorf("refused: %s", line)
			}
		}
		s.stop()
		for i, n := range asked {
			if n < 20 {
				t.Errorf("bot %d of match %d was asked %d times in 2 s", i%2, i/2, n)
			}
		}
	})
}
