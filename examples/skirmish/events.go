package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// The events of Step, for display and statistics. They are values, and not part of the state.
type (
	// Shot: a unit hit another one. The damage is applied at the end of the tick.
	Shot struct {
		By, At UnitID
		Damage uint32
	}

	// Death: a unit died, or a building was destroyed. By hit it last.
	Death struct {
		Unit  UnitID
		Kind  UnitKind
		Owner uint8
		By    UnitID
		At    fixed.Vec2
	}

	// Trained: a building trained a unit.
	Trained struct {
		Unit  UnitID
		Kind  UnitKind
		Owner uint8
		By    UnitID
	}

	// BuildingDone: workers completed a building.
	BuildingDone struct {
		Unit  UnitID
		Kind  UnitKind
		Owner uint8
		At    fixed.Vec2
	}

	// Entered: a unit entered a zone that is ready.
	Entered struct {
		Unit UnitID
		Zone uint8 // index
		Kind ZoneKind
	}

	// Exited: a unit left a zone, or died in it.
	Exited struct {
		Unit UnitID
		Zone uint8 // index
		Kind ZoneKind
	}

	// Claimed: a spawn zone has another holder.
	Claimed struct {
		Zone   uint8 // index
		Holder uint8 // 1 + player, or 0 for nobody
	}

	// Proposed: a player invited another one to the team, or took that back.
	Proposed struct {
		By, To    uint8
		Withdrawn bool
	}

	// Allied: a player joined the team of another one.
	Allied struct{ Player, With uint8 }

	// AllianceBroken: a player left the team.
	AllianceBroken struct{ Player uint8 }

	// SurrenderVoted: a player voted for the surrender of the team, or took the vote back.
	SurrenderVoted struct {
		Player        uint8
		Withdrawn     bool
		Votes, Needed uint8
	}

	// Surrendered: most players of a team voted for that. All its players are defeated.
	Surrendered struct{ Team uint8 }

	// SightPermitted: a player shares the sight with observers, or no longer does.
	SightPermitted struct {
		Player    uint8
		Observers bool
	}

	// Pinged: a player shows a place to the team. Only the team should see it.
	Pinged struct {
		By uint8
		At fixed.Vec2
	}

	// PlayerDefeated: a player lost the last building, left, or surrendered.
	PlayerDefeated struct{ Player uint8 }

	// MatchWon: every player of the other teams is defeated.
	MatchWon struct{ Team uint8 }
)
