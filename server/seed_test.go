//go:build !js

package server_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// Each match draws its own seed, unless the settings have one.
func TestSeedIsDrawn(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		seeds := map[uint64]bool{}
		for _, name := range []string{"one", "two", "three"} {
			settings := lockstep.DefaultSettings(2)
			if name == "three" {
				settings.Seed = 99
			}
			m, err := s.server.Create(server.MatchSpec{Name: name, Game: s.game, Settings: settings, Config: &minimal.Config{Size: 9}})
			if err != nil {
				t.Fatal(err)
			}
			seeds[m.Status().Settings.Seed] = true
		}
		if len(seeds) != 3 || seeds[0] || !seeds[99] {
			t.Errorf("got seeds %v, want two that were drawn, and 99", seeds)
		}
	})
}
