package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// Fog is a team's fog of war: bit sets with rows of ⌈Size/64⌉ words, as in [Map].
type Fog struct {
	Visible  []uint64 // in sight at the last update
	Explored []uint64 // seen before
}

const (
	lookTicks = 8  // between two updates of a team's fog
	maxSight  = 16 // cells
)

// halfWidths[r][d] is half the width of a disc of radius r, d rows from its middle.
var halfWidths = func() (table [maxSight + 1][maxSight + 1]int32) {
	for r := range table {
		for d := 0; d <= r; d++ {
			table[r][d] = int32(fixed.ISqrt64(uint64(r*r - d*d + r)))
		}
	}
	return table
}()

// look updates the fog of the teams whose turn it is in this tick.
func (w *World) look() {
	for team := int(w.Match.Tick % lookTicks); team < len(w.Fog); team += lookTicks {
		w.reveal(uint8(team))
	}
}

func (w *World) reveal(team uint8) {
	fog := &w.Fog[team]
	clear(fog.Visible)
	for i := range w.Units {
		if u := &w.Units[i]; u.Team == team {
			w.uncover(fog.Visible, u.Pos, u.Kind.Traits().Sight)
		}
	}
	for i, seen := range fog.Visible[:min(len(fog.Visible), len(fog.Explored))] {
		fog.Explored[i] |= seen
	}
}

// uncover sets the bits of a disc of cells.
func (w *World) uncover(visible []uint64, at fixed.Vec2, sight int32) {
	side, stride := int32(w.Map.Size), int32(w.Map.stride())
	if int(side*stride) > len(visible) {
		return
	}
	cx, cy := int32(at.X>>32), int32(at.Y>>32)
	for y := max(cy-sight, 0); y <= min(cy+sight, side-1); y++ {
		half := halfWidths[sight][max(y-cy, cy-y)]
		left, right := max(cx-half, 0), min(cx+half, side-1)
		if left > right {
			continue
		}
		row := visible[y*stride : (y+1)*stride]
		first, last := left/64, right/64
		head, tail := ^uint64(0)<<(left%64), ^uint64(0)>>(63-right%64)
		if first == last {
			row[first] |= head & tail
			continue
		}
		row[first] |= head
		row[last] |= tail
	}
}

// Sees reports whether a team sees a place.
func (w *World) Sees(team uint8, at fixed.Vec2) bool {
	return int(team) < len(w.Fog) && w.bit(w.Fog[team].Visible, at)
}

// Knows reports whether a team has explored a place.
func (w *World) Knows(team uint8, at fixed.Vec2) bool {
	return int(team) < len(w.Fog) && w.bit(w.Fog[team].Explored, at)
}

func (w *World) bit(set []uint64, at fixed.Vec2) bool {
	x, y := int64(at.X)>>32, int64(at.Y)>>32
	if x < 0 || y < 0 || x >= int64(w.Map.Size) || y >= int64(w.Map.Size) {
		return false
	}
	word := int(y)*w.Map.stride() + int(x/64)
	return word < len(set) && set[word]>>(x%64)&1 == 1
}
