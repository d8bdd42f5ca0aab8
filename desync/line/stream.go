package line

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// Limits of what is kept of a recording, whatever its length.
const (
	keepExtra  = 64     // events that only one side has, before the difference
	keepWrites = 200000 // assignments after it
	maxPath    = 64     // calls under way
)

// A moment is an event of one side.
type moment struct {
	probe.Event
	own  *weave.Site // on its side
	id   int         // of the site in the numbers of side A, or weave.None
	path []step
}

// A step is a call that is under way: the latest probe in the function.
type step struct {
	own *weave.Site
	id  int
}

// A variable is a variable in a function.
type variable struct{ fn, name string }

// A stream is the recording of one side. next returns the events that the other side may have too.
type stream struct {
	in    *probe.Reader
	close func() error
	sites []weave.Site
	id    func(site int) int
	stack []step // by depth, of the goroutine of Step

	recent []moment            // events that only this side has, since the last one that both have
	extra  []moment            // effective assignments that only this side has
	calls  []moment            // statements with calls that only this side has
	others map[string]moment   // by name: the latest assignment in another goroutine
	locals map[variable]moment // the latest assignments, of the goroutine of Step
	ran    map[int]bool        // the probes of the events that next has read
	end    bool
	count  int // of all events so far

	innocent map[int]bool      // sites that are passed over, by number on this side; only looked up
	passed   map[string]moment // by name: the latest assignment at one of them

	tail   []deep // the last events of a recording that was cut, from number tailed on
	tailed int
	cut    bool
}

// A deep is an event of a loop.
type deep struct {
	own   *weave.Site
	depth int
}

func openStream(j *job, run *program.Run, sites []weave.Site, id func(int) int) (*stream, error) {
	f, err := os.Open(filepath.Join(j.Folder, run.Trace))
	if err != nil {
		return nil, err
	}
	s := newStream(f, sites, id)
	s.close, s.cut = f.Close, run.Cut
	return s, nil
}

func newStream(r io.Reader, sites []weave.Site, id func(int) int) *stream {
	return &stream{in: probe.NewReader(r), sites: sites, id: id, others: map[string]moment{}, locals: map[variable]moment{}, ran: map[int]bool{}, passed: map[string]moment{}}
}

