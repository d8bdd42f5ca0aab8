package scene_test

import (
	"encoding/binary"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// worlds returns two states of a match, one tick apart.
func worlds(t testing.TB, ticks lockstep.Tick, units uint16) (previous, current *skirmish.World) {
	t.Helper()
	game := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(2, units)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	var states [2]*skirmish.World
	for i := range states {
		s, err := game.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		for s.Tick() < ticks+lockstep.Tick(i) {
			if err := s.Step(&lockstep.Frame{Tick: s.Tick() + 1}); err != nil {
				t.Fatal(err)
			}
		}
		states[i] = lockstep.World[skirmish.World](s)
	}
	return states[0], states[1]
}

// A picture is a decoded frame.
type picture struct {
	head                                  []int32
	zones, crystals, units, effects, dots [][]int32
}

func read(t *testing.T, b []byte) (p picture) {
	t.Helper()
	var words []int32
	for ; len(b) >= 4; b = b[4:] {
		words = append(words, int32(binary.LittleEndian.Uint32(b)))
	}
	p.head, words = words[:scene.HeadWords], words[scene.HeadWords:]
	take := func(count int32, step int) (list [][]int32) {
		for range count {
			list = append(list, words[:step])
			words = words[step:]
		}
		return list
	}
	p.zones = take(p.head[scene.HeadZones], 4)
	p.crystals = take(p.head[scene.HeadCrystals], 3)
	p.units = take(p.head[scene.HeadUnits], 6)
	p.effects = take(p.head[scene.HeadEffects], 5)
	p.dots = take(p.head[scene.HeadDots], 1)
	if len(b) != 0 || len(words) != 0 {
		t.Errorf("%d words and %d bytes are left of the frame", len(words), len(b))
	}
	return p
}

// everything is a view of the whole map.
func everything(w *skirmish.World) scene.View {
	side := int32(w.Map.Size) << scene.PlaceBits
	return scene.View{Right: side, Bottom: side, Team: scene.Everything, Player: 255, Dots: true}
}

func TestFrame(t *testing.T) {
	before, now := worlds(t, 40, 100)
	v := everything(now)
	selected := now.Units[3].ID
	v.Selected = []skirmish.UnitID{selected}
	var p scene.Painter
	got := read(t, p.Frame(nil, before, now, player.One/2, &v))
	if len(got.units) != len(now.Units) || len(got.dots) != len(now.Units) || len(got.crystals) != len(now.Crystals) || len(got.zones) != len(now.Zones) {
		t.Fatalf("got %d units, %d dots, %d crystals, %d zones", len(got.units), len(got.dots), len(got.crystals), len(got.zones))
	}
	moved := 0
	for i, u := range got.units {
		old, new := &before.Units[i], &now.Units[i]
		middle := (old.Pos.X + new.Pos.X) / 2 >> (32 - scene.PlaceBits)
		if d := u[0] - int32(middle); d < -1 || d > 1 {
			t.Errorf("unit %d is at %d, want %d, half-way", u[2], u[0], middle)
		}
		if u[2] != int32(new.ID) || u[3]&255 != int32(new.Kind) || u[3]>>8&255 != int32(new.Owner) || u[4] != 1000 {
			t.Errorf("unit %d: look %#x, health %d", new.ID, u[3], u[4])
		}
		flags := u[3] >> 16 & 255
		if flags&scene.Walking != 0 != (old.Pos != new.Pos) || flags&scene.Selected != 0 != (new.ID == selected) {
			t.Errorf("unit %d: flags %#x", new.ID, flags)
		}
		if way := new.Pos.Sub(old.Pos); way != (fixed.Vec2{}) {
			moved++
			if got := uint8(uint32(u[3]) >> 24); got != uint8(way.Heading()>>24) {
				t.Errorf("unit %d looks to %d, and goes to %v", new.ID, got, way.Heading())
			}
		}
	}
	if moved < 5 {
		t.Errorf("only %d units move", moved)
	}
	if tick := got.head[scene.HeadTick]; tick != 41 || got.head[scene.HeadSize] != int32(now.Map.Size) {
		t.Errorf("tick %d, size %d", tick, got.head[scene.HeadSize])
	}
}

// A team's frame has nothing that the team does not see.
func TestFogHides(t *testing.T) {
	before, now := worlds(t, 40, 100)
	v := everything(now)
	v.Team = 0
	var p scene.Painter
	got := read(t, p.Frame(nil, before, now, 0, &v))
	own := 0
	for _, u := range got.units {
		if unit := scene.Find(now, skirmish.UnitID(u[2])); unit.Team == 0 {
			own++
		} else if !now.Sees(0, unit.Pos) && !(unit.Kind.Building() && now.Knows(0, unit.Pos)) {
			t.Errorf("unit %d of the other team is drawn", unit.ID)
		}
	}
	if own != int(now.Players[0].Units) || len(got.dots) != len(got.units) || len(got.units) == len(now.Units) {
		t.Errorf("got %d units, %d of them own, and %d dots", len(got.units), own, len(got.dots))
	}
	fog := scene.Fog(nil, now, 0)
	for y := range int(now.Map.Size) {
		for x := range int(now.Map.Size) {
			at := fixed.Vec2{X: fixed.Q(x) << 32, Y: fixed.Q(y) << 32}
			want := byte(scene.Unknown)
			if now.Sees(0, at) {
				want = scene.Visible
			} else if now.Knows(0, at) {
				want = scene.Explored
			}
			if got := fog[y*int(now.Map.Size)+x]; got != want {
				t.Fatalf("the fog at %d,%d is %d, want %d", x, y, got, want)
			}
		}
	}
	if all := scene.Fog(nil, now, scene.Everything); all[0] != scene.Visible || len(all) != len(fog) {
		t.Error("who sees everything has fog")
	}
	rocks, ground := 0, scene.Ground(nil, now)
	for i, b := range ground {
		rocks += int(b)
		if (b == 1) != now.Map.Rock(i%int(now.Map.Size), i/int(now.Map.Size)) {
			t.Fatalf("cell %d: %d", i, b)
		}
	}
	if rocks == 0 || len(ground) != len(fog) {
		t.Errorf("%d rocks in %d cells", rocks, len(ground))
	}
}

// A frame has only things on the screen.
func TestOnScreen(t *testing.T) {
	before, now := worlds(t, 10, 100)
	base := now.Units[0].Pos
	x, y := int32(base.X>>(32-scene.PlaceBits)), int32(base.Y>>(32-scene.PlaceBits))
	v := scene.View{Left: x - 10, Right: x + 10, Top: y - 10, Bottom: y + 10, Team: scene.Everything}
	var p scene.Painter
	got := read(t, p.Frame(nil, before, now, 0, &v))
	if n := len(got.units); n == 0 || n == len(now.Units) || len(got.dots) != 0 {
		t.Errorf("got %d of %d units, and %d dots", n, len(now.Units), len(got.dots))
	}
}

// A teleported unit is not drawn on the way.
func TestTeleported(t *testing.T) {
	before, now := worlds(t, 10, 100)
	now.Units[5].Pos = fixed.Vec2{X: 32 * fixed.One, Y: 32 * fixed.One}
	v := everything(now)
	var p scene.Painter
	got := read(t, p.Frame(nil, before, now, player.One/2, &v))
	if want := int32(now.Units[5].Pos.X >> (32 - scene.PlaceBits)); got.units[5][0] != want {
		t.Errorf("got %d, want %d", got.units[5][0], want)
	}
}

func TestEffects(t *testing.T) {
	before, now := worlds(t, 10, 100)
	var e scene.Effects
	soldier, worker := now.Units[len(now.Units)-1], now.Units[1]
	e.Observe(now, skirmish.Shot{By: soldier.ID, At: worker.ID})
	e.Observe(now, skirmish.Shot{By: 99999, At: worker.ID}) // somebody who is dead
	e.Observe(now, skirmish.Death{Kind: skirmish.Base, At: worker.Pos, Owner: 1})
	e.Observe(now, skirmish.BuildingDone{At: worker.Pos})
	e.Observe(now, skirmish.Entered{Unit: worker.ID})
	v := everything(now)
	v.Effects = &e
	var p scene.Painter
	sorts := func() (list []int32) {
		for _, x := range read(t, p.Frame(nil, before, now, 0, &v)).effects {
			list = append(list, x[0]&255)
		}
		return list
	}
	if got := sorts(); len(got) != 4 || got[1] != scene.Ruin || got[2] != scene.Done || got[3] != scene.Spark {
		t.Errorf("got %v", got)
	}
	v.Now = now.Match.Tick + 25
	if got := sorts(); len(got) != 1 || got[0] != scene.Ruin {
		t.Errorf("25 ticks later: got %v", got)
	}
	v.Now = 1 // before they happened
	if got := sorts(); len(got) != 0 {
		t.Errorf("before: got %v", got)
	}
	for range 5000 {
		e.Observe(now, skirmish.Death{At: worker.Pos})
	}
	v.Now = 0
	if got := sorts(); len(got) != 1024 {
		t.Errorf("got %d effects, want 1024", len(got))
	}
	if e.Clear(); len(sorts()) != 0 {
		t.Error("effects are left")
	}
	v.Ways, v.Selected, v.Player = true, []skirmish.UnitID{worker.ID}, worker.Owner
	if got := sorts(); len(got) != 1 || got[0] != scene.Way {
		t.Errorf("ways: got %v", got)
	}
}

// BenchmarkFrame measures a frame of 1,000 units.
func BenchmarkFrame(b *testing.B) {
	before, now := worlds(b, 100, 1000)
	v := everything(now)
	var p scene.Painter
	dst := p.Frame(nil, before, now, 0, &v)
	b.ReportAllocs()
	for b.Loop() {
		dst = p.Frame(dst[:0], before, now, player.One/3, &v)
	}
}
