//go:build !js

package module

import "github.com/seed-49bee653/samestep/lockstep/abi"

// Within returns a machine of the same rules, whose instances share a budget.
func (r *Rules) Within(b *Budget) abi.Machine {
	return &within{rules: r, budget: b}
}

type within struct {
	rules  *Rules
	budget *Budget
	pool
}

// New implements [abi.Machine].
func (w *within) New() (abi.Caller, error) {
	return w.caller(func() (*instance, error) { return w.rules.newInstance(w.budget) })
}
