package loops

import "slices"

// Each list of a map is sorted once, whichever comes first.
func tidy(units map[uint32]uint8, members map[uint32][]uint8) {
	for _, list := range members {
		slices.Sort(list)
	}
	for id := range units {
		slices.SortFunc(members[id], compare)
	}
}

func compare(a, b uint8) int { return int(a) - int(b) }

// A list that is not the map's own is sorted and read in the map's order.
func mix(members map[uint32][]uint8, all []uint8) (first uint8) {
	for _, list := range members { // want `maprange: `
		list = all
		slices.Sort(list)
		first = all[0]
	}
	for id := range members { // want `maprange: `
		slices.Sort(members[id&1])
	}
	return first
}
