package line

import (
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/weave"
	"github.com/seed-49bee653/samestep/state"
)

// compare compares the recordings of two runs of the tick.
func (s *search) compare(sides [2]*side, done [2]*job, runs [2]*program.Run, before map[string]lastWrite) error {
	s.result.Tick = s.Tick
	for i, r := range runs {
		s.result.Events[i], s.result.Panics[i] = r.Events, r.Panic
		s.result.Dropped += r.Dropped
	}
	s.result.Phase = phaseOf(runs[0].Phases, runs[1].Phases)
	if runs[0].Hash == runs[1].Hash && runs[0].Panic == runs[1].Panic {
		return nil
	}
	c := &comparison{before: before, decls: [2]map[string]weave.Decl{sides[0].source.Decls, sides[1].source.Decls}}
	if err := s.fields(c, done, runs); err != nil {
		return err
	}
	partner := weave.Align(sides[0].source.Sites, sides[1].source.Sites)
	paired := make([]bool, len(sides[0].source.Sites))
	for _, i := range partner {
		if i != weave.None {
			paired[i] = true
		}
	}
	var err error
	if c.a, err = openStream(done[0], runs[0], sides[0].source.Sites, func(i int) int {
		if !paired[i] {
			return weave.None
		}
		return i
	}); err != nil {
		return err
	}
	defer c.a.close()
	if c.b, err = openStream(done[1], runs[1], sides[1].source.Sites, func(i int) int { return partner[i] }); err != nil {
		return err
	}
	defer c.b.close()
	s.result.Finding, err = c.find()
	return err
}

// phaseOf returns the phase in which two runs began to differ: the last one that began with equal states.
func phaseOf(a, b []program.Phase) (name string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		name = a[i].Name
	}
	return name
}

// fields compares the states after the tick.
func (s *search) fields(c *comparison, done [2]*job, runs [2]*program.Run) error {
	if runs[0].Panic != "" || runs[1].Panic != "" {
		return nil
	}
	schema, err := state.ParseSchema(s.head.StateSchema)
	if err != nil {
		return err
	}
	var states [2][]byte
	for i := range states {
		if states[i], err = os.ReadFile(filepath.Join(done[i].Folder, runs[i].State)); err != nil {
			return err
		}
	}
	s.result.Fields, c.seen, err = fieldsOf(schema, states[0], states[1])
	return err
}
