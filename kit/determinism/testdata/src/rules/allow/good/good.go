//samestep:deterministic
package good

func first(units map[uint32]int32) uint32 {
	//samestep:allow maprange the caller has checked that there is only one
	for id := range units {
		return id
	}
	return 0
}

func half(x int32) bool {
	return float64(x)/2 > 1 //samestep:allow float halves of small integers are exact
}

// all is in a comment with more.
//
//samestep:allow maprange the caller sorts
func all(units map[uint32]int32) (ids []uint32) {
	for id := range units {
		ids = append(ids, id)
	}
	return ids
}
