package tries_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/tries"
)

// A match is an interrupted match, with the record that is kept of it.
type match struct {
	tries.Record
	poisoned bool
	ended    int // processes, from outside, while it was tried alone; since it last ran
}

// A world has the rules of a process, which can have mistakes that the test must find.
type world struct {
	random  *rand.Rand
	matches []*match
	deaths  int // that the poisoned match has caused
	kills   int // from outside that may still happen
	aside   int // healthy matches that were set aside

	together bool // mistake: suspects are tried with others
	blameAll bool // mistake: each try that a death ends counts
	early    bool // mistake: a try ends when the log is played
}

// process starts a process, which tries the matches until it ends. It reports whether all that are not set aside run.
func (w *world) process() (done bool) {
	var room tries.Room
	var wait, trying []*match
	for _, m := range w.matches {
		if m.Trying {
			m.Alone = m.Alone || w.blameAll
			m.Record = m.Died()
		}
		if !m.SetAside() {
			wait = append(wait, m)
		}
	}
	w.random.Shuffle(len(wait), func(i, j int) { wait[i], wait[j] = wait[j], wait[i] })
	slices.SortStableFunc(wait, func(a, b *match) int { return a.Compare(b.Record) })
	var early *match
	for {
		switch n := w.random.IntN(10); {
		case n < 6 && len(wait) > 0:
			m := wait[0]
			alone := m.Suspect && !w.together
			if !room.Enter(alone) {
				continue
			}
			m.Record = m.Begin(alone)
			wait, trying = wait[1:], append(trying, m)
			if w.early {
				m.Record = tries.Record{}
				if m.poisoned {
					early = m
				}
			}
		case n < 9 && len(trying) > 0:
			i := w.random.IntN(len(trying))
			m := trying[i]
			if m.poisoned {
				w.deaths++
				return false
			}
			m.Record, m.ended = tries.Record{}, 0
			trying = slices.Delete(trying, i, i+1)
			room.Leave()
		case n == 9 && w.kills > 0:
			w.kills--
			for _, m := range trying {
				if m.Alone {
					m.ended++
				}
			}
			return false
		case len(wait) == 0 && len(trying) == 0:
			return early == nil
		}
	}
}

// check runs processes until all is quiet, and returns what is wrong.
func (w *world) check() error {
	for starts := 0; !w.process(); starts++ {
		if starts > 100 {
			return fmt.Errorf("progress: %d starts", starts)
		}
		if w.deaths > 3 {
			return fmt.Errorf("deadly: the poisoned match has ended %d processes", w.deaths)
		}
	}
	for i, m := range w.matches {
		if m.SetAside() && !m.poisoned && m.ended < tries.MaxDeaths {
			return fmt.Errorf("blame: match %d is set aside, and %d processes were ended while it was tried alone", i, m.ended)
		}
		if m.poisoned && !m.SetAside() {
			return fmt.Errorf("blame: the poisoned match is not set aside")
		}
	}
	for _, m := range w.matches {
		if !m.poisoned && m.SetAside() {
			w.aside++
			m.Record = m.Again()
			if w.kills = 0; !w.process() || m.SetAside() || m.Record != (tries.Record{}) {
				return fmt.Errorf("again: %+v", m)
			}
		}
	}
	return nil
}

// explore runs many worlds with random kills, and returns how many healthy matches were set aside, and the first error.
func explore(change func(*world)) (aside int, err error) {
	for seed := range uint64(3000) {
		w := &world{random: rand.New(rand.NewPCG(seed, 1))}
		for range 1 + w.random.IntN(6) {
			w.matches = append(w.matches, &match{})
		}
		if w.random.IntN(4) > 0 {
			w.matches[w.random.IntN(len(w.matches))].poisoned = true
		}
		w.kills = w.random.IntN(8)
		change(w)
		if err := w.check(); err != nil {
			return aside, fmt.Errorf("seed %d: %w", seed, err)
		}
		aside += w.aside
	}
	return aside, nil
}

// Whatever ends processes, a poisoned match is set aside after three of them, and no healthy match is, unless its process was ended
// from outside twice while it was tried alone; then Again brings it back.
func TestBlame(t *testing.T) {
	aside, err := explore(func(*world) {})
	if err != nil || aside == 0 {
		t.Errorf("got %v; %d healthy matches were set aside and came back, want some", err, aside)
	}
	t.Logf("%d healthy matches were set aside by kills from outside, and came back", aside)
	for name, mistake := range map[string]func(*world){
		"suspects are tried with others":    func(w *world) { w.together = true },
		"each try that a death ends counts": func(w *world) { w.blameAll = true },
		"a try ends when the log is played": func(w *world) { w.early = true },
	} {
		_, err := explore(mistake)
		if err == nil {
			t.Errorf("%s: nothing was found", name)
		}
		t.Logf("%s: %v", name, err)
	}
}
