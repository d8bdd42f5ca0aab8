package mutants

import (
	"fmt"
	"slices"
)

// A Death is how a mutant was found.
type Death struct {
	Mutant    *Mutant // nil: the engine as it is
	Runs      int     // that it took; 0: it lives
	Invariant string  // that it violated first
	Text      string
}

func (d *Death) String() string {
	if d.Runs == 0 {
		return "ALIVE, breaks " + d.Mutant.Hits
	}
	return fmt.Sprintf("%s in run %d: %.100s", d.Invariant, d.Runs, d.Text)
}

// A Toll is what came of a hunt.
type Toll struct {
	All    int
	Killed int
	Median int // runs that a kill takes
	Most   int
	Alive  []Mutant
}

// TollOf counts deaths.
func TollOf(deaths []Death) *Toll {
	t := &Toll{All: len(deaths)}
	var needed []int
	for i := range deaths {
		if deaths[i].Runs == 0 {
			t.Alive = append(t.Alive, *deaths[i].Mutant)
			continue
		}
		needed = append(needed, deaths[i].Runs)
	}
	if t.Killed = len(needed); t.Killed > 0 {
		slices.Sort(needed)
		t.Median, t.Most = needed[len(needed)/2], needed[len(needed)-1]
	}
	return t
}

func (t *Toll) String() string {
	s := fmt.Sprintf("%d of %d killed", t.Killed, t.All)
	if t.Killed > 0 {
		s += fmt.Sprintf(", after %s in the median, %d at the most", runs(t.Median), t.Most)
	}
	return s
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
