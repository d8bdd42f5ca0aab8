package scene_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Who knows a match by its views sees the same picture as who has its state: all that the team sees, and nothing else.
func TestPictureOfViews(t *testing.T) {
	config := skirmish.Defaults(2, 60)
	config.Size, config.Obstacles = 48, 5
	game := lockstep.MustGame(skirmish.Rules())
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	bots := [2]*skirmish.Bot{skirmish.NewBot(0, 3), skirmish.NewBot(1, 3)}
	viewers := []lockstep.Viewer{{As: lockstep.AsTeam}, {As: lockstep.AsTeam, Number: 1}, {}}
	known := make([]skirmish.World, len(viewers))
	payloads, sequence := game.NewPayloads(), lockstep.Sequence(0)
	seen, remembered := 0, 0
	for sim.Tick() < 3000 {
		now, f := lockstep.World[skirmish.World](sim), lockstep.Frame{Tick: sim.Tick() + 1}
		for p, bot := range bots {
			for _, order := range bot.Think(now) {
				kind, b, err := payloads.Encode(order.Value)
				if err != nil {
					t.Fatal(err)
				}
				sequence++
				f.Commands = append(f.Commands, lockstep.Command{Tick: f.Tick, Player: lockstep.Player(p), Sequence: sequence, Kind: kind, Payload: slices.Clone(b)})
			}
		}
		if err := sim.Step(&f); err != nil {
			t.Fatal(err)
		}
		for i, viewer := range viewers {
			if sim.Tick()%10 > 0 {
				continue
			}
			b, err := sim.AppendView(nil, viewer)
			if err != nil {
				t.Fatal(err)
			}
			var view skirmish.View
			if err := lockstep.DecodeView(game, b, &view); err != nil {
				t.Fatal(err)
			}
			known[i].Know(&view, sim.Tick())
			team := view.Team
			if team == skirmish.Observers && now.Open() {
				team = scene.Everything
			}
			s, r := same(t, now, &known[i], team)
			seen, remembered = seen+s, remembered+r
		}
	}
	if seen < 1000 || remembered < 10 {
		t.Errorf("compared %d units of others in sight and %d remembered buildings: that proves nothing", seen, remembered)
	}
}

// same compares the pictures of a state and of what a team knows of it. It returns the units of others in sight, and the
// remembered buildings.
func same(t *testing.T, now, known *skirmish.World, team uint8) (seen, remembered int) {
	t.Helper()
	tick := now.Match.Tick
	draw := func(w *skirmish.World) (picture, map[int32][]int32) {
		v := everything(now)
		v.Team = team
		var p scene.Painter
		got, units := read(t, p.Frame(nil, w, w, player.One, &v)), map[int32][]int32{}
		for _, u := range got.units {
			units[u[2]] = u
		}
		return got, units
	}
	want, state := draw(now)
	got, view := draw(known)
	for id, u := range state {
		unit := scene.Find(now, skirmish.UnitID(id))
		own, sight := unit.Team == team || team == scene.Everything, now.Sees(team, unit.Pos)
		v := view[id]
		switch {
		case v == nil && (own || sight):
			t.Fatalf("tick %d, team %d: the views lack unit %d", tick, team, id)
		case v == nil || !own && !sight:
			continue // a building in the fog, as it was last seen
		case u[0] != v[0] || u[1] != v[1] || u[3]&0xffff != v[3]&0xffff || u[4] != v[4]:
			t.Fatalf("tick %d, team %d: unit %d is %v, want %v", tick, team, id, v, u)
		case own && u[3]>>16&0xff != v[3]>>16&0xff:
			t.Fatalf("tick %d, team %d: unit %d has flags %b, want %b", tick, team, id, v[3]>>16&0xff, u[3]>>16&0xff)
		case own && unit.Kind.Building() && u[5] != v[5]:
			t.Fatalf("tick %d, team %d: building %d has come to %x, want %x", tick, team, id, v[5], u[5])
		}
		if !own {
			seen++
		}
	}
	for i := range known.Units {
		u := &known.Units[i]
		if scene.Find(now, u.ID) != nil && (u.Team == team || team == scene.Everything || now.Sees(team, scene.Find(now, u.ID).Pos)) {
			continue
		}
		if !u.Kind.Building() || now.Sees(team, u.Pos) {
			t.Fatalf("tick %d, team %d: unit %d is in the views, and out of sight", tick, team, u.ID)
		}
		remembered++
	}
	if len(got.crystals) != len(want.crystals) || len(got.zones) != len(want.zones) {
		t.Fatalf("tick %d, team %d: %d crystals and %d zones, want %d and %d", tick, team, len(got.crystals), len(got.zones), len(want.crystals), len(want.zones))
	}
	for i, z := range want.zones {
		at := fixed.Vec2{X: fixed.Q(z[0]) << (32 - scene.PlaceBits), Y: fixed.Q(z[1]) << (32 - scene.PlaceBits)}
		if g := got.zones[i]; z[0] != g[0] || z[1] != g[1] || z[2] != g[2] || z[3] != g[3] && now.Sees(team, at) {
			t.Fatalf("tick %d, team %d: zone %v, want %v", tick, team, g, z)
		}
	}
	for i, c := range want.crystals {
		at := fixed.Vec2{X: fixed.Q(c[0]) << (32 - scene.PlaceBits), Y: fixed.Q(c[1]) << (32 - scene.PlaceBits)}
		if g := got.crystals[i]; c[0] != g[0] || c[1] != g[1] || c[2] != g[2] && now.Sees(team, at) {
			t.Fatalf("tick %d, team %d: crystal %v, want %v", tick, team, g, c)
		}
	}
	if a, b := scene.Fog(nil, now, team), scene.Fog(nil, known, team); string(a) != string(b) {
		t.Fatalf("tick %d, team %d: another fog", tick, team)
	}
	return seen, remembered
}
