package scene_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Drawing a match of bots does not change it, with the vision of any team.
func TestPainterOnlyReads(t *testing.T) {
	config := skirmish.Defaults(2, 60)
	bots := [2]*skirmish.Bot{skirmish.NewBot(0, 3), skirmish.NewBot(1, 3)}
	var p scene.Painter
	var frame, fog []byte
	drawn := 0
	locksteptest.Check(t, lockstep.MustGame(skirmish.Rules()), locksteptest.Options{
		Config: &config, Players: 2, Ticks: 120, Every: 12, Rate: 2,
		Skip: []string{"restore", "late join", "copy", "redo", "refused", "derived", "fields", "round trip", "machine"},
		Play: func(p lockstep.Player, s *lockstep.Simulation) (values []any) {
			for _, order := range bots[p].Think(lockstep.World[skirmish.World](s)) {
				values = append(values, order.Value)
			}
			return values
		},
		Render: func(v player.Interpolation) {
			before, now := lockstep.World[skirmish.World](v.Previous), lockstep.World[skirmish.World](v.Current)
			view := everything(now)
			if drawn++; drawn%2 == 0 {
				view.Team = 0
			}
			frame = p.Frame(frame[:0], before, now, v.Fraction, &view)
			fog = scene.Fog(fog[:0], now, 0)
		},
	})
	if drawn != 30 || len(frame) < 1000 || len(fog) == 0 {
		t.Errorf("drawn %d times, %d bytes and %d of fog", drawn, len(frame), len(fog))
	}
}
