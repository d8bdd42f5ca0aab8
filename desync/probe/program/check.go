package program

import (
	"os"
	"time"
)

// LineTime returns how long to look for the line of a failure: what the environment variable SAMESTEP_LINE says, such as 5m, and
// else a minute. It is 0 if the variable is off.
func LineTime() time.Duration {
	switch text := os.Getenv("SAMESTEP_LINE"); text {
	case "off":
		return 0
	default:
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
		return time.Minute
	}
}

// CheckVariable is the environment variable with the file of a [CheckJob] for the program of a test.
const CheckVariable = "SAMESTEP_LINE_JOB"

// A CheckJob is what the woven program of a test does when it comes to a check of package kit/locksteptest: it plays the
// match of a failure again, and records the tick in both computations.
type CheckJob struct {
	Folder  string // for the files of the result
	Options string // of the check, as Go code; "" for the first check of the test
	Seed    uint64 `json:",string"`
	Phase   string // the way in which the match was computed again
	From    uint32 // the tick of the saved state
	Tick    uint32 // the first that differs
}

// SameWay are the phases of package kit/locksteptest that compute the whole match in the same way again. In the others, a
// restored simulation has no old contents in the buffers that it uses again.
var SameWay = []string{"two runs", "machine", "reading", "refused", "outside"}

// CheckJobOf returns the job of this process, or nil if it has none.
func CheckJobOf() *CheckJob {
	path := os.Getenv(CheckVariable)
	if path == "" {
		return nil
	}
	j := new(CheckJob)
	if ReadJSON(path, j) != nil {
		return nil // an ordinary test then: the variable is not ours
	}
	return j
}

// A TestJob says which failed check of a test to look into.
type TestJob struct {
	Check CheckJob
	Dir   string            // the folder of the test's package
	Run   string            // the pattern of the test
	Tags  string            // build tags
	Env   map[string]string // of the go command, where it was changed for the program that does the job
	Until int64             // Unix time, in seconds, at which to give up

	// Files replace files on the disk, or add some: absolute path to content. Nil for none.
	Files  map[string][]byte
	Folder string // where the test runs; "" means Dir
}
