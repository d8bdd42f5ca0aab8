// Package screen shows a replay of skirmish: the camera over the map at a tick of a [watch.Viewer], the selected unit and
// the vision of a team.
package screen

import (
	"bytes"
	"cmp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/state"
)

// A Screen shows the present tick of a [watch.Viewer]. It belongs to the same goroutine.
type Screen struct {
	viewer   *watch.Viewer
	camera   play.Camera
	painter  scene.Painter
	effects  scene.Effects
	team     uint8
	selected []skirmish.UnitID // one, or none
	follow   bool
	placed   bool // the camera was
	marks    []scene.Mark
	compared [2]lockstep.Tick // the ticks of the marks, each plus one
}

// New returns a Screen that shows the whole map.
func New(v *watch.Viewer) *Screen {
	s := &Screen{viewer: v, team: scene.Everything}
	v.Observe = func(sim *lockstep.Simulation, event any) {
		s.effects.Observe(lockstep.World[skirmish.World](sim), event)
	}
	v.Jumped = s.effects.Clear
	_, w := s.Worlds()
	s.camera.Size = int64(scene.Side(w))
	return s
}

// Worlds returns the states of the previous and the present tick, for reading. The page draws the way between them.
func (s *Screen) Worlds() (before, now *skirmish.World) {
	a, b := s.viewer.States()
	return lockstep.World[skirmish.World](a), lockstep.World[skirmish.World](b)
}

// Frame appends a frame between the previous tick and the present one, at a fraction of the way (see package scene).
func (s *Screen) Frame(dst []byte, width, height int64, f player.Fraction, dots bool) []byte {
	s.camera.Resize(width, height)
	if !s.placed {
		s.whole()
	}
	before, now := s.Worlds()
	if u := s.unit(); u != nil && s.follow {
		at := u.Pos
		if was := scene.Find(before, u.ID); was != nil {
			at = fixed.Vec2{X: player.Lerp(was.Pos.X, u.Pos.X, f), Y: player.Lerp(was.Pos.Y, u.Pos.Y, f)}
		}
		s.camera.LookAt(at)
	}
	v := s.camera.View()
	v.Team, v.Dots, v.Selected, v.Effects, v.Marks = s.team, dots, s.selected, &s.effects, s.marks
	if u := s.unit(); u != nil {
		v.Player, v.Ways = u.Owner, true
	}
	return s.painter.Frame(dst, before, now, f, &v)
}

// whole shows the whole map.
func (s *Screen) whole() {
	s.placed = true
	_, w := s.Worlds()
	half := fixed.Q(w.Map.Size) * fixed.Half
	s.camera.Zoom = play.NearestZoom
	s.camera.ZoomBy(1, s.camera.Width/2, s.camera.Height/2)
	s.camera.LookAt(fixed.Vec2{X: half, Y: half})
}

// Beside lets another screen show the same part of the map, and marks the units that differ between both.
func (s *Screen) Beside(other *Screen) {
	other.camera, other.placed, other.team = s.camera, s.placed, s.team
	other.selected = append(other.selected[:0], s.selected...)
	if at := [2]lockstep.Tick{s.viewer.Tick() + 1, other.viewer.Tick() + 1}; at != s.compared {
		s.compared = at
		_, a := s.Worlds()
		_, b := other.Worlds()
		s.marks, other.marks = scene.Differ(s.marks[:0], other.marks[:0], a, b)
	}
}

// Fog appends the fog of war of the shown team.
func (s *Screen) Fog(dst []byte) []byte {
	_, w := s.Worlds()
	return scene.Fog(dst, w, s.team)
}

// Ground appends the ground of each cell.
func (s *Screen) Ground(dst []byte) []byte {
	_, w := s.Worlds()
	return scene.Ground(dst, w)
}

// Pan moves the camera by pixels, and stops following.
func (s *Screen) Pan(dx, dy int64) {
	s.follow = false
	s.camera.Pan(dx, dy)
}

// Zoom multiplies the zoom by thousandths/1000, around a pixel.
func (s *Screen) Zoom(thousandths, x, y int64) { s.camera.ZoomBy(thousandths, x, y) }

