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
	in := partOf(runs)
	s.result.Phase = in.phase
	if runs[0].Hash == runs[1].Hash && runs[0].Panic == runs[1].Panic {
		return s.lastProbe(sides[0], done[0], runs[0])
	}
	c := &comparison{before: before, decls: [2]map[string]weave.Decl{sides[0].source.Decls, sides[1].source.Decls}}
	if err := s.fields(c, done, runs); err != nil {
		return err
	}
	if err := s.streams(in, done, runs); err != nil {
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
	c.equal = map[string]bool{}
	addNames(c.equal, schema.Root())
	s.result.Fields, c.seen, err = fieldsOf(schema, states[0], states[1])
	return err
}

// addNames adds the names of the fields below a node.
func addNames(all map[string]bool, n state.Node) {
	for i := range n.NumFields() {
		f := n.Field(i)
		all[f.Name()] = true
		addNames(all, f)
	}
	if k := n.Kind(); k == state.Slice || k == state.Array {
		addNames(all, n.Elem())
	}
}
