package protocol_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

func ExampleSchemas() {
	h, _ := lockstep.MustGame(unitGame[struct{ Armor uint8 }]()).NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &struct{}{})
	var theirs protocol.Schemas = protocol.SchemasOf(h)
	var commands []protocol.CommandSchema = theirs.Commands
	fmt.Println(len(commands), theirs.Check(lockstep.MustGame(unitGame[struct{ Armor uint16 }]())))
	// Output: 0 lockstep: other state schema: your build has Units[].Armor uint16, the match has Units[].Armor uint8
}

// unitGame returns the rules of a game with units of a type.
func unitGame[U any]() lockstep.Rules[struct{ Units []U }, struct{}] {
	return lockstep.Rules[struct{ Units []U }, struct{}]{
		Name: "units", Build: "1",
		New:  func(*struct{ Units []U }, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(*struct{ Units []U }, *struct{}, *lockstep.Turn) {},
	}
}
