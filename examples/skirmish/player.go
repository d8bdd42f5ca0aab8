package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// NewPlayer returns a [Bot] in the engine's form, for tools that play any game.
func NewPlayer(p lockstep.Player, seed uint64) lockstep.Bot {
	bot := NewBot(p, seed)
	var values []any
	return func(s *lockstep.Simulation) []any {
		values = values[:0]
		for _, o := range bot.Think(lockstep.World[World](s)) {
			values = append(values, o.Value)
		}
		return values
	}
}

// Usual returns the options of a match with 400 units, or more if that many players need them.
func Usual(players int) Config { return Sized(players, 400) }

// Sized is [Defaults] with plain numbers.
func Sized(players, units int) Config { return Defaults(uint8(players), uint16(units)) }
