package faultinjection

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A drill is one run.
type drill struct {
	subject *Subject
	seed    uint64
	dice    *rand.Rand
	tools   toolset
	base    *match // without a fault
	result  *Result
}

// A step plants a fault and runs the tools.
type step struct {
	fault string
	run   func() error
}

// seat draws a player.
func (d *drill) seat() lockstep.Player { return lockstep.Player(d.dice.IntN(int(d.subject.Players))) }

// noFault plays the match in which the faults are planted later. The tools must find
// nothing in it.
func (d *drill) noFault() error {
	m, err := d.subject.play(d.seed, d.subject.truthful(1))
	if err != nil {
		return err
	}
	r, err := open(m.file)
	if err != nil {
		return err
	}
	parting, runs, err := desync.Repeat(desync.Options{Budget: time.Second}, desync.Past{Replay: r, Game: m.game, Tick: lockstep.Tick(len(m.states) - 1)})
	if err != nil {
		return err
	}
	if parting != nil {
		return fmt.Errorf("faultinjection: the rules have no fixed result, so no fault was planted: %v", parting)
	}
	d.base, d.result.Runs = m, runs
	f := &fault{"none", "nothing"}
	d.result.add(f, "verify", d.verify(m.file, m.game), clue{What: "true"})
	d.result.add(f, "desync report", d.reported(m.reports), clue{})
	return nil
}
