package grid

import "github.com/seed-49bee653/samestep/fixed"

// A Fog is the fog of war of one team. It is part of the state.
//
//	fog.Clear()
//	for each unit of the team {
//		fog.Look(shape, unit.Pos, unit.Sight)
//	}
//	fog.Remember()
type Fog struct {
	Visible  Bits // in sight at the last update
	Explored Bits // seen at an update before, or at the last one
}

// NewFog returns the fog of a team that has seen nothing.
func NewFog(s Shape) Fog { return Fog{Visible: s.NewBits(), Explored: s.NewBits()} }

// Clear begins an update: nothing is visible.
func (f *Fog) Clear() { f.Visible.Clear() }

// Look makes the cells of a disc visible, see [Bits.Disc]. Nothing blocks this sight.
func (f *Fog) Look(s Shape, at fixed.Vec2, radius int32) { f.Visible.Disc(s, at, radius) }

// Remember ends an update: what is visible is explored.
func (f *Fog) Remember() { f.Explored.Add(f.Visible) }

// Sees reports whether the team sees a position.
func (f *Fog) Sees(s Shape, p fixed.Vec2) bool { return f.Visible.HasAt(s, p) }

// Knows reports whether the team has explored a position.
func (f *Fog) Knows(s Shape, p fixed.Vec2) bool { return f.Explored.HasAt(s, p) }
