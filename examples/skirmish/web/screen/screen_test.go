package screen_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/screen"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/watch"
)

// open returns a golden replay.
func open(t *testing.T, name string) *watch.Viewer {
	t.Helper()
	b, err := os.ReadFile("../../../../testdata/replays/" + name + ".ssr")
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(b, lockstep.MustGame(skirmish.Rules()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// at goes to a tick.
func at(t *testing.T, v *watch.Viewer, tick lockstep.Tick) {
	t.Helper()
	for v.Seek(tick); !v.Work(100); {
	}
	if v.Tick() != tick || v.Fault() != nil {
		t.Fatalf("got tick %d, %v, want %d", v.Tick(), v.Fault(), tick)
	}
}

// head returns a word of a frame's header.
func head(frame []byte, word int) int { return int(binary.LittleEndian.Uint32(frame[4*word:])) }

func TestScreen(t *testing.T) {
	v := open(t, "duel")
	s := screen.New(v)
	at(t, v, 500)
	_, w := s.Worlds()
	frame := func() []byte { return s.Frame(nil, 800, 600, player.One/2, true) }

	whole := frame()
	if head(whole, scene.HeadUnits) != len(w.Units) || head(whole, scene.HeadDots) != len(w.Units) || head(whole, scene.HeadTick) != 500 {
		t.Errorf("at first: %d units and %d dots at tick %d, want all %d", head(whole, scene.HeadUnits), head(whole, scene.HeadDots), head(whole, scene.HeadTick), len(w.Units))
	}
	if len(s.Ground(nil)) != int(w.Map.Size)*int(w.Map.Size) || len(s.Fog(nil)) != len(s.Ground(nil)) {
		t.Errorf("the ground has %d cells, the fog %d", len(s.Ground(nil)), len(s.Fog(nil)))
	}
	s.See(0)
	if one := frame(); head(one, scene.HeadUnits) >= len(w.Units) || head(one, scene.HeadUnits) == 0 {
		t.Errorf("a team sees %d units of %d", head(one, scene.HeadUnits), len(w.Units))
	}
	s.See(scene.Everything)

	// the base of player 1, by a click on it
	var base skirmish.UnitID
	for i := range w.Units {
		if u := &w.Units[i]; u.Kind == skirmish.Base && u.Owner == 1 {
			base = u.ID
		}
	}
	x, y, ok := s.Pixel(base)
	if got := s.Pick(x, y); !ok || got != base {
		t.Errorf("picked unit %d at %d,%d, want %d", got, x, y, base)
	}
	s.Follow(true)
	s.Zoom(3000, 0, 0)
	near := frame()
	if x, y, _ := s.Pixel(base); x < 200 || x > 600 || y < 150 || y > 450 || head(near, scene.HeadUnits) >= len(w.Units) {
		t.Errorf("following: the base is at %d,%d, and %d units are on the screen", x, y, head(near, scene.HeadUnits))
	}
	s.Pan(50, 0)
	if _, follow := s.Selected(); follow {
		t.Error("who moves the camera follows no more")
	}
	s.LookAt(0, 0)
	if x, y, _ := s.Pixel(base); x == 0 && y == 0 {
		t.Error("the camera did not move")
	}
	s.Near()
	if x, y, _ := s.Pixel(base); x < 200 || x > 600 || y < 150 || y > 450 {
		t.Errorf("near: the base is at %d,%d", x, y)
	}
	if got := s.Pick(-5000, -5000); got != 0 {
		t.Errorf("picked unit %d beside the map", got)
	}
	if id, _ := s.Selected(); id != 0 {
		t.Errorf("unit %d is still selected", id)
	}
	if _, _, ok := s.Pixel(0); ok {
		t.Error("no unit has a place")
	}
}

// Unit returns the fields of the state by name.
func TestFields(t *testing.T) {
	v := open(t, "duel")
	at(t, v, 300)
	s := screen.New(v)
	_, w := s.Worlds()
	for i := range w.Units {
		u := &w.Units[i]
		var got struct {
			ID     skirmish.UnitID
			Health uint16
			Pos    struct{ X json.Number }
		}
		if err := json.Unmarshal([]byte(s.Unit(u.ID)), &got); err != nil {
			t.Fatalf("unit %d: %v in %s", u.ID, err, s.Unit(u.ID))
		}
		if got.ID != u.ID || got.Health != u.Health || got.Pos.X.String() != u.Pos.X.String() {
			t.Errorf("unit %d: got %+v", u.ID, got)
		}
	}
	if got := s.Unit(0); got != "" {
		t.Errorf("got unit 0 %q", got)
	}
}
