package play_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Zooming keeps the place under the pixel, except at the border of the map.
func TestZoomHoldsPlace(t *testing.T) {
	c := play.Camera{Zoom: 26 << 8, Size: 128}
	c.Resize(1280, 720)
	c.LookAt(fixed.Vec2{X: 64 * fixed.One, Y: 64 * fixed.One})
	for _, factor := range []int64{1150, 870, 700, 1300, 1300, 1100} {
		before := c.Place(900, 200)
		c.ZoomBy(factor, 900, 200)
		x, y := c.Pixel(before)
		if x < 899 || x > 901 || y < 199 || y > 201 {
			t.Errorf("zoomed by %d: the place went to %d,%d, want 900,200", factor, x, y)
		}
	}
}

func TestCameraBounds(t *testing.T) {
	c := play.Camera{Zoom: 26 << 8, Size: 64}
	c.Resize(1280, 720)
	for _, to := range [][2]int64{{-1 << 20, -1 << 20}, {1 << 20, 1 << 20}} {
		c.Pan(to[0], to[1])
		v := c.View()
		if v.Left < -2<<10 || v.Top < -2<<10 || v.Right > 66<<10 || v.Bottom > 66<<10 {
			t.Errorf("pan by %v: the view is %+v", to, v)
		}
	}
	for range 50 {
		c.ZoomBy(500, 0, 0)
	}
	if v := c.View(); v.Bottom-v.Top > 70<<10 || v.MiddleX != 32<<10 {
		t.Errorf("as far as it goes: the view is %+v", v)
	}
	for range 50 {
		c.ZoomBy(2000, 0, 0)
	}
	if c.Zoom != play.NearestZoom {
		t.Errorf("as near as it goes: %d, want %d", c.Zoom, play.NearestZoom)
	}
	if at := c.Place(-99999, 99999); at.X != 0 || at.Y >= 64*fixed.One {
		t.Errorf("a pixel beside the map is %v", at)
	}
}

// A match begins with the usual zoom, or nearer on a screen with very many pixels, where units would be tiny.
func TestFirstZoom(t *testing.T) {
	game := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(2, 40)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ width, height, want int64 }{{360, 740, 26}, {1366, 768, 26}, {1920, 1080, 26}, {3840, 2160, 48}, {7680, 4320, 72}} {
		p := play.New(0)
		p.Resize(row.width, row.height)
		p.Look(lockstep.World[skirmish.World](sim))
		if p.Zoom != row.want<<8 {
			t.Errorf("%d × %d: got %d pixels for a cell, want %d", row.width, row.height, p.Zoom>>8, row.want)
		}
	}
}

func ExamplePlayer() {
	game := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(2, 40)
	header, _ := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	sim, _ := game.NewSimulation(header)
	world := lockstep.World[skirmish.World](sim)

	p := play.New(0)
	p.Resize(800, 600)
	p.Look(world) // begins above the own base
	p.Drag(world, 0, 0, 800, 600, false)
	fmt.Println(len(p.Selected()), "selected")
	for _, command := range p.Act(world, 200, 200, false) {
		fmt.Printf("%T\n", command)
	}
	// Output:
	// 19 selected
	// *skirmish.Move
}