// read returns the next event of the goroutine of Step, or nil at the end.
func (s *stream) read() (*moment, error) {
	for {
		e, err := s.in.Next()
		if err == io.EOF {
			s.end = true
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if s.count++; e.Site >= len(s.sites) {
			return nil, probe.ErrRecording
		}
		m := &moment{Event: e, own: &s.sites[e.Site], id: s.id(e.Site)}
		if e.Flow != 0 {
			if m.own.Kind == weave.Write {
				s.others[m.own.Name] = *m
			}
			continue
		}
		if s.cut {
			s.note(deep{m.own, e.Depth})
		}
		for len(s.stack) <= e.Depth {
			s.stack = append(s.stack, step{})
		}
		s.stack = s.stack[:e.Depth+1]
		s.stack[e.Depth] = step{m.own, m.id}
		if s.innocent[e.Site] {
			if m.own.Kind == weave.Write {
				s.passed[m.own.Name] = *m
			}
			continue
		}
		if m.own.Name != "" && (m.own.Kind != weave.Write || m.own.Local) && (m.own.Kind != weave.Reach || m.Replaces) {
			if m.id == weave.None {
				m.path = pathOf(s.stack)
			}
			s.locals[variable{m.own.Func, m.own.Name}] = *m
		}
		return m, nil
	}
}

// pathOf returns the calls that are under way, but of a deep recursion only the outermost and the innermost.
func pathOf(stack []step) []step {
	from := min(len(stack), maxPath/2)
	return slices.Concat(stack[:from], stack[max(from, len(stack)-maxPath/2):])
}

// alone returns the latest assignment to a variable of a function, or of the functions around a literal, if only this side has it.
func (s *stream) alone(function, name string) (moment, bool) {
	for {
		m, ok := s.locals[variable{function, name}]
		i := strings.LastIndex(function, ".func")
		if ok && (m.id == weave.None || m.own.Kind != weave.Write) || i < 0 { // a literal may assign what is around it
			return m, ok && m.id == weave.None
		}
		function = function[:i]
	}
}

// note keeps one of the last events.
func (s *stream) note(d deep) {
	if len(s.tail) < loopEvents {
		s.tail = append(s.tail, d)
		return
	}
	s.tail[s.tailed] = d
	s.tailed = (s.tailed + 1) % loopEvents
}

// next returns the next event whose site both sides have, or nil at the end.
func (s *stream) next() (*moment, error) {
	s.recent = s.recent[:0]
	for {
		m, err := s.read()
		if m == nil || err != nil {
			return m, err
		}
		s.ran[m.Site] = true
		if m.id != weave.None {
			return m, nil
		}
		m.path = pathOf(s.stack)
		if len(s.recent) < keepExtra {
			s.recent = append(s.recent, *m)
		}
		if m.own.Kind == weave.Call && len(s.calls) < keepExtra {
			s.calls = append(s.calls, *m)
		}
		if effective(m) && len(s.extra) < keepExtra {
			s.extra = append(s.extra, *m)
		}
	}
}

func effective(m *moment) bool {
	if m.own.Kind == weave.Reach {
		return m.Replaces
	}
	return m.own.Kind == weave.Write && !m.own.Local && m.Value != m.Old
}

// writes reads to the end, and returns the assignments to the fields of the state or to variables of packages.
func (s *stream) writes() (all []moment, err error) {
	for {
		m, err := s.read()
		if m == nil || err != nil {
			return all, err
		}
		if m.own.Kind == weave.Write && !m.own.Local && len(all) < keepWrites {
			all = append(all, *m)
		}
	}
}

// assigns reports whether this side, too, has an assignment of a value at a place of its own: a statement that was moved.
func (s *stream) assigns(m *moment) bool {
	return slices.ContainsFunc(s.extra, func(o moment) bool {
		return o.own.Name == m.own.Name && o.Entity == m.Entity && o.Value == m.Value
	})
}

// loopEvents is how many of the last events show a loop.
const loopEvents = 1 << 12

// loop returns the last line, and the outermost one that the last events have more than once: that of a loop's head if there is one.
func (s *stream) loop() (last, loop *Place) {
	times := map[*weave.Site]int{} // looked up by site
	for i := range s.tail {
		times[s.tail[i].own]++
	}
	var at *weave.Site
	depth := 0
	for i := range s.tail {
		t := &s.tail[(s.tailed+i)%len(s.tail)] // the oldest first
		last = placeOf(t.own)
		if times[t.own] == 1 {
			continue
		}
		outer := at == nil || t.depth < depth
		if head := t.own.Kind == weave.Test || t.own.Kind == weave.Range; outer || head && t.depth == depth && at.Kind != weave.Test && at.Kind != weave.Range {
			at, depth = t.own, t.depth
		}
	}
	if at != nil {
		loop = placeOf(at)
	}
	return last, loop
}

// innocent returns the sites whose events differ in two computations of a tick that came out equal, such as the test whether a
// cache is there. What differs at them decides nothing by itself. It returns nil without such runs.
func (s *side) innocent(done *job, equal []program.Run) (map[int]bool, error) {
	if len(equal) != 2 {
		return nil, nil
	}
	var sums [2]map[int]uint64
	for i := range equal {
		all, err := s.sums(done, &equal[i])
		if err != nil {
			return nil, err
		}
		sums[i] = all
	}
	differ := make(map[int]bool)
	for i := range sums {
		for site, sum := range sums[i] { // the order does not matter
			if other, ok := sums[1-i][site]; !ok || other != sum {
				differ[site] = true
			}
		}
	}
	return differ, nil
}

// sums returns a sum of the events of each site in a recording. Lists do not count, as in a comparison.
func (s *side) sums(done *job, run *program.Run) (map[int]uint64, error) {
	in, err := openStream(done, run, s.source.Sites, func(i int) int { return i })
	if err != nil {
		return nil, err
	}
	defer in.close()
	sums := make(map[int]uint64)
	for {
		m, err := in.read()
		if m == nil || err != nil {
			return sums, err
		}
		value := m.Value
		if list(value) {
			value = ""
		}
		h := fnv.New64a()
		fmt.Fprint(h, sums[m.Site], m.Entity, "=", value)
		sums[m.Site] = h.Sum64()
	}
}

// decided returns the assignments at innocent sites that gave the differing expression other values, or else the expression.
func (c *comparison) decided(x, y *moment) (*moment, *moment) {
	for _, name := range x.own.Reads {
		a, ok := c.a.passed[name]
		b, also := c.b.passed[name]
		if ok && also && a.Site == b.Site && a.Value != b.Value {
			return &a, &b
		}
	}
	return x, y
}
