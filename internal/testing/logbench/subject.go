package logbench

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Subject is the game that is measured, and its match.
type Subject struct {
	Game    *lockstep.Game
	Config  any // pointer to the configuration of the match
	Players uint8
	Bot     func(p lockstep.Player, seed uint64) lockstep.Bot
	Loop    func() Loop // the result of [NewLoop]

	// WarmUp and Ticks are the ticks before the measurement, and the measured ones. Part
	// is the number of ticks between two readings of the clock, and divides Ticks. 0 means
	// 100, 600 and 20.
	WarmUp, Ticks, Part lockstep.Tick

	// Units is how many units must be alive on average while the match is measured. 0 means
	// that they are not counted.
	Units uint16

	arrange func(*lockstep.Simulation) error // changes the state at tick 0; nil: as New made it
	seen    func(*lockstep.Simulation)       // is called after each measured tick; nil disables it
}

// Skirmish returns a match of skirmish, without an end, that begins with some units.
func Skirmish(units uint16) *Subject {
	return battleOf(endless(skirmish.Rules().Step), units)
}

func battleOf(rules lockstep.Rules[skirmish.World, skirmish.Config], units uint16) *Subject {
	config := skirmish.Defaults(4, units)
	return &Subject{
		Game: lockstep.MustGame(rules), Config: &config, Players: 4, Bot: soldiers, Loop: NewLoop(rules),
		WarmUp: 30, Ticks: 60, Part: 2,
	}
}

// War returns a battle of skirmish, in which units are mixed all over the map. It begins
// with a quarter more of them, because some fall.
func War(units uint16) *Subject {
	s := battleOf(skirmish.Rules(), units+units/4)
	s.Units, s.arrange = units, scatter
	return s
}

// longWar returns a war for what needs more ticks: it goes on because the fallen are replaced.
func longWar(units uint16) *Subject {
	s := Skirmish(units + units/4)
	s.Units, s.arrange = units, scatter
	s.Ticks = 600
	return s
}

// alive returns the number of units and buildings in a state of skirmish.
func alive(s *lockstep.Simulation) int { return len(lockstep.World[skirmish.World](s).Units) }

// soldiers returns a bot of skirmish.
func soldiers(p lockstep.Player, seed uint64) lockstep.Bot {
	bot := skirmish.NewBot(p, seed)
	var values []any
	return func(s *lockstep.Simulation) []any {
		values = values[:0]
		for _, order := range bot.Think(lockstep.World[skirmish.World](s)) {
			values = append(values, order.Value)
		}
		return values
	}
}

// scatter puts the soldiers and archers at random places of the map without rocks.
func scatter(sim *lockstep.Simulation) error {
	var w skirmish.World
	codec := state.MustCompile[skirmish.World]()
	if err := codec.Decode(sim.AppendState(nil), &w); err != nil {
		return err
	}
	dice := fixed.NewRand(9)
	for i := range w.Units {
		u := &w.Units[i]
		for u.Kind == skirmish.Soldier || u.Kind == skirmish.Archer {
			x, y := dice.N(uint32(w.Map.Size)), dice.N(uint32(w.Map.Size))
			if !w.Map.Rock(int(x), int(y)) {
				u.Pos = fixed.Vec2{X: fixed.Q(x)*fixed.One + fixed.Half, Y: fixed.Q(y)*fixed.One + fixed.Half}
				u.Goal, u.Home = u.Pos, u.Pos
				break
			}
		}
	}
	return sim.Restore(0, codec.Append(nil, &w))
}
