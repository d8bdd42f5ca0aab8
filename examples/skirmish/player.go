package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// NewPlayer returns a [Bot] of normal strength in the engine's form, for tools that play any game.
func NewPlayer(p lockstep.Player, seed uint64) lockstep.Bot { return Normal.NewPlayer(p, seed) }

// NewPlayer returns a [Bot] of a strength in the engine's form.
func (s Strength) NewPlayer(p lockstep.Player, seed uint64) lockstep.Bot {
	bot := s.NewBot(p, seed)
	var values []any
	return func(s *lockstep.Simulation) []any {
		values = values[:0]
		for _, o := range bot.Think(lockstep.World[World](s)) {
			values = append(values, o.Value)
		}
		return values
	}
}

// Sized is [Defaults] with plain numbers.
func Sized(players, units int) Config { return Defaults(uint8(players), uint16(units)) }
