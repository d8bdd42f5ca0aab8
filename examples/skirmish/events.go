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

	// PlayerDefeated: a player lost the last building, or left.
	PlayerDefeated struct{ Player uint8 }

	// MatchWon: every player of the other teams is defeated.
	MatchWon struct{ Team uint8 }
)
