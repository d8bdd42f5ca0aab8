package program

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// UsualOf returns a function for the configuration that rules elsewhere give for some players, which is the zero value if they have
// none.
func UsualOf(m abi.Machine, g *lockstep.Game) func(players uint8) any {
	return func(players uint8) any {
		if one, err := m.New(); err == nil {
			defer one.Close()
			if b, err := one.Call(abi.Usual, []byte{players}); err == nil && g.ConfigSchema().Validate(b) == nil {
				return &record.Untyped{Canonical: slices.Clone(b)}
			}
		}
		zero, err := g.ReadConfig([]byte("{}"), nil)
		if err != nil {
			panic(err) // which an empty object cannot cause
		}
		return zero
	}
}
