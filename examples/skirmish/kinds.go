package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// A UnitKind is a kind of unit.
type UnitKind uint8

// The kinds of units. Base, Barracks and Tower are buildings.
const (
	NoUnit UnitKind = iota
	Worker
	Soldier
	Archer
	Base
	Barracks
	Tower

	unitKinds
)

// Traits are the properties of all units of a kind.
type Traits struct {
	Name     string
	Speed    fixed.Q  // cells per tick; 0 for buildings
	Radius   fixed.Q  // cells
	Range    fixed.Q  // cells, from edge to edge
	Sight    int32    // cells
	Health   uint16   // when new
	Damage   uint16   // of one hit, before chance adds up to a quarter
	Armor    uint16   // subtracted from the damage of each hit, which stays at least 1
	Cooldown uint8    // ticks from one hit to the next
	Cost     uint32   // crystals
	Ticks    uint16   // of work to train or to build it
	MadeBy   UnitKind // the building that trains it, or the unit that builds it
}

// traits is indexed by kind; a kind beyond the table counts as NoUnit.
var traits = [unitKinds]Traits{
	NoUnit: {Name: "nothing"},
	Worker: {Name: "worker", Speed: fixed.One / 8, Radius: fixed.One * 3 / 8, Range: fixed.One / 4, Sight: 6,
		Health: 40, Damage: 3, Cooldown: 12, Cost: 50, Ticks: 160, MadeBy: Base},
	Soldier: {Name: "soldier", Speed: fixed.One * 9 / 64, Radius: fixed.One * 3 / 8, Range: fixed.One / 2, Sight: 8,
		Health: 100, Damage: 7, Cooldown: 10, Cost: 75, Ticks: 200, MadeBy: Barracks},
	Archer: {Name: "archer", Speed: fixed.One * 8 / 64, Radius: fixed.One * 3 / 8, Range: fixed.One * 6, Sight: 9,
		Health: 55, Damage: 12, Cooldown: 14, Cost: 80, Ticks: 240, MadeBy: Barracks},
	Base: {Name: "base", Radius: fixed.One * 2, Range: fixed.One * 5, Sight: 10,
		Health: 4000, Damage: 8, Armor: 4, Cooldown: 12, Cost: 600, Ticks: 1600, MadeBy: Worker},
	Barracks: {Name: "barracks", Radius: fixed.One * 3 / 2, Sight: 8,
		Health: 1500, Armor: 4, Cost: 250, Ticks: 800, MadeBy: Worker},
	Tower: {Name: "tower", Radius: fixed.One, Range: fixed.One * 6, Sight: 10,
		Health: 800, Damage: 12, Armor: 4, Cooldown: 14, Cost: 150, Ticks: 500, MadeBy: Worker},
}

// Traits returns the properties of the kind. An unknown kind has those of NoUnit.
func (k UnitKind) Traits() *Traits {
	if k >= unitKinds {
		return &traits[NoUnit]
	}
	return &traits[k]
}

// Building reports whether the kind is a building.
func (k UnitKind) Building() bool { return k >= Base && k < unitKinds }

func (k UnitKind) String() string { return k.Traits().Name }
