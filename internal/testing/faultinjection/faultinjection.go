package faultinjection

import (
	"math/rand/v2"
	"slices"
)

// A drill is one run.
type drill struct {
	seed   uint64
	dice   *rand.Rand
	tools  Tools
	base   *match // without a fault
	result *Result
}

// Options say how to drill.
type Options struct {
	Seed  uint64 // of the match, and of where the faults are
	Tools Tools  // none means [RealTools]

	// Progress is called after each fault with how many were planted and how many
	// there are; nil for nobody.
	Progress func(done, all int)
}

// Run plants every fault. Nothing else may use the example game meanwhile, as
// one of the faults is in its table of units. The error says why it could not be done; whether the
// tools were right, the Result says.
func Run(o Options) (*Result, error) {
	if o.Tools.Verify == nil {
		o.Tools = RealTools()
	}
	d := &drill{seed: o.Seed, dice: rand.New(rand.NewPCG(o.Seed, 5)), tools: o.Tools, result: &Result{Seed: o.Seed}}
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

// noFault plays the match in which the faults are planted later: no tool may
// find anything in it.
func (d *drill) noFault() error {
	m, err := play(d.seed, truthful(1))
	if err != nil {
		return err
	}
	d.base = m
	f := &fault{"none", "nothing"}
	d.result.add(f, "verify", d.verify(m.file, m.game), Clue{What: "true"})
	d.result.add(f, "desync report", d.told(m), Clue{})
	return nil
}
