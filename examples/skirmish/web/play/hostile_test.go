package play_test

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/state"
)

// A server may send a state with any value in any field. The page may show nonsense, but does not crash.
func TestNonsense(t *testing.T) {
	g := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(2, 60)
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := state.ParseSchema(h.StateSchema)
	if err != nil {
		t.Fatal(err)
	}
	clean := sim.AppendState(nil)
	random := rand.New(rand.NewPCG(1, 2))
	restored := 0
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		b := append([]byte(nil), clean...)
		leaves, err := schema.Leaves(b)
		if err != nil {
			t.Fatal(err)
		}
		path, at := "", random.IntN(1500)
		if random.IntN(2) == 0 {
			at = random.IntN(60) // the fields at the beginning, and the map's size
		}
		for leaf := range leaves {
			if at--; at >= 0 {
				continue
			}
			path = leaf.Path
			if leaf.Node.Kind() == state.Bool || leaf.Node.Kind() == state.String {
				leaf.Flip()
				break
			}
			for i := range leaf.Bytes {
				leaf.Bytes[i] = byte(random.Uint32())
			}
			break
		}
		if sim.Restore(1, b) != nil {
			continue
		}
		restored++
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("after a change of %s: %v\n%s", path, v, debug.Stack())
				}
			}()
			look(lockstep.World[skirmish.World](sim))
		}()
	}
	if restored < rounds/2 {
		t.Errorf("only %d of %d states were taken", restored, rounds)
	}
}

// look calls all that a page calls with a state.
func look(w *skirmish.World) {
	var painter scene.Painter
	var effects scene.Effects
	p := play.New(0)
	p.Resize(1280, 800)
	p.Look(w)
	view := p.View()
	view.Team, view.Player, view.Selected, view.Dots, view.Ways, view.Effects = p.Team(w), uint8(p.Seat), p.Selected(), true, true, &effects
	painter.Frame(nil, w, w, player.One/2, &view)
	scene.Fog(nil, w, p.Team(w))
	if n := len(scene.Ground(nil, w)); n > skirmish.MaxSize*skirmish.MaxSize {
		panic(n)
	}
	p.Panel(w)
	p.Drag(w, 0, 0, 1280, 800, false)
	p.Panel(w)
	for x := int64(0); x < 1280; x += 160 {
		p.Click(w, x, 400, false, true)
		p.Act(w, x, 300, false)
	}
	p.Ghost(w, 640, 400)
	for _, key := range []string{"KeyI", "KeyF", "Digit1", "KeyB", "Home"} {
		p.Key(w, key, false, false)
		p.Target(w, 640, 400, false)
	}
	p.Panel(w)
	painter.Frame(nil, w, w, player.One, &view)
}
