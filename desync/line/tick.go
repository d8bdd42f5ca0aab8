package line

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A beforeError is a tick that cannot be compared: what differs arose in a tick before.
type beforeError struct{ tick lockstep.Tick }

func (e *beforeError) Error() string {
	return fmt.Sprintf("the sides do not begin tick %d with the same state", e.tick)
}

func readAll(paths ...string) (all [][]byte, err error) {
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// beginEqual returns an error if two runs began the tick with different states.
func (s *search) beginEqual(done [2]*job, runs [2]*program.Run) error {
	states, err := readAll(filepath.Join(done[0].Folder, runs[0].Before), filepath.Join(done[1].Folder, runs[1].Before))
	if err != nil {
		return err
	}
	if !bytes.Equal(states[0], states[1]) {
		return &beforeError{s.Tick}
	}
	return nil
}

func (s *search) compare(sides [2]*side, done [2]*job, runs [2]*program.Run, before map[string]lastWrite) error {
	if s.result.Mode != Checked {
		if err := s.beginEqual(done, runs); err != nil {
			return err
		}
	}
	s.result.Tick = s.Tick
	for i, r := range runs {
		s.result.Events[i], s.result.Panics[i] = r.Events, r.Panic
		s.result.Dropped += r.Dropped
		s.result.Partial += r.Partial
	}
	in := partOf(runs)
	s.result.Phase = in.phase
	cut := runs[0].Cut || runs[1].Cut
	if !cut && runs[0].Hash == runs[1].Hash && runs[0].Panic == runs[1].Panic {
		if s.named && runs[0].Panic == "" && s.result.Endless == [2]*Endless{} {
			s.result.First, s.result.Last, s.result.Tick = s.Tick-1, s.Tick, 0
		}
		return s.lastProbe(sides[0], done[0], runs[0])
	}
	if runs[0].Trace == "" || runs[1].Trace == "" {
		return nil
	}
	for _, innocent := range []map[int]bool{s.innocent, nil} {
		err := s.first(sides, done, runs, before, in, innocent)
		if err != nil || innocent == nil || s.result.Finding != nil && s.result.Finding.Reason != Nothing {
			return err
		}
	}
	return nil // the second one returns
}

// first looks for the first difference, but not at innocent sites.
func (s *search) first(sides [2]*side, done [2]*job, runs [2]*program.Run, before map[string]lastWrite, in part, innocent map[int]bool) error {
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
	s.ran = [2]map[int]bool{c.a.ran, c.b.ran}
	c.a.innocent, c.b.innocent = innocent, innocent
	s.result.Finding, err = c.find()
	for i, x := range []*stream{c.a, c.b} {
		if err == nil && runs[i].Cut {
			err = s.endless(i, done[i], runs[i], x)
		}
	}
	if f := s.result.Finding; err == nil && (runs[0].Cut || runs[1].Cut) && f.Reason == Nothing {
		s.result.Finding = nil // both sides do the same, and do not end
	}
	return err
}

func (s *search) fields(c *comparison, done [2]*job, runs [2]*program.Run) error {
	if runs[0].Panic != "" || runs[1].Panic != "" || runs[0].Cut || runs[1].Cut {
		return nil
	}
	schema, err := state.ParseSchema(s.head.StateSchema)
	if err != nil {
		return err
	}
	states, err := readAll(filepath.Join(done[0].Folder, runs[0].State), filepath.Join(done[1].Folder, runs[1].State))
	if err != nil {
		return err
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

// lastProbe finds the last probe before a panic.
func (s *search) lastProbe(one *side, done *job, run *program.Run) error {
	if run.Panic == "" || run.Trace == "" {
		return nil
	}
	events, err := openStream(done, run, one.source.Sites, func(i int) int { return i })
	if err != nil {
		return err
	}
	defer events.close()
	for {
		m, err := events.read()
		if m == nil || err != nil {
			return err
		}
		s.result.At = placeOf(m.own)
	}
}

// endless notes what a side's recording of a tick tells that was cut, or that ends with the program.
func (s *search) endless(side int, done *job, r *program.Run, x *stream) error {
	if s.result.Endless[side] == nil {
		s.result.Endless[side] = cmp.Or(done.stop, &Endless{Seconds: tickTime.Seconds()})
	}
	e := *s.result.Endless[side]
	s.result.Endless[side] = &e
	for !x.end {
		if _, err := x.read(); err != nil {
			return err
		}
	}
	if r.Events == 0 {
		s.result.Events[side] = x.count // the program could not say
	}
	e.Last, e.Loop = x.loop()
	if x.count < loopEvents {
		e.Loop = nil // the last lines that it ran are not known to be run again
	}
	return nil
}

// A part is the part of a tick in which two runs began to differ: the last one that began with equal states.
type part struct {
	phase  string
	before string    // file of the state at its beginning, of the first run; "" if there is none
	after  [2]string // and at its end, of both
}

// partOf returns that part. Without marks, it is the whole tick.
func partOf(runs [2]*program.Run) part {
	a, b := runs[0].Phases, runs[1].Phases
	n := 0
	for n < len(a) && n < len(b) && a[n].Name == b[n].Name && a[n].Hash == b[n].Hash {
		n++
	}
	p := part{before: runs[0].Before}
	if n > 0 {
		p.phase, p.before = a[n-1].Name, a[n-1].State
	}
	for i, r := range runs {
		p.after[i] = r.State
		if n < len(r.Phases) {
			p.after[i] = r.Phases[n].State
		}
	}
	return p
}

// streams finds the streams from which the sides drew differently.
func (s *search) streams(in part, done [2]*job, runs [2]*program.Run) error {
	if runs[0].Cut || runs[1].Cut {
		return nil
	}
	s.result.Streams = reported(in.phase, runs)
	if in.before == "" || in.after[0] == "" || in.after[1] == "" || runs[0].Panic != "" || runs[1].Panic != "" {
		return nil
	}
	schema, err := state.ParseSchema(s.head.StateSchema)
	if err != nil {
		return err
	}
	states, err := readAll(filepath.Join(done[0].Folder, in.before), filepath.Join(done[0].Folder, in.after[0]), filepath.Join(done[1].Folder, in.after[1]))
	if err != nil {
		return err
	}
	for _, x := range desync.StreamsOf(schema, nil, states[0], states[1], states[2]) {
		if x.Altered || x.Known && x.Right != x.Wrong {
			s.result.Streams = append(s.result.Streams, Stream{x.Path, x.Right, x.Wrong, x.Altered})
		}
	}
	return nil
}

// reported returns the purposes whose draws in a phase differ.
func reported(phase string, runs [2]*program.Run) (all []Stream) {
	count := func(r *program.Run, purpose string) (n uint64) {
		for _, d := range r.Draws {
			if d.Purpose == purpose && d.Phase == phase {
				n = uint64(d.Count)
			}
		}
		return n
	}
	seen := map[string]bool{}
	for _, r := range runs {
		for _, d := range r.Draws {
			if d.Phase != phase || seen[d.Purpose] {
				continue
			}
			seen[d.Purpose] = true
			if s := (Stream{Name: d.Purpose, A: count(runs[0], d.Purpose), B: count(runs[1], d.Purpose)}); s.A != s.B {
				all = append(all, s)
			}
		}
	}
	return all
}

// tickTime is how long a side may compute one tick. A side that has taken longer ticks may take much longer than these.
var tickTime = 20 * time.Second
