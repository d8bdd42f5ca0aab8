// Record writes the replay of a match.
package main

import (
	"os"

	"example.com/torture/rules"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/replay"
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	w := replay.NewWriter(f, replay.WriterOptions{})
	m, err := local.New(lockstep.MustGame(rules.Rules()), &rules.Config{Speed: 3}, local.Options{Log: w, Bots: make([]lockstep.Bot, 3)})
	if err != nil {
		panic(err)
	}
	for now := lockstep.Time(0); m.Host().Now() < 60; now += 50 * lockstep.Millisecond {
		if err := m.Advance(now); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
}
