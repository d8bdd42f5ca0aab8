package scene

import "github.com/seed-49bee653/samestep/examples/skirmish"

// What a byte of the fog says of a cell.
const (
	Unknown  = 0 // never seen
	Explored = 1 // seen at some time
	Visible  = 2 // seen now
)

// lookTicks is how often a team's fog changes: it looks at ticks that are equal to
// its number modulo this.
const lookTicks = 8

// fogTick returns the tick at which a team looked last.
func fogTick(w *skirmish.World, team uint8) uint32 {
	if int(team) >= len(w.Fog) {
		return 0
	}
	return w.Match.Tick - (w.Match.Tick-uint32(team))%lookTicks
}

// Side returns how many cells the map has along a side. A server may send a state
// with any number there.
func Side(w *skirmish.World) int { return min(int(w.Map.Size), skirmish.MaxSize) }

// Fog appends what a team knows of each cell.
func Fog(dst []byte, w *skirmish.World, team uint8) []byte {
	side := Side(w)
	if int(team) >= len(w.Fog) {
		for range side * side {
			dst = append(dst, Visible)
		}
		return dst
	}
	fog, stride := &w.Fog[team], (side+63)/64
	has := func(set []uint64, word int, bit uint64) bool { return word < len(set) && set[word]&bit != 0 }
	for y := range side {
		for x := range side {
			word, bit := y*stride+x/64, uint64(1)<<(x%64)
			switch {
			case has(fog.Visible, word, bit):
				dst = append(dst, Visible)
			case has(fog.Explored, word, bit):
				dst = append(dst, Explored)
			default:
				dst = append(dst, Unknown)
			}
		}
	}
	return dst
}

// Ground appends 1 for each cell of rock, and 0 for the others.
func Ground(dst []byte, w *skirmish.World) []byte {
	side := Side(w)
	for y := range side {
		for x := range side {
			rock := byte(0)
			if w.Map.Rock(x, y) {
				rock = 1
			}
			dst = append(dst, rock)
		}
	}
	return dst
}
