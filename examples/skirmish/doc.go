// Package skirmish is a small real-time strategy game on the engine: its demonstration, the subject of its tests, and
// its benchmark.
//
// Each player has a base, workers and an army on a square map with rock in it. Workers mine crystals and carry them to
// the nearest base; crystals grow back slowly, and a base helps an owner who has next to nothing. For crystals a base
// trains workers, workers build bases, barracks and towers, and barracks train soldiers, who fight hand to hand, and
// archers, who shoot. Units that fight attack by themselves whom they see, unless they were told to move. A team sees
// what is in sight of its units, remembers what it has explored, and cannot aim at what it does not see. Buildings do
// not block the way, but push units out.
//
// Some places do something to a unit that enters: teleports take who was sent there to their partner, shrines heal it and the hoard in
// the middle of the map pays its owner; shrines and the hoard then need time to recover.
//
// Who loses the last building is defeated, and so is who leaves. The last team with an undefeated player wins. Units of
// a player whose connection is lost finish what they do and defend themselves.
//
// All distances are cells, all times ticks, positions are [fixed.Vec2]. A [World] is the state; [Rules] gives it to the
// engine:
//
//	game, err := lockstep.NewGame(skirmish.Rules())
//	settings := lockstep.DefaultSettings(4)
//	config := skirmish.Defaults(4, 400)
//	header, err := game.NewHeader(id, settings, &config)
//
// Within a tick every unit acts on the positions that the tick began with and all damage is taken at once, so neither
// the number of a player nor of a unit gives an advantage. A unit costs the same in a large army as in a small one: what
// is near is found through a grid, ways are flow fields shared by all that go to one place and worked out within a
// budget per tick, and looking around is spread over ticks by the units' IDs.
//
// A [Bot] plays for a player from outside of the simulation, by what its team sees.
package skirmish
