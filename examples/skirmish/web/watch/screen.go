package watch

import (
	"cmp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A Screen shows where a [Viewer] stands. It belongs to the same goroutine.
type Screen struct {
	viewer  *Viewer
	camera  play.Camera
	painter scene.Painter
	effects scene.Effects
	team    uint8
	chosen  []skirmish.UnitID // one, or none
	follow  bool
	placed  bool // the camera was
}

// NewScreen returns a Screen that shows the whole map.
func NewScreen(v *Viewer) *Screen {
	s := &Screen{viewer: v, team: scene.Everything}
	v.Observe = s.effects.Observe
	v.Jumped = s.effects.Clear
	_, w := v.Worlds()
	s.camera.Size = int64(scene.Side(w))
	return s
}

// Frame appends the frame of what lies a fraction of the way from the tick
// before to the one that the viewer stands at, in the form of package scene.
func (s *Screen) Frame(dst []byte, width, height int64, f player.Fraction, dots bool) []byte {
	s.camera.Resize(width, height)
	if !s.placed {
		s.whole()
	}
	before, now := s.viewer.Worlds()
	if u := s.unit(); u != nil && s.follow {
		at := u.Pos
		if was := scene.Find(before, u.ID); was != nil {
			at = fixed.Vec2{X: player.Lerp(was.Pos.X, u.Pos.X, f), Y: player.Lerp(was.Pos.Y, u.Pos.Y, f)}
		}
		s.camera.LookAt(at)
	}
	v := s.camera.View()
	v.Team, v.Dots, v.Chosen, v.Effects = s.team, dots, s.chosen, &s.effects
	if u := s.unit(); u != nil {
		v.Player, v.Ways = u.Owner, true
	}
	return s.painter.Frame(dst, before, now, f, &v)
}

// whole shows the whole map.
func (s *Screen) whole() {
	s.placed = true
	_, w := s.viewer.Worlds()
	half := fixed.Q(w.Map.Size) * fixed.Half
	s.camera.Zoom = play.NearestZoom
	s.camera.ZoomBy(1, s.camera.Width/2, s.camera.Height/2)
	s.camera.LookAt(fixed.Vec2{X: half, Y: half})
}

// Fog appends what the team that is looked at knows of each cell.
func (s *Screen) Fog(dst []byte) []byte {
	_, w := s.viewer.Worlds()
	return scene.Fog(dst, w, s.team)
}

// Ground appends the ground of each cell.
func (s *Screen) Ground(dst []byte) []byte {
	_, w := s.viewer.Worlds()
	return scene.Ground(dst, w)
}

// Pan moves the camera by so many pixels, and follows nobody any more.
func (s *Screen) Pan(dx, dy int64) {
	s.follow = false
	s.camera.Pan(dx, dy)
}

// Zoom changes the zoom to so many thousandths of what it is, around a pixel.
func (s *Screen) Zoom(thousandths, x, y int64) { s.camera.ZoomBy(thousandths, x, y) }

// LookAt moves the camera to a place, in 1/65536 of the map.
func (s *Screen) LookAt(x, y int64) {
	s.follow = false
	size := fixed.Q(s.camera.Size) << 16
	s.camera.LookAt(fixed.Vec2{X: size * fixed.Q(x), Y: size * fixed.Q(y)})
}

// See says whose sight is shown: that of a team, or scene.Everything.
func (s *Screen) See(team uint8) { s.team = team }

// Choose chooses a unit, or with 0 none.
func (s *Screen) Choose(id skirmish.UnitID) {
	s.chosen, s.follow = s.chosen[:0], s.follow && id != 0
	if id != 0 {
		s.chosen = append(s.chosen, id)
	}
}

// Chosen returns the chosen unit, or 0, and whether the camera goes with it.
func (s *Screen) Chosen() (id skirmish.UnitID, follow bool) {
	if len(s.chosen) == 0 {
		return 0, false
	}
	return s.chosen[0], s.follow
}

// Follow lets the camera go with the chosen unit, or not.
func (s *Screen) Follow(yes bool) { s.follow = yes && len(s.chosen) > 0 }

// unit returns the chosen unit if it lives.
func (s *Screen) unit() *skirmish.Unit {
	id, _ := s.Chosen()
	_, w := s.viewer.Worlds()
	return scene.Find(w, id)
}

// fingertip is how far from a unit's edge it can be picked, in pixels.
const fingertip = 12

// Pick chooses the unit under a pixel, or the nearest one very close to it, or
// none.
func (s *Screen) Pick(x, y int64) skirmish.UnitID {
	_, w := s.viewer.Worlds()
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
	s.Choose(best)
	return best
}

// Pixel returns where a unit is on the screen, and whether it lives.
func (s *Screen) Pixel(id skirmish.UnitID) (x, y int64, ok bool) {
	_, w := s.viewer.Worlds()
	u := scene.Find(w, id)
	if u == nil {
		return 0, 0, false
	}
	x, y = s.camera.Pixel(u.Pos)
	return x, y, true
}
