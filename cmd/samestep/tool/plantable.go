//go:build !js

package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// Bounds of the search for a field to change.
const (
	mostTrials = 400 // fields that are tried
	trialTicks = 40  // ticks that are simulated with each
)

// plantable returns the path of a field in the state of a tick whose smallest change lasts: the rules neither overwrite it
// within trialTicks ticks nor fail, and if possible nothing else differs. It is not
// in the list not.
func plantable(g *lockstep.Game, h *lockstep.Header, at lockstep.Tick, b []byte, not []string) (string, error) {
	next, last, err := simulateBoth(g, h, at, b)
	if err != nil {
		return "", err
	}
	changed := slices.Clone(b)
	leaves, err := g.StateSchema().Leaves(changed)
	if err != nil {
		return "", err
	}
	all := slices.Collect(leaves)
	second := "" // choice
	for _, leaf := range noticeable(all) {
		if slices.Contains(not, leaf.Path) || !leaf.Flip() {
			continue
		}
		alone, lasts := trial(g, h, at, changed, next, last)
		leaf.Flip()
		switch {
		case alone:
			return leaf.Path, nil
		case lasts && second == "":
			second = leaf.Path
		}
	}
	if second == "" {
		return "", fmt.Errorf("game %s: no field of the state keeps a change", g.Name())
	}
	return second, nil
}

// noticeable returns at most mostTrials values. First come the whole numbers of things in lists: the roundest ones, such as
// 4000, of these the largest. They are quantities such as health; other numbers are often indexes or kinds. Then come
// fields from everywhere in the state.
func noticeable(all []state.Value) []state.Value {
	type number struct {
		value state.Value
		zeros int // at the end of its digits
		size  uint64
	}
	var numbers []number
	for _, v := range slices.Backward(all) {
		if size, err := strconv.ParseUint(v.String(), 10, 64); err == nil && v.Node.FractionBits() == 0 && strings.Contains(v.Path, "].") && !strings.HasSuffix(v.Path, "]") {
			numbers = append(numbers, number{v, zeros(size), size})
		}
	}
	slices.SortStableFunc(numbers, func(a, b number) int { return cmp.Or(b.zeros-a.zeros, cmp.Compare(b.size, a.size)) })
	var chosen []state.Value
	for _, n := range numbers[:min(len(numbers), mostTrials/2)] {
		chosen = append(chosen, n.value)
	}
	n := min(len(all), mostTrials/2)
	for i := range n {
		chosen = append(chosen, all[i*len(all)/n])
	}
	return chosen
}

// zeros returns how many zeros are at the end of a number's digits.
func zeros(n uint64) (zeros int) {
	for ; n > 0 && n%10 == 0; n /= 10 {
		zeros++
	}
	return zeros
}

// trial simulates a changed state. It reports whether a field still differs after the last tick, and whether only one
// differs after the first tick and after the last. A failure of the rules means neither.
func trial(g *lockstep.Game, h *lockstep.Header, at lockstep.Tick, changed, next, last []byte) (alone, lasts bool) {
	defer func() {
		if recover() != nil { // the rules do not expect such a state
			alone, lasts = false, false
		}
	}()
	first, end, err := simulateBoth(g, h, at, changed)
	if err != nil {
		return false, false
	}
	a, err := g.StateSchema().Diff(next, first, 1)
	if err != nil || a.Total == 0 {
		return false, false
	}
	b, err := g.StateSchema().Diff(last, end, 1)
	return err == nil && a.Total == 1 && b.Total == 1, err == nil && b.Total > 0
}

// simulateBoth returns the states one tick and trialTicks ticks after a state, without commands.
func simulateBoth(g *lockstep.Game, h *lockstep.Header, at lockstep.Tick, b []byte) (next, last []byte, err error) {
	sim, err := g.NewSimulation(h)
	if err != nil {
		return nil, nil, err
	}
	if err := sim.Restore(at, b); err != nil {
		return nil, nil, err
	}
	for i := range lockstep.Tick(trialTicks) {
		if err := sim.Step(&lockstep.Frame{Tick: at + i + 1}); err != nil {
			return nil, nil, err
		}
		if i == 0 {
			next = sim.AppendState(nil)
		}
	}
	return next, sim.AppendState(nil), nil
}

// field returns the path of a field in a simulation's state whose change lasts.
func (g *playable) field(s *lockstep.Simulation) (string, error) {
	return plantable(g.Game, s.Header(), s.Tick(), s.AppendState(nil), nil)
}
