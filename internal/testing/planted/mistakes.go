package planted

import (
	"sort"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Mistake is one that an author makes in the rules of [Market].
type Mistake struct {
	Name string // as in the table of docs/testing.md
	Make func(r *lockstep.Rules[Market, Setup])
}

// Mistakes lists the mistakes in the order of the table in docs/testing.md, which says which tool finds each of them.
var Mistakes = []Mistake{
	{"the order of a map decides", mapOrder},
	{"a package variable decides", packageVariable},
	{"a derived field decides that `Derive` does not rebuild", derivedDecides},
	{"a derived cache is stale for a tick", staleCache},
	{"a float in the code", float},
	{"an unstable sort", unstableSort},
	{"a clock decides", clock},
	{"the time zone of the machine decides", timeZone},
	{"a `Validate` that changes the state or draws", drawingValidate},
	{"the rules write into the configuration", writtenSetup},
	{"a command is kept after its tick", keptCommand},
	{"two slices of the state share memory", sharedMemory},
	{"goroutines compute parts of a tick", goroutines},
	{"an element of `Turn.Each` writes another's", givenToNeighbours},
	{"an element of `Turn.Each` reads another's", takenFromNeighbours},
	{"changed rules with the same `Build`", changedRules},
}

func mapOrder(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		byPrice := map[uint32]uint32{}
		for i := range m.Stalls {
			byPrice[m.Stalls[i].Price] += m.Stalls[i].Goods
		}
		for _, goods := range byPrice { //samestep:allow maprange this is the mistake
			m.Drawn = m.Drawn*31 + uint64(goods)
		}
	}
}

var offers uint64 // of all matches of the program

func packageVariable(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		offers += uint64(len(t.Commands)) //samestep:allow global this is the mistake
		m.Drawn += offers                 //samestep:allow global this is the mistake
	}
}

func derivedDecides(r *lockstep.Rules[Market, Setup]) {
	r.Derive = func(m *Market, setup *Setup) {
		total := m.Total
		deriveMarket(m, setup)
		m.Total = total
	}
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		m.Drawn += m.Total
		trade(m, setup, t)
	}
}

func staleCache(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, _ *Setup, t *lockstep.Turn) {
		m.Drawn += m.Total
		total := m.Total
		trade(m, nil, t)
		if len(t.Commands) > 0 {
			m.Total = total // the author forgets that a command changes it
		}
	}
}

func float(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		first := &m.Stalls[0]
		first.Price = uint32(float64(first.Price)*1.1) % 1000 //samestep:allow float this is the mistake
	}
}

func unstableSort(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		sort.Slice(m.Stalls, func(i, j int) bool { return m.Stalls[i].Price < m.Stalls[j].Price }) //samestep:allow sort this is the mistake
	}
}

func clock(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		m.Drawn += uint64(time.Now().Unix()) //samestep:allow clock this is the mistake
	}
}

func timeZone(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		if time.Unix(int64(t.Tick)*600, 0).Hour() > 12 { //samestep:allow outside this is the mistake
			m.Stalls[0].Price++
		}
	}
}

func drawingValidate(r *lockstep.Rules[Market, Setup]) {
	r.Validate = func(m *Market, setup *Setup, c *lockstep.Command) error {
		m.Drawn++ //samestep:allow readonly this is the mistake
		return validateOffer(m, setup, c)
	}
}

func writtenSetup(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		if len(t.Commands) > 0 {
			setup.Prices[0]++ //samestep:allow readonly this is the mistake
		}
		m.Drawn += uint64(setup.Prices[0])
	}
}

func keptCommand(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		if m.Last != nil {
			m.Drawn += uint64(m.Last.Goods) // the engine uses the memory again
		}
		for i := range t.Commands {
			if o, ok := t.Commands[i].Value.(*Offer); ok {
				m.Last = o
			}
		}
	}
}

func sharedMemory(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		if m.Tick == 1 {
			m.Sold = make([]uint32, 1)
			m.Told = m.Sold // a restored state has two slices of its own
		}
		m.Sold[0]++
	}
}

func goroutines(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		var all sync.WaitGroup
		for i := range m.Stalls {
			all.Add(1)
			go func() { //samestep:allow goroutine this is the mistake
				defer all.Done()
				m.Stalls[i].Goods++
			}()
		}
		all.Wait()
	}
}

func givenToNeighbours(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		t.Each(len(m.Stalls), func(i int, _ *lockstep.Turn) {
			m.Stalls[(i+1)%len(m.Stalls)].Goods += m.Stalls[i].Goods&3 + 1 //samestep:allow each this is the mistake
		})
	}
}

func takenFromNeighbours(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		t.Each(len(m.Stalls), func(i int, _ *lockstep.Turn) {
			m.Stalls[i].Goods += m.Stalls[(i+1)%len(m.Stalls)].Goods&3 + 1
		})
	}
}

func changedRules(r *lockstep.Rules[Market, Setup]) {
	r.Step = func(m *Market, setup *Setup, t *lockstep.Turn) {
		trade(m, setup, t)
		m.Drawn++
	}
}
