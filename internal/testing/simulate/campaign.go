package simulate

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
)

// A Campaign is many runs.
type Campaign struct {
	Options
	First   uint64        // the first seed
	Seeds   int           // 0: as many as Time allows
	Time    time.Duration // no run starts after it; 0: no limit
	Workers int           // concurrent runs; 0: GOMAXPROCS

	// Stop prevents further runs when it is closed. Nil disables it.
	Stop <-chan struct{}

	// Once makes each run once, without a comparison of traces.
	Once bool

	// Progress is called after each seed, never concurrently. Nil disables it.
	Progress func(*Report)
}

// A Report is the result of a campaign.
type Report struct {
	Tallies
	Seeds      int
	Hours      float64       // of the ticks of matches
	AllHours   float64       // the same, of all runs together
	Wall       time.Duration // duration
	Violations []*Outcome    // by seed
	Reached    *reach.Sum    // nil without runs
}

// Run makes the runs. It returns an error for bad options, not for violations.
func (c *Campaign) Run() (*Report, error) {
	c.fill()
	if !c.Calm && c.Length < Shortest {
		return nil, fmt.Errorf("simulate: got a match of %v s, want at least %v s: the last %v s are without faults",
			float64(c.Length)/1e6, float64(Shortest)/1e6, float64(healing)/1e6)
	}
	r := &Report{}
	start := time.Now()
	var mu sync.Mutex
	var failure error
	next := c.First
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		if failure != nil || c.stopped() || c.Seeds > 0 && next-c.First >= uint64(c.Seeds) || c.Time > 0 && time.Since(start) >= c.Time {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var all sync.WaitGroup
	for range cmp.Or(c.Workers, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				out, err := c.one(seed)
				mu.Lock()
				if err != nil {
					failure = err
				} else {
					r.add(out)
					r.Wall = time.Since(start)
					if c.Progress != nil {
						c.Progress(r)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.SortFunc(r.Violations, func(a, b *Outcome) int { return cmp.Compare(a.Plan.Seed, b.Plan.Seed) })
	return r, failure
}

// Idle returns an error if the runs were to have faults and had none at all: then they say nothing about faults.
func (c *Campaign) Idle(r *Report) error {
	if c.Calm || c.Only != nil && len(c.Only) == 0 || r.Reached == nil || r.Faults() > 0 {
		return nil
	}
	kinds := ""
	if len(c.Only) > 0 {
		kinds = fmt.Sprintf(" of the kinds %s", strings.Join(c.Only, ", "))
	}
	return fmt.Errorf("simulate: no fault%s happened (seeds: %d, ticks of the longest match: %d): want one, and the first comes after %d s or later",
		kinds, r.Seeds, r.Reached.Reached().Longest, early/sec)
}

// Faults returns the number of faults that happened.
func (r *Report) Faults() (n int) {
	for _, of := range r.Injected {
		n += of
	}
	return n
}

func (c *Campaign) stopped() bool {
	select {
	case <-c.Stop:
		return true
	default:
		return false
	}
}

func (c *Campaign) one(seed uint64) (*Outcome, error) {
	p := Expand(c.Options, seed)
	if c.Once {
		return Run(c.Subject, p)
	}
	return Twice(c.Subject, p)
}

func (r *Report) add(o *Outcome) {
	r.Seeds++
	r.Tallies.Add(&o.Tallies)
	if r.Reached == nil {
		r.Reached = o.Reached
	} else {
		r.Reached.Include(o.Reached)
	}
	r.Hours += float64(o.Played.Milliseconds()) / 3_600_000
	r.AllHours += float64(o.AllRuns.Milliseconds()) / 3_600_000
	if o.Violation != nil {
		r.Violations = append(r.Violations, o)
	}
}

// Kinds returns the kinds of faults in a fixed order.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// Group returns the group of a kind of fault: network, client, server, admin, disk,
// byzantine or hands (attacks on limits). It returns "" if there is no such kind.
func Group(kind string) string {
	if k := kindNamed(kind); k != nil {
		return k.group
	}
	return ""
}
