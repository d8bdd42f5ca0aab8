package skirmish

// A Strength is how well a [Bot] plays. All strengths know only what their team has seen.
type Strength uint8

// The strengths. An easy bot is slow, builds little and never turns back; a hard one gives about as many orders as a good
// person.
const (
	Easy Strength = iota
	Normal
	Hard
)

// String returns the strength as tools name it, such as "easy".
func (s Strength) String() string { return [...]string{"easy", "normal", "hard"}[min(s, Hard)] }

// A style is what a strength does in its own way.
type style struct {
	rest    uint32 // ticks between two thoughts, at least
	blunder uint32 // the bot misses one thought in this many; 0: none

	// In a match that begins small:
	workers  int    // wanted for each base
	most     int    // workers wanted in all, at most
	first    int    // workers before the first barracks
	bases    int    // wanted
	core     int    // barracks before a second base, if more than one
	barracks int    // wanted for each base
	towers   int    // wanted for each base
	sites    int    // buildings under construction at a time, at most
	batch    uint32 // units in a queue, at most
	refill   uint32 // units in a queue that gets more, at most
	wave     int    // units in the first attack
	growth   int    // units more in the next one
	guard    int    // units of the army for each base before the next base
	odds     int    // size of the army for an attack, in per cent of the enemy army remembered; 0: any
	patience uint32 // ticks of waiting that make the next attack smaller by a unit
	least    int    // units in an attack, at least
	archers  uint32 // in ten new units
	retreat  int    // per cent of its own strength that the enemy may have; 0: it never turns back
}

// styles is indexed by strength.
var styles = [...]style{
	Easy: {
		rest: 120, blunder: 3, workers: 7, most: 7, first: 7, bases: 1, guard: 5, barracks: 1, towers: 0, sites: 1, batch: 1,
		wave: 7, growth: 2, patience: 200, least: 4, archers: 3,
	},
	Normal: {
		rest: 26, workers: 12, most: 40, first: 9, bases: 2, guard: 5, barracks: 2, towers: 1, sites: 1, batch: 3,
		wave: 10, growth: 5, patience: 200, least: 4, archers: 4, retreat: 220,
	},
	Hard: {
		rest: 10, workers: 13, most: 32, first: 8, bases: 3, guard: 10, core: 3, barracks: 4, towers: 1, sites: 2, batch: 3,
		refill: 1, wave: 14, growth: 6, odds: 130, patience: 400, least: 8, archers: 8, retreat: 130,
	},
}
