//samestep:deterministic
package bad

func first(units map[uint32]int32) uint32 {
	//samestep:allow maprange // want `allow: `
	for id := range units { // want `maprange: `
		return id
	}
	return 0 //samestep:allow float zero is exact // want `allow: `
}

//samestep:allow luck it is a game // want `allow: `
func lucky() {}
