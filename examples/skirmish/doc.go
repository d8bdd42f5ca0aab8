// Package skirmish is a small real-time strategy game: it demonstrates, tests and benchmarks the engine.
//
// Each player has a base, workers and an army on a square map with rock in it. Workers mine crystals and carry them to
// the nearest base; crystals grow back slowly, and a base helps an owner who has next to nothing. For crystals a base
// trains workers, workers build bases, barracks and towers, and barracks train soldiers, who fight hand to hand, and
// archers, who shoot. Soldiers, archers, towers and bases attack enemies in sight by themselves, unless they have an
// order to move. A team sees the surroundings of its units, remembers explored places, and cannot aim at hidden units.
// Buildings do not block the way, but push units out.
//
// Zones act on units that enter: teleports take units that were sent there to their partner, shrines heal, and the
// hoard in the middle of the map pays the unit's owner. Shrines and the hoard then need time to recover.
//
// A player is defeated by losing the last building, or by leaving. The last team with an undefeated player wins. Units
// of a disconnected player finish their orders and defend themselves.
//
// All distances are cells, all times ticks, positions are [fixed.Vec2]. A [World] is the state; [Rules] gives it to the
// engine:
//
//	game, err := lockstep.NewGame(skirmish.Rules())
//	settings := lockstep.DefaultSettings(4)
//	config := skirmish.Defaults(4, 400)
//	header, err := game.NewHeader(id, settings, &config)
//
// Within a tick every unit acts on the positions at the start of the tick, and all damage is applied at once, so no
// player or unit has an advantage by its number. A unit takes the same time to simulate in a large army as in a small
// one: a grid finds neighbours, all units with one goal share a flow field, which is computed within a budget per tick,
// and the units' IDs spread looking for enemies over the ticks.
//
// A [Bot] plays for a player from outside of the simulation, with the vision of its team.
package skirmish
