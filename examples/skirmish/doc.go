// Package skirmish is a small real-time strategy game: it demonstrates, tests and benchmarks the engine.
//
// Each player has a base, workers and an army on a square map with rock in it. Workers mine crystals and carry them to
// the nearest base; crystals grow back slowly, and a base helps an owner who has next to nothing. For crystals a base
// trains workers, workers build bases, barracks and towers, and barracks train soldiers, who fight hand to hand, and
// archers, who shoot. Soldiers, archers, towers and bases attack enemies in sight by themselves, unless they have an
// order to move. A team sees the surroundings of its units, remembers explored places, and cannot aim at hidden units.
// Buildings do not block the way, but push units out.
//
// Zones act on units that enter, and some on units that leave. Teleports take units that were sent there to their
// partner, one after the other. Shrines heal. The hoard in the middle of the map pays the unit's owner, and a worker that
// leaves it carries a load away. Shrines and the hoard then need time to recover. A spawn zone belongs to the player who
// was there first until the last of that player's units has left; a building of the team whose rally point is in the zone
// delivers its new units there.
//
// With diplomacy, a team is an alliance that changes. A player invites others to the team ([Propose]), who join it
// ([Accept]), or leaves it ([Break]). Allies share their sight and do not fight. The last enemies cannot ally, so a match is
// won by a fight or by surrender. A player changes the team at most once in 200 ticks.
//
// A player is defeated by losing the last building, or by leaving. A team surrenders when more than half of its players who
// take part vote for it ([Surrender]): absent and defeated players do not count, and a player without allies surrenders at
// once. The last team with an undefeated player wins. Units of a disconnected player finish their orders and defend
// themselves.
//
// Players share their sight with observers or not ([Permit], [World.Shows]). The page keeps to that; but each program in a
// match has the whole state, so it is a courtesy and no protection.
//
// The world keeps samples of each player's army and economy for charts ([World.History]). A player shows a place to the team
// by a [Ping].
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
