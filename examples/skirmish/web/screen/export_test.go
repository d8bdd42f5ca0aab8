package screen

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
)

// Pixel returns the pixel of a unit, and whether it is alive.
func (s *Screen) Pixel(id skirmish.UnitID) (x, y int64, ok bool) {
	_, w := s.Worlds()
	u := scene.Find(w, id)
	if u == nil {
		return 0, 0, false
	}
	x, y = s.camera.Pixel(u.Pos)
	return x, y, true
}
