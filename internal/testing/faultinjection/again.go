package faultinjection

import (
	"bytes"
	"slices"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// computeAgain returns the first report's evidence with what the player's machine answers when the server asks it to compute
// the ticks again. It returns nil if the machine gets other states than before, from a value that is not in the state.
func (m *match) computeAgain(g *lockstep.Game) (*host.Evidence, error) {
	e := m.evidence()
	r := e.Report
	own := *m
	own.states = m.copied
	a := &host.Resimulation{From: r.Agreed, To: r.Tick, Outcome: protocol.WrongTheSameWay}
	for range 2 {
		states, err := own.rerun(g, r.Agreed, r.Tick)
		if err != nil {
			return nil, err
		}
		var run []uint64
		for t := r.Agreed + 1; t <= r.Tick; t++ {
			if !bytes.Equal(states[t], m.copied[t]) {
				return nil, nil
			}
			run = append(run, m.hash(states[t]))
		}
		a.Runs = append(a.Runs, run)
	}
	for t := r.Agreed + 1; a.First == 0; t++ { // they differ at r.Tick at the latest
		a.Right = append(a.Right, m.hash(m.states[t]))
		if !bytes.Equal(m.states[t], m.copied[t]) {
			a.First = t
			a.Section, _ = m.section(m.states[t], m.copied[t])
		}
	}
	if e.Resimulation = a; a.First < r.Tick {
		last := len(e.Exhibits) - 1
		e.Exhibits = slices.Insert(e.Exhibits, last, m.exhibit(a.First))
	}
	return e, nil
}

// again explains a rule bug once more, with what the player's machine answers. The first divergent tick must be exact, and the
// first field must be one of those that differ at it.
func (d *drill) again(f *fault, m *match, b *bug, want clue) error {
	evidence, err := m.computeAgain(b.Game)
	if err != nil || evidence == nil {
		return err
	}
	e, err := m.explained(d.tools, evidence)
	if err != nil {
		return err
	}
	got := explanation(e)
	first := evidence.Resimulation.First
	want.Tick = first
	exact := e.First == desync.Span{From: first, To: first}
	named := len(e.Places.List) > 0 && m.differs(e.Places.List[0].First.Path, first)
	same := e.Again != nil && e.Again.Outcome == protocol.WrongTheSameWay.String()
	if !named {
		got.What += ", another field first"
	}
	figure := &d.result.RuleBugs
	figure.Asked++
	count(&figure.Exact, exact)
	d.result.row(f, "explain again", got, want, got.Who == want.Who && exact && named && same)
	return nil
}
