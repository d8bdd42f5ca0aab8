package mutants

import (
	"fmt"
	"slices"
)

// A Result says how a mutant was found.
type Result struct {
	Mutant    *Mutant
	File      string // of the mutant's function, from the engine's root
	Runs      int    // until it was found; 0: it survived
	Invariant string // the first that was violated
	Text      string
}

func (r *Result) String() string {
	if r.Runs == 0 {
		return "ALIVE, breaks " + r.Mutant.Hits
	}
	return fmt.Sprintf("%s in run %d: %.100s", r.Invariant, r.Runs, r.Text)
}

// A Summary counts the results of a hunt.
type Summary struct {
	All    int
	Killed int
	Median int // runs until a mutant is killed
	Most   int
	Alive  []Result
}

// Summarize counts results.
func Summarize(results []Result) *Summary {
	s := &Summary{All: len(results)}
	var needed []int
	for _, r := range results {
		if r.Runs == 0 {
			s.Alive = append(s.Alive, r)
			continue
		}
		needed = append(needed, r.Runs)
	}
	if s.Killed = len(needed); s.Killed > 0 {
		slices.Sort(needed)
		s.Median, s.Most = needed[len(needed)/2], needed[len(needed)-1]
	}
	return s
}

func (s *Summary) String() string {
	text := fmt.Sprintf("%d of %d killed", s.Killed, s.All)
	if s.Killed > 0 {
		text += fmt.Sprintf(", after %s in the median, %d at the most", runs(s.Median), s.Most)
	}
	return text
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
