//samestep:deterministic
package bad

import "github.com/seed-49bee653/samestep/lockstep"

type World struct {
	Gold  int            // want `statetype: `
	Where uintptr        // want `statetype: `
	Speed float32        // want `statetype: `
	Names map[uint32]int // want `statetype: `
	Units []Unit
}

type Unit struct {
	Target *Unit  // want `statetype: `
	Think  func() // want `statetype: `
}

type Config struct{ Size uint } // want `statetype: `

type Move struct{ To [2]int } // want `statetype: `

func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{Commands: []lockstep.CommandType{lockstep.Type[Move](1, "move")}}
}
