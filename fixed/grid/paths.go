package grid

// Paths leads units to goals by flow fields, which it computes as far as a unit needs them and keeps for the next units. It
// is a cache: keep it in a derived field of the state; the zero value works. Its answers depend on the ground and the
// arguments alone, so it does not matter which fields it still has.
//
// Its cost in a tick is not bounded: many new goals in one tick compute many fields. See [Fields] for large maps.
type Paths struct {
	flows []Flow
	used  []uint64 // by flow: clock of its last use
	clock uint64
}

// pathFields is the number of fields that [Paths] keeps.
const pathFields = 64

// Next returns the next cell of the shortest way from a cell to a goal. ok is false at the goal, and if there is no way.
func (p *Paths) Next(g *Ground, goal, from Cell) (next Cell, ok bool) {
	return p.flow(g, goal).Next(g, goal, from)
}

// Cost returns the cost of the shortest way from a cell to a goal. ok is false if there is none.
func (p *Paths) Cost(g *Ground, goal, from Cell) (cost uint32, ok bool) {
	return p.flow(g, goal).Cost(g, goal, from)
}

// flow returns the flow that leads to a goal, or the one that has been unused for longest.
func (p *Paths) flow(g *Ground, goal Cell) *Flow {
	p.clock++
	oldest := 0
	for i := range p.flows {
		if f := &p.flows[i]; f.ground == g && f.goal == goal {
			p.used[i] = p.clock
			return f
		}
		if p.used[i] < p.used[oldest] {
			oldest = i
		}
	}
	if len(p.flows) < pathFields {
		oldest = len(p.flows)
		p.flows, p.used = append(p.flows, Flow{}), append(p.used, 0)
	}
	p.used[oldest] = p.clock
	return &p.flows[oldest]
}