// LookAt moves the camera to a place, in 1/65536 of the map.
func (s *Screen) LookAt(x, y int64) {
	s.follow = false
	size := fixed.Q(s.camera.Size) << 16
	s.camera.LookAt(fixed.Vec2{X: size * fixed.Q(x), Y: size * fixed.Q(y)})
}

// Center returns the middle of the screen, in 1/1000 of a cell, and the zoom in 1/256 of a pixel for a cell.
func (s *Screen) Center() (x, y, zoom int64) {
	v := s.camera.View()
	return int64(v.MiddleX) * 1000 >> scene.PlaceBits, int64(v.MiddleY) * 1000 >> scene.PlaceBits, s.camera.Zoom
}

// Aim moves the camera to what Center has returned, and stops following.
func (s *Screen) Aim(x, y, zoom int64) {
	s.follow, s.placed = false, true
	s.camera.Zoom = min(max(zoom, play.FarthestZoom), play.NearestZoom)
	x, y = min(max(x, 0), s.camera.Size*1000), min(max(y, 0), s.camera.Size*1000)
	s.camera.LookAt(fixed.Vec2{X: fixed.Q(x) << 32 / 1000, Y: fixed.Q(y) << 32 / 1000})
}

// near is the zoom at which a unit is easy to see, in 1/256 of a pixel for a cell.
const near = 32 << 8

// Near shows the selected unit from near, if it is alive.
func (s *Screen) Near() {
	if u := s.unit(); u != nil {
		s.placed = true
		s.camera.Zoom = max(s.camera.Zoom, near)
		s.camera.LookAt(u.Pos)
	}
}

// See shows the vision of a team, or scene.Everything.
func (s *Screen) See(team uint8) { s.team = team }

// Select selects a unit, or with 0 none.
func (s *Screen) Select(id skirmish.UnitID) {
	s.selected, s.follow = s.selected[:0], s.follow && id != 0
	if id != 0 {
		s.selected = append(s.selected, id)
	}
}

// Selected returns the selected unit, or 0, and whether the camera follows it.
func (s *Screen) Selected() (id skirmish.UnitID, follow bool) {
	if len(s.selected) == 0 {
		return 0, false
	}
	return s.selected[0], s.follow
}

// Follow lets the camera follow the selected unit, or not.
func (s *Screen) Follow(yes bool) { s.follow = yes && len(s.selected) > 0 }

// unit returns the selected unit if it is alive.
func (s *Screen) unit() *skirmish.Unit {
	id, _ := s.Selected()
	_, w := s.Worlds()
	return scene.Find(w, id)
}

// fingertip is the distance from a unit's edge at which a click still hits it, in pixels.
const fingertip = 12

// Pick selects the unit under a pixel, or the nearest one very close to it, or none.
func (s *Screen) Pick(x, y int64) skirmish.UnitID {
	_, w := s.Worlds()
	best, bestAway := skirmish.UnitID(0), int64(0)
	for i := range w.Units {
		u := &w.Units[i]
		if s.team != scene.Everything && u.Team != s.team && !w.Sees(s.team, u.Pos) {
			continue
		}
		ux, uy := s.camera.Pixel(u.Pos)
		reach := int64(u.Kind.Traits().Radius)>>(32-scene.PlaceBits)*s.camera.Zoom>>(8+scene.PlaceBits) + fingertip
		away := (ux-x)*(ux-x) + (uy-y)*(uy-y)
		if away > reach*reach {
			continue
		}
		if best == 0 || cmp.Less(away, bestAway) {
			best, bestAway = u.ID, away
		}
	}
	s.Select(best)
	return best
}

var unitCodec = state.MustCompile[skirmish.Unit]()

// Unit returns the fields of a unit as a JSON object, in the order of the state, or "" if the unit is not alive.
func (s *Screen) Unit(id skirmish.UnitID) string {
	_, w := s.Worlds()
	u := scene.Find(w, id)
	if u == nil {
		return ""
	}
	var text bytes.Buffer
	if err := unitCodec.Schema().DumpJSON(&text, unitCodec.Append(nil, u)); err != nil {
		panic(err) // the codec wrote the bytes, and writing to a buffer cannot fail
	}
	return text.String()
}
