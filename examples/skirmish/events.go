package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// The events that Step emits for those who show or count what happens. They are values, never part of the state.
type (
	// Shot: a unit hit another one. The damage takes effect at the end of the tick.
	Shot struct {
		By, At UnitID
		Damage uint32
	}

	// Death: a unit died, or a building was destroyed. The player owned it; By hit it last.
	Death struct {
		Unit  UnitID
		Kind  UnitKind
		Owner uint8
		By    UnitID
		At    fixed.Vec2
	}

	// Trained: a building made a unit.
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

	// Entered: a unit entered a zone that works.
	Entered struct {
		Unit UnitID
		Zone uint8 // index
		Kind ZoneKind
	}

	// PlayerDefeated: a player has lost the last building, or has left.
	PlayerDefeated struct{ Player uint8 }

	// MatchWon: every player of the other teams is defeated.
	MatchWon struct{ Team uint8 }
)
