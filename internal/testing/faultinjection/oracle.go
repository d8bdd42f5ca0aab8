package faultinjection

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// from simulates the match by other rules from the state after tick t on, one
// tick after the other, and calls visit with each state.
func (m *match) from(g *lockstep.Game, t lockstep.Tick, visit func(t lockstep.Tick, state []byte) bool) error {
	sim, err := g.NewSimulation(m.header)
	if err != nil {
		return err
	}
	if err := sim.Restore(t, m.states[t]); err != nil {
		return err
	}
	for ; t < ticks; t++ {
		if err := sim.Step(&m.frames[t+1]); err != nil {
			return err
		}
		if !visit(t+1, sim.AppendState(nil)) {
			break
		}
	}
	return nil
}

// parts reports whether other rules make another state of tick t, of the same
// length, and still do at the check that follows, so that somebody can notice.
// What the game does not survive is no fault to be planted.
func (m *match) parts(r rules, t lockstep.Tick) bool {
	at, later := false, false
	err := m.from(lockstep.MustGame(r), t-1, func(now lockstep.Tick, state []byte) bool {
		differs := !bytes.Equal(state, m.states[now]) && len(state) == len(m.states[now])
		at = at || now == t && differs
		later = now%checkEvery == 0 && differs
		return at && now%checkEvery > 0
	})
	return err == nil && at && later
}

// firstDiffering returns the first tick, of those that step goes by, at which
// two courses of one match differ.
func firstDiffering(a, b [][]byte, step lockstep.Tick) (lockstep.Tick, error) {
	for t := lockstep.Tick(0); int(t) < min(len(a), len(b)); t += step {
		if !bytes.Equal(a[t], b[t]) {
			return t, nil
		}
	}
	return 0, fmt.Errorf("faultinjection: the fault that was planted changes nothing")
}

// leaves returns the path of the first leaf that differs between two states,
// and how many do, by reading both leaf by leaf.
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

// errLength: two states have not the same leaves, so that they cannot be
// compared one by one.
var errLength = errors.New("faultinjection: states with lists of different length")

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
