package line

import (
	"fmt"
	"hash/fnv"

	"github.com/seed-49bee653/samestep/desync/probe/program"
)

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

// decided returns the assignments at innocent sites to what the differing expression reads, if both sides have one with other
// values, and else the expression.
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
