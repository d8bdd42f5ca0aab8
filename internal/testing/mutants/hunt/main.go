// Command hunt plays simulated matches until one violates an invariant, with the engine
// of a mutant. It prints the number of matches, the invariant and the violation, or nothing
// if no match violates one. It plays the matches of the files and then of the seeds from 1
// on.
//
//	hunt [-seeds N] [-length 60s] [FILE...]
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/simulate"
	"github.com/seed-49bee653/samestep/lockstep"
)

func main() {
	seeds := flag.Uint64("seeds", 240, "how many seeds to play at most, from 1 on")
	length := flag.Duration("length", time.Minute, "how long a match lasts, in virtual time")
	flag.Parse()
	played, found, err := hunt(*seeds, lockstep.Time(length.Microseconds()), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunt:", err)
		os.Exit(1)
	}
	if found != nil {
		fmt.Println(played, found.Invariant, found.Text)
	}
}

// hunt plays matches, and then those of the seeds from 1 on.
func hunt(seeds uint64, length lockstep.Time, matches []string) (played int, found *simulate.Violation, err error) {
	for seed := uint64(1); seed <= seeds; seed++ {
		matches = append(matches, strconv.FormatUint(seed, 10))
	}
	for _, name := range matches {
		if seed, bad := strconv.ParseUint(name, 10, 64); bad == nil {
			found, err = play(seed, length)
		} else {
			found, err = again(name)
		}
		if played++; found != nil || err != nil {
			return played, found, err
		}
	}
	return played, nil, nil
}

// play plays the match of a seed.
func play(seed uint64, length lockstep.Time) (*simulate.Violation, error) {
	c := simulate.Campaign{Options: simulate.Options{Length: length}, First: seed, Seeds: 1, Workers: 1}
	r, err := c.Run()
	if err != nil || len(r.Violations) == 0 {
		return nil, err
	}
	return r.Violations[0].Violation, nil
}

// again plays the match of a file.
func again(name string) (*simulate.Violation, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := simulate.ReadArtifact(f)
	if err != nil {
		return nil, err
	}
	s, err := a.Drones()
	if err != nil {
		return nil, err
	}
	out, err := simulate.Twice(s, a.Plan)
	if err != nil {
		return nil, err
	}
	return out.Violation, nil
}
