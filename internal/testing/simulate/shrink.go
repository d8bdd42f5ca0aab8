package simulate

import "slices"

// ShrinkOptions limit the work of [Shrink].
type ShrinkOptions struct {
	Runs int // at most

	// Stop prevents further runs when it is closed. Nil disables it.
	Stop <-chan struct{}

	// Progress is called after each run, with the number of all. Nil disables it.
	Progress func(runs int)
}

// Shrunk is what [Shrink] found.
type Shrunk struct {
	*Outcome      // of the smallest plan, which may be the given one
	Runs     int  // that were made
	Whole    bool // no limit ended the search
}

// Shrink searches for the smallest plan that violates the same invariant: with fewer
// faults, machines, commands and ticks, and better links.
func Shrink(s *Subject, out *Outcome, o ShrinkOptions) (Shrunk, error) {
	return shrink(out, o, func(p *Plan) (*Outcome, error) {
		if out.Violation.Invariant == "I11" {
			return Twice(s, p)
		}
		return Run(s, p)
	})
}

func shrink(out *Outcome, o ShrinkOptions, run func(*Plan) (*Outcome, error)) (Shrunk, error) {
	k := &shrinker{ShrinkOptions: o, run: run, best: Shrunk{Outcome: out}}
	for again := true; again && !k.spent(); {
		again = k.cut() || k.faults() || k.machines() || k.soften()
	}
	k.best.Whole = !k.spent()
	return k.best, k.err
}

// A shrinker holds the smallest plan so far.
type shrinker struct {
	ShrinkOptions
	run  func(*Plan) (*Outcome, error)
	best Shrunk
	err  error
}

// spent reports whether no more runs may be made.
func (k *shrinker) spent() bool {
	select {
	case <-k.Stop:
		return true
	default:
		return k.best.Runs >= k.ShrinkOptions.Runs || k.err != nil
	}
}

// try takes a plan if its run violates the same invariant.
func (k *shrinker) try(change func(p *Plan)) bool {
	if k.spent() {
		return false
	}
	p := *k.best.Plan
	p.Faults, p.Machines = slices.Clone(p.Faults), slices.Clone(p.Machines)
	change(&p)
	out, err := k.run(&p)
	if err != nil {
		k.err = err
		return false
	}
	if k.best.Runs++; k.Progress != nil {
		k.Progress(k.best.Runs)
	}
	if out.Violation == nil || out.Violation.Invariant != k.best.Violation.Invariant {
		return false
	}
	k.best.Outcome = out
	return true
}

// cut shortens the match.
func (k *shrinker) cut() (any bool) {
	p := k.best.Plan
	if at := k.best.Violation.At; at+sec < p.Chaos {
		any = k.try(func(p *Plan) { p.Chaos = at + sec })
	}
	for k.best.Plan.Chaos > 2*sec && k.try(func(p *Plan) { p.Chaos = p.Chaos * 3 / 4 }) {
		any = true
	}
	end := k.best.Plan.Chaos
	late := func(f Fault) bool { return f.At >= end }
	if slices.ContainsFunc(k.best.Plan.Faults, late) {
		any = k.try(func(p *Plan) { p.Faults = slices.DeleteFunc(p.Faults, late) }) || any
	}
	return any
}

// faults removes faults, in pieces of decreasing size.
func (k *shrinker) faults() (any bool) {
	for size := (len(k.best.Plan.Faults) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(k.best.Plan.Faults); {
			end := min(at+size, len(k.best.Plan.Faults))
			if k.try(func(p *Plan) { p.Faults = slices.Delete(p.Faults, at, end) }) {
				any = true
			} else {
				at += size
			}
		}
	}
	return any
}

// machines removes machines, and then their commands.
func (k *shrinker) machines() (any bool) {
	for i := range k.best.Plan.Machines {
		if !k.best.Plan.Machines[i].Absent {
			any = k.try(func(p *Plan) { p.Machines[i].Absent = true }) || any
		}
	}
	for i := range k.best.Plan.Machines {
		if m := &k.best.Plan.Machines[i]; !m.Absent && m.Every > 0 {
			any = k.try(func(p *Plan) { p.Machines[i].Every = 0 }) || any
		}
	}
	return any
}

// soften makes links and machines plain and faults short.
func (k *shrinker) soften() (any bool) {
	plain := Link{Delay: 10 * ms}
	for i := range k.best.Plan.Machines {
		m := k.best.Plan.Machines[i]
		if m.Absent {
			continue
		}
		m.Up, m.Down, m.Predict, m.Interpolate, m.JoinAt = plain, plain, 0, false, 0
		if m != k.best.Plan.Machines[i] {
			any = k.try(func(p *Plan) { p.Machines[i] = m }) || any
		}
	}
	for i := range k.best.Plan.Machines {
		if k.best.Plan.Machines[i].Datagrams != nil {
			any = k.try(func(p *Plan) { p.Machines[i].Datagrams = nil }) || any
		}
	}
	for i := range k.best.Plan.Faults {
		for i < len(k.best.Plan.Faults) && k.best.Plan.Faults[i].For > 100*ms && k.try(func(p *Plan) { p.Faults[i].For /= 2 }) {
			any = true
		}
	}
	return any
}
