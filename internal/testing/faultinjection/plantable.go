package faultinjection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// Bounds of the search for a field to change.
const (
	mostTrials = 400       // fields that are tried
	trialTicks = 40        // ticks that are simulated with each, if the commands are not known
	trialBytes = 256 << 20 // of simulated states, after which a field will do whose change also spreads; after twice as many the search ends
)

// ErrNothingLasts reports a state in which no field keeps a change.
var ErrNothingLasts = errors.New("the rules overwrite each that was tried")

// Plantable returns the path of a field whose smallest change lasts through the frames without a failure, if possible changing nothing else.
func Plantable(g *lockstep.Game, h *lockstep.Header, at lockstep.Tick, b []byte, frames []lockstep.Frame) (string, error) {
	right, err := Rerun(g, h, at, b, frames)
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
	spent := 0
	for _, leaf := range quantities(all) {
		if spent > trialBytes && second != "" || spent > 2*trialBytes {
			break
		}
		if !leaf.Flip() {
			continue
		}
		spent += len(frames) * len(b)
		alone, lasts := trial(g, h, at, changed, frames, right)
		leaf.Flip()
		switch {
		case alone:
			return leaf.Path, nil
		case lasts && second == "":
			second = leaf.Path
		}
	}
	if second == "" {
		return "", fmt.Errorf("game %s: no field of the state keeps a change: %w", g.Name(), ErrNothingLasts)
	}
	return second, nil
}

// quantities returns at most mostTrials values. First come the whole numbers of things in lists: the roundest ones, such as
// 4000, of these the largest. They are quantities such as health; other numbers are often indexes or kinds. Then come
// fields from everywhere in the state.
func quantities(all []state.Value) []state.Value {
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

// trial simulates a changed state: lasts if the match differs after the last tick, alone if only one field does then and after the first tick.
func trial(g *lockstep.Game, h *lockstep.Header, at lockstep.Tick, changed []byte, frames []lockstep.Frame, right [][]byte) (alone, lasts bool) {
	defer func() {
		if recover() != nil { // the rules do not expect such a state
			alone, lasts = false, false
		}
	}()
	states, err := Rerun(g, h, at, changed, frames)
	if err != nil || !Noticed(right, states) {
		return false, false
	}
	for _, t := range []int{0, len(right) - 1} {
		if d, err := g.StateSchema().Diff(right[t], states[t], 1); err != nil || d.Total != 1 {
			return false, true
		}
	}
	return true, true
}

// FieldThatLasts returns the path of a field in a simulation's state whose change lasts, if nobody gives a command.
func FieldThatLasts(g *lockstep.Game, s *lockstep.Simulation) (string, error) {
	frames := make([]lockstep.Frame, trialTicks)
	for i := range frames {
		frames[i].Tick = s.Tick() + lockstep.Tick(i) + 1
	}
	return Plantable(g, s.Header(), s.Tick(), s.AppendState(nil), frames)
}
