package simulate

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

func race() *Subject {
	return &Subject{
		Game: lockstep.MustGame(testgame.RaceRules()), Config: &testgame.RaceConfig{Goal: 400},
		Play: func(_ lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
			return func(*lockstep.Simulation) []any { return []any{&testgame.Run{Steps: int16(r.IntN(16))}} }
		},
	}
}

// The rules may end a match at any time. Every client that is connected then, or connects soon after, is told the same
// result.
func TestEndByRules(t *testing.T) {
	s := race()
	seeds, play := 24, Twice
	if testenv.Small(t) {
		seeds, play = 12, Run
	}
	over, told, watched := 0, 0, 0
	for seed := range uint64(seeds) {
		out, err := play(s, Expand(Options{Subject: s, Clients: 3, Length: 2 * Shortest}, seed))
		if err != nil || out.Violation != nil {
			t.Errorf("seed %d: %v, %v", seed, out.Violation, err)
		}
		over += out.Counts["match ended by its rules"]
		told += out.Counts["client told of the end by the rules"]
		watched += out.Counts["spectator told of the end by the rules"]
	}
	if over < seeds/2 || told < 2*over || watched == 0 {
		t.Errorf("the rules have ended %d matches of %d, which %d clients were told of, %d of them spectators", over, seeds, told, watched)
	}
}

// The rules may end a match in the last seconds of a run.
func TestEndByRulesAtEndOfRun(t *testing.T) {
	s := race()
	over, runs, step := 0, 0, sec/2
	if testenv.Small(t) {
		step = 2 * sec
	}
	for heal := 15 * sec; heal <= 23*sec; heal += step {
		runs++
		p := Expand(Options{Subject: s, Clients: 3, Length: Shortest}, 5)
		p.Heal = heal
		out, err := Run(s, p)
		if err != nil || out.Violation != nil {
			t.Errorf("%d µs after the faults: %v, %v", heal, out.Violation, err)
		}
		over += out.Counts["match ended by its rules"]
	}
	if over == 0 || over == runs {
		t.Errorf("the rules have ended the match in %d runs of %d, want it to happen between two", over, runs)
	}
}
