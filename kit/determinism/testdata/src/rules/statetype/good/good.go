//samestep:deterministic
package good

import "github.com/seed-49bee653/samestep/lockstep"

type World struct {
	Gold  uint32
	Speed int64
	Name  string
	Units []Unit
	index map[uint32]int `state:"derived"`
}

type Unit struct {
	ID, Target uint32
	Way        [4]uint8
}

type Config struct{ Size uint16 }

type Move struct{ To [2]int32 }

func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{Commands: []lockstep.CommandType{lockstep.Type[Move](1, "move")}}
}
