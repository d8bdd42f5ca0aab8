package faultinjection

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

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
	for _, f := range commandFaults {
		steps = append(steps, step{f.name, func() error { return d.copyFault(f.name, f.plant) }})
	}
	for _, k := range mistakes {
		steps = append(steps, step{k.name, func() error { return d.anyBug(k.name, k.plant) }})
	}
	for _, k := range disorders {
		steps = append(steps, step{k.name, func() error { return d.anyBug(k.name, k.plant) }})
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
	d.figures()
	return d.result, nil
}
