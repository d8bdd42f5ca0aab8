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
	blunder uint32 // one of so many thoughts is missed, 0 for none

	// In a match that begins small:
	workers  int    // wanted for each base
	first    int    // workers before the first barracks
	bases    int    // wanted
	barracks int    // wanted for each base
	towers   int    // wanted for each base
	batch    uint32 // units in a queue, at most
	wave     int    // units in the first attack
	growth   int    // units more in the next one
	archers  uint32 // in ten new units
	retreat  int    // per cent of its own strength that the enemy may have; 0: it never turns back
}

// styles is indexed by strength.
var styles = [...]style{
	Easy:   {rest: 80, blunder: 4, workers: 8, first: 7, bases: 1, barracks: 1, towers: 1, batch: 2, wave: 7, growth: 2, archers: 3},
	Normal: {rest: 26, workers: 12, first: 9, bases: 2, barracks: 2, towers: 1, batch: 3, wave: 10, growth: 5, archers: 4, retreat: 220},
	Hard:   {rest: 10, workers: 15, first: 11, bases: 3, barracks: 3, towers: 1, batch: 2, wave: 14, growth: 6, archers: 5, retreat: 160},
}
