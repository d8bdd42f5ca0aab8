//go:build !js

package server_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A large state comes packed to a client of ours.
func TestLargeStatesArePacked(t *testing.T) {
	t.Parallel()
	const coins = 20_000 // of 16 bytes
	s := newStage(t, setup{rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
		begin := r.New
		r.New = func(w *minimal.World, settings *lockstep.Settings, config *minimal.Config) error {
			err := begin(w, settings, config)
			for i := range int64(coins) {
				w.Coins = append(w.Coins, fixed.Vec2{X: fixed.FromInt(1000 + i%7), Y: fixed.FromInt(1000)})
			}
			return err
		}
	}})
	a := s.joinWith(t, client.Options{Options: player.Options{Token: ada}})
	<-a.Ready()
	a.Do(func(c *player.Client) {
		if got := len(lockstep.World[minimal.World](c.Simulation()).Coins); got < coins {
			t.Errorf("got a state with %d coins, want at least %d", got, coins)
		}
	})
	if got := s.stats(t).SyncBytes; got == 0 || got > 16*coins/20 {
		t.Errorf("got %d bytes for a state of %d", got, 16*coins)
	}
}
