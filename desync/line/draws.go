package line

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/state"
)

// A Stream is a source of randomness from which the sides drew differently in the part of the tick in which they began to
// differ: a generator in the state, by its path, or a purpose that the rules report (lockstep.Turn.Drew).
type Stream struct {
	Name string `json:"name"`
	A    uint64 `json:"a,string"` // draws of side A
	B    uint64 `json:"b,string"`

	// Altered means that no number of draws leads to the generator of side B.
	Altered bool `json:"altered,omitempty"`
}

// String returns the stream as one line of text.
func (s Stream) String() string {
	if s.Altered {
		return fmt.Sprintf("%s: no number of draws leads from one side to the other", s.Name)
	}
	return fmt.Sprintf("%s: %s | %s", s.Name, draws(s.A), draws(s.B))
}

func draws(n uint64) string {
	if n == 1 {
		return "1 draw"
	}
	return fmt.Sprintf("%d draws", n)
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
	var states [3][]byte
	for i, name := range []string{
		filepath.Join(done[0].Folder, in.before), filepath.Join(done[0].Folder, in.after[0]), filepath.Join(done[1].Folder, in.after[1]),
	} {
		if states[i], err = os.ReadFile(name); err != nil {
			return err
		}
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
