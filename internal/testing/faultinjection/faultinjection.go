package faultinjection

import (
	"math/rand/v2"
	"slices"
)

// A drill is one run.
type drill struct {
	seed   uint64
	dice   *rand.Rand
	tools  toolset
	base   *match // without a fault
	result *Result
}

// Options configure [Run].
type Options struct {
	Seed  uint64  // of the match and of the places of the faults
	tools toolset // zero: realTools; tests set others

	// Progress is called after each fault with the number of planted faults and of all
	// faults. Nil disables it.
	Progress func(done, all int)
}

// Run plants every fault and runs the tools. Nothing else may use the example game
// meanwhile, because one fault is in its table of units. It returns an error if a fault
// cannot be planted; the Result says whether the tools were right.
func Run(o Options) (*Result, error) {
	if o.tools.Verify == nil {
		o.tools = realTools()
	}
	d := &drill{seed: o.Seed, dice: rand.New(rand.NewPCG(o.Seed, 5)), tools: o.tools, result: &Result{Seed: o.Seed}}
	steps := []func() error{d.noFault}
	for _, f := range copyFaults {
		steps = append(steps, func() error { return d.copyFault(f.name, f.plant) })
	}
	steps = append(steps, d.refereeFault, d.liar)
	steps = slices.Concat(steps, d.fileFaults())
	for i, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(i+1, len(steps))
		}
	}
	return d.result, nil
}

// noFault plays the match in which the faults are planted later. The tools must find
// nothing in it.
func (d *drill) noFault() error {
	m, err := play(d.seed, truthful(1))
	if err != nil {
		return err
	}
	d.base = m
	f := &fault{"none", "nothing"}
	d.result.add(f, "verify", d.verify(m.file, m.game), clue{What: "true"})
	d.result.add(f, "desync report", reported(d.tools.Desync(m.reports)), clue{})
	return nil
}
