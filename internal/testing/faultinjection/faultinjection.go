package faultinjection

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

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

// Options configure [Run].
type Options struct {
	Subject *Subject
	Seed    uint64  // of the match and of the places of the faults
	tools   toolset // zero: realTools; tests set others

	// Progress is called after each fault with the number of planted faults and of all
	// faults. Nil disables it.
	Progress func(done, all int)
}

// Run plants every fault and runs the tools. The Result says whether the tools were right,
// and which faults have no place in a match of the game. It returns an error if the match
// cannot be played.
func Run(o Options) (*Result, error) {
	if o.tools.Verify == nil {
		o.tools = realTools()
	}
	if n := o.Subject.Players; n < 2 {
		return nil, fmt.Errorf("faultinjection: got a match of %d players, want at least 2", n)
	}
	subject := *o.Subject
	if err := subject.measure(o.Seed); err != nil {
		return nil, err
	}
	d := &drill{subject: &subject, seed: o.Seed, dice: rand.New(rand.NewPCG(o.Seed, 5)), tools: o.tools, result: &Result{Seed: o.Seed, Rows: []Row{}, Unplanted: []Unplanted{}}}
	steps := []step{{"none", d.noFault}}
	for _, f := range copyFaults {
		steps = append(steps, step{f.name, func() error { return d.copyFault(f.name, f.plant) }})
	}
	steps = append(steps, step{"flipped bit in the referee", d.refereeFault}, step{"false report", d.liar})
	steps = slices.Concat(steps, d.fileFaults())
	for i, s := range steps {
		if err := s.run(); errors.Is(err, errNoPlace) {
			d.result.Unplanted = append(d.result.Unplanted, Unplanted{s.fault, strings.TrimPrefix(err.Error(), errNoPlace.Error()+": ")})
		} else if err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(i+1, len(steps))
		}
	}
	return d.result, nil
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
	d.base = m
	f := &fault{"none", "nothing"}
	d.result.add(f, "verify", d.verify(m.file, m.game), clue{What: "true"})
	d.result.add(f, "desync report", d.reported(m.reports), clue{})
	return nil
}
