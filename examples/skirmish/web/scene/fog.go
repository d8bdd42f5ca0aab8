package scene

import "github.com/seed-49bee653/samestep/examples/skirmish"

// The values of a cell in the fog.
const (
	Unknown  = 0 // unexplored
	Explored = 1 // seen before
	Visible  = 2 // seen now
)

// lookTicks is the period in ticks at which a team's fog changes: at ticks equal to its number modulo lookTicks.
const lookTicks = 8

// fogTick returns the tick of a team's last update. For observers it is a tick since which the fog has hardly changed.
func fogTick(w *skirmish.World, team uint8) uint32 {
	if team == skirmish.Observers {
		return w.Match.Tick - w.Match.Tick%lookTicks
	}
	if int(team) >= len(w.Fog) {
		return 0
	}
	return w.Match.Tick - (w.Match.Tick-uint32(team))%lookTicks
}

// Side returns the cells along a side of the map, within limits: a server may send a state with any number.
func Side(w *skirmish.World) int { return min(int(w.Map.Size), skirmish.MaxSize) }

// Fog appends a team's fog of war, or that of [skirmish.Observers], one byte for each cell.
func Fog(dst []byte, w *skirmish.World, team uint8) []byte {
	side := Side(w)
	if team == skirmish.Observers {
		return observed(dst, w, side)
	}
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

// observed appends the best that any team sees that shares its sight.
func observed(dst []byte, w *skirmish.World, side int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, side*side)...) // Unknown
	var of []byte
	for team := range min(len(w.Fog), skirmish.MaxPlayers) {
		if !w.Shows(uint8(team)) {
			continue
		}
		of = Fog(of[:0], w, uint8(team))
		for i, seen := range of {
			dst[start+i] = max(dst[start+i], seen)
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
