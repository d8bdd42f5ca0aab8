package faultinjection

import (
	"bytes"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// rerun simulates the match with other rules from the state of tick from up to tick to.
// It returns the states by tick; those up to from are the match's.
func (m *match) rerun(g *lockstep.Game, from, to lockstep.Tick) ([][]byte, error) {
	sim, err := g.NewSimulation(m.header)
	if err != nil {
		return nil, err
	}
	if err := sim.Restore(from, m.states[from]); err != nil {
		return nil, err
	}
	states := slices.Clone(m.states[:from+1])
	for t := from + 1; t <= to; t++ {
		if err := sim.Step(&m.frames[t]); err != nil {
			return nil, err
		}
		states = append(states, sim.AppendState(nil))
	}
	return states, nil
}

// noticeable reports whether other rules give another state of tick t and of the next
// check, of the same length. Rules that end with an error are no fault to plant.
func (m *match) noticeable(r rules, t lockstep.Tick) bool {
	check := (t + checkEvery - 1) / checkEvery * checkEvery
	states, err := m.rerun(lockstep.MustGame(r), t-1, check)
	differs := func(t lockstep.Tick) bool {
		return !bytes.Equal(states[t], m.states[t]) && len(states[t]) == len(m.states[t])
	}
	return err == nil && differs(t) && differs(check)
}

// check returns the first check at which the copy differs from the referee.
func (m *match) check() (lockstep.Tick, error) { return firstDiffering(m.states, m.copied, checkEvery) }

// firstDiffering returns the first tick at which two lists of states differ, of every
// step-th tick.
func firstDiffering(a, b [][]byte, step lockstep.Tick) (lockstep.Tick, error) {
	for t := lockstep.Tick(0); int(t) < min(len(a), len(b)); t += step {
		if !bytes.Equal(a[t], b[t]) {
			return t, nil
		}
	}
	return 0, errors.New("faultinjection: the planted fault changes nothing")
}

// leaves returns the path of the first leaf that differs between two states, and how
// many leaves differ.
func (m *match) leaves(a, b []byte) (first string, n int, err error) {
	schema := m.game.StateSchema()
	x, err := values(schema, a)
	if err != nil {
		return "", 0, err
	}
	y, err := values(schema, b)
	if err != nil {
		return "", 0, err
	}
	if len(x.order) != len(y.order) {
		return "", 0, errLength
	}
	for _, path := range x.order {
		if x.text[path] == y.text[path] {
			continue
		}
		if n++; n == 1 {
			first = path
		}
	}
	return first, n, nil
}

// errLength is returned for states whose leaves cannot be compared one by one.
var errLength = errors.New("faultinjection: states with lists of different lengths")

// section returns the name of the first section that differs.
func (m *match) section(a, b []byte) (string, error) {
	schema := m.game.StateSchema()
	x, err := schema.Split(nil, a)
	if err != nil {
		return "", err
	}
	y, err := schema.Split(nil, b)
	if err != nil {
		return "", err
	}
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			return schema.SectionName(i), nil
		}
	}
	return "", nil
}

// A listing is the leaves of a state.
type listing struct {
	order []string          // paths
	text  map[string]string // values, by path
}

func values(s *state.Schema, b []byte) (listing, error) {
	l := listing{text: map[string]string{}}
	leaves, err := s.Leaves(b)
	if err != nil {
		return l, err
	}
	for v := range leaves {
		l.order = append(l.order, v.Path)
		l.text[v.Path] = string(v.Bytes)
	}
	return l, nil
}
