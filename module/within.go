//go:build !js

package module

import "github.com/seed-49bee653/samestep/lockstep/abi"

// Within returns a machine of the same rules, whose instances share a budget.
func (r *Rules) Within(b *Budget) *Within { return &Within{rules: r, budget: b} }

// A Within is a machine of rules within a [Budget].
type Within struct {
	rules  *Rules
	budget *Budget
	pool
}

// New implements [abi.Machine].
func (w *Within) New() (abi.Caller, error) {
	return w.caller(func() (*instance, error) { return w.rules.newInstance(w.budget) })
}

// Close frees the memory of the instances: of those that somebody uses, when they are closed. The rules stay open.
func (w *Within) Close() { w.pool.close() }
