package desync

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Stream is a generator in the state: a fixed.Rand, or a struct with the same two fields. Its position gives the
// number of draws between the last good state that is known and the compared one.
type Stream struct {
	Path    string `json:"path"`
	Right   uint64 `json:"right,string"`
	Wrong   uint64 `json:"wrong,string"`
	Known   bool   `json:"known"`   // Right is known
	Altered bool   `json:"altered"` // no number of draws leads to the wrong state's generator
}

// String returns the stream as one line of text.
func (s Stream) String() string {
	right := "an unknown number of draws"
	if s.Known {
		right = diff.Draws(s.Right)
	}
	switch {
	case s.Altered:
		return fmt.Sprintf("%s: %s; no drawing leads to the wrong side's, so it was altered", s.Path, right)
	case s.Known && s.Right == s.Wrong:
		return fmt.Sprintf("%s: %s on both sides", s.Path, right)
	}
	return fmt.Sprintf("%s: %s, but %d on the wrong side", s.Path, right, s.Wrong)
}

// StreamsOf counts the draws from the generators in the state: from a good state to the right and the wrong one. All are canonical
// bytes by the schema. Of the generators in lists it takes those among the fields that differ.
func StreamsOf(s *state.Schema, differ []state.Difference, good, right, wrong []byte) []Stream {
	all := []Stream{}
	for _, path := range diff.StreamPaths(s, differ) {
		w, ok := diff.Watch(s, right, path)
		if !ok {
			continue
		}
		from, _, ok := w.Generator(good)
		r, _, ok2 := w.Generator(right)
		there, _, ok3 := w.Generator(wrong)
		if !ok || !ok2 || !ok3 {
			continue
		}
		x := Stream{Path: path}
		x.Right, x.Known = from.DrawsTo(r)
		x.Wrong, ok = from.DrawsTo(there)
		x.Altered = !ok
		all = append(all, x)
	}
	return all
}

// Draws counts the draws for one purpose that leave no trace in the state, from the last good tick to the compared one.
// The game must report them (see [lockstep.Turn.Drew]). Those of the wrong side are the ones that the named cause leads to.
type Draws struct {
	Purpose string `json:"purpose"`
	Phase   string `json:"phase,omitempty"` // the part of Step, if the rules mark parts
	Right   int    `json:"right"`
	Wrong   int    `json:"wrong"`
	Known   bool   `json:"known"` // there is a cause, and Wrong is set
}

// String returns the draws as one line of text.
func (d Draws) String() string {
	name := d.Purpose
	if d.Phase != "" {
		name += " in phase " + d.Phase
	}
	switch {
	case !d.Known:
		return fmt.Sprintf("%s: %s", name, diff.Draws(uint64(d.Right)))
	case d.Right == d.Wrong:
		return fmt.Sprintf("%s: %s, and as many on the wrong side, with the cause above", name, diff.Draws(uint64(d.Right)))
	}
	return fmt.Sprintf("%s: %s, but %d on the wrong side, with the cause above", name, diff.Draws(uint64(d.Right)), d.Wrong)
}

type drawKey struct{ purpose, phase string }

// countDraws plays a variation up to a tick, and counts the draws that the game reports, by purpose and phase.
func (p *tester) countDraws(v *variation, to lockstep.Tick) (counts map[drawKey]int, keys []drawKey, err error) {
	counts = make(map[drawKey]int)
	p.sim.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) {
		k := drawKey{d.Purpose, d.Phase}
		if counts[k] == 0 {
			keys = append(keys, k)
		}
		counts[k]++
	})
	defer p.sim.ObserveDraws(nil)
	_, err = p.play(v, to, nil)
	return counts, keys, err
}

// drawsOf counts the draws after tick good of the right run, and of the wrong run if its fault is known. Before the
// fault, both runs have the same draws.
func (p *tester) drawsOf(good, bad lockstep.Tick, fault *variation) ([]Draws, error) {
	right, keys, err := p.countDraws(&variation{from: good}, bad)
	if err != nil {
		return nil, err
	}
	var before, wrong map[drawKey]int
	if fault != nil {
		if before, _, err = p.countDraws(&variation{from: good}, fault.from); err != nil {
			return nil, err
		}
		var others []drawKey
		if wrong, others, err = p.countDraws(fault, bad); err != nil {
			return nil, err
		}
		for _, k := range others {
			if right[k] == 0 {
				keys = append(keys, k)
			}
		}
	}
	all := []Draws{}
	for _, k := range keys {
		all = append(all, Draws{Purpose: k.purpose, Phase: k.phase, Right: right[k], Wrong: before[k] + wrong[k], Known: fault != nil})
	}
	slices.SortFunc(all, func(a, b Draws) int {
		return cmp.Or(strings.Compare(a.Purpose, b.Purpose), strings.Compare(a.Phase, b.Phase))
	})
	return all, nil
}
