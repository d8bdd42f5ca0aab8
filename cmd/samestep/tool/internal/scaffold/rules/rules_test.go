package rules

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/input"
)

var (
	game  = lockstep.MustGame(Rules())
	usual = Usual(4)
)

// A digger takes the gold that it reaches.
func TestDig(t *testing.T) {
	w := World{Diggers: make([]Digger, 2), Gold: []fixed.Vec2{(&Walk{X: 3}).at(), (&Walk{X: 200}).at()}}
	order := lockstep.Command{Player: 1, Kind: 1, Value: &Walk{X: 9}}
	for tick := range lockstep.Tick(5) {
		step(&w, &usual, &lockstep.Turn{Tick: tick + 1, Commands: []lockstep.Command{order}})
	}
	if w.Diggers[0].Found != 0 || w.Diggers[1].Found != 1 || len(w.Gold) != 1 {
		t.Errorf("got %+v, want one gold with player 1", w)
	}
}

// A script of clicks: the player selects the own digger, and no other, and sends it to a place.
func TestInput(t *testing.T) {
	w := World{Diggers: []Digger{{At: (&Walk{X: 10, Y: 10}).at()}, {At: (&Walk{X: 90, Y: 10}).at()}}}
	s := input.NewScript(Input, &w, 1)
	to := &Walk{X: 30, Y: 40}
	if s.Click(w.Diggers[0].At); len(s.Order(to.at())) != 0 {
		t.Error("player 1 commands the digger of player 0")
	}
	s.Click(w.Diggers[1].At)
	if got := s.Order(to.at()); len(got) != 1 || *got[0].(*Walk) != *to {
		t.Errorf("got %v, want %v", got, to)
	}
}

// Every machine computes the same match from the same commands. The bots find all gold, and random commands disturb them.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(5) {
		locksteptest.Check(t, game, locksteptest.Options{Config: &usual, Seed: seed + 1, Rate: 1, Play: play})
	}
}

func play(p lockstep.Player, s *lockstep.Simulation) []any { return NewBot(p, 0)(s) }

// Neither a view, nor an answer to a command, nor its effect tells where a player's digger cannot see.
func TestSecrets(t *testing.T) {
	secret := locksteptest.Secrecy[World]{Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}}, Hidden: hidden}
	locksteptest.CheckView(t, game, locksteptest.Options{Config: &usual, Play: play}, secret)
}

// hidden returns the fields of a world that a player must not learn. That its own digger is tired shows when it does not walk.
func hidden(w *World, viewer lockstep.Viewer) (paths []string) {
	for i := range w.Diggers {
		if i != int(viewer.Number) {
			paths = append(paths, fmt.Sprintf("Diggers[%d].To", i), fmt.Sprintf("Diggers[%d].Tired", i))
		}
	}
	for i, gold := range w.Gold {
		if !w.Diggers[viewer.Number].At.InRange(gold, sight+fixed.One) {
			paths = append(paths, fmt.Sprintf("Gold[%d]", i))
		}
	}
	return paths
}

// A fuzzer looks for matches that reach more of the rules. The bots find all gold, and commands of the fuzzer disturb them.
func FuzzMatch(f *testing.F) {
	locksteptest.Fuzz(f, game, locksteptest.Options{Config: &usual, Rate: 1, Play: play},
		locksteptest.Source{Package: "rules", Game: "game"})
}

// A server and its players stay in sync through bad links, crashes and lies.
func TestCluster(t *testing.T) {
	locksteptest.Cluster(t, game, locksteptest.ClusterOptions{Config: &usual, Seeds: 2, Play: play})
}

// The matches in testdata/golden have the same result on every machine, until Build changes with the rules.
func TestGolden(t *testing.T) {
	locksteptest.Golden(t, game, locksteptest.GoldenOptions{Config: &usual, Play: play})
}
