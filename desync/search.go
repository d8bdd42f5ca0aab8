package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// newSearch returns a search that knows all exhibits. What the machine has computed again excludes causes, and confirms none.
func (w *work) newSearch() *search {
	s := &search{
		tester: w.tester, begin: max(w.manifest.Began, w.log.first, w.again.first), since: max(w.since, w.again.first), good: w.known(), bad: w.bad, wrong: w.wrong, states: w.later, last: w.bad, describe: w.command,
	}
	for t := range w.later { // the order does not matter
		s.last = max(s.last, t)
	}
	a := w.e.Again
	if a == nil {
		return s
	}
	if s.exact = a.exact(); a.outcome == protocol.WrongTheSameWay {
		s.hashes = make(map[lockstep.Tick]string)
		for i, h := range w.manifest.Resimulation.Runs[0] {
			s.hashes[a.From+1+lockstep.Tick(i)] = h
		}
	}
	return s
}
