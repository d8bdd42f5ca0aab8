package archtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// maxSeconds is how much processor time the tests of one package may take, in the form of "go test ./...". The aim is 10 on an idle
// machine. Beside the tests of other packages the same work takes up to half as much again.
const maxSeconds = 15

// timeExceptions are the packages above it. A row may only go down.
var timeExceptions = map[string]float64{
	"cmd/samestep/tool": 36, // each of 50 verbs, and 30 processes of servers and players
	"desync/line":       20, // 5 where the programs with probes have been built before
}

// timeFindings looks for packages whose tests take too long. Each line of the table has the seconds of a test binary and its
// folder, as "ci timed" writes them.
func timeFindings(table string) (found []finding, err error) {
	for line := range strings.Lines(table) {
		number, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseFloat(number, 64)
		if err != nil || folder == "" {
			return nil, fmt.Errorf("got the line %q, want seconds and a folder", line)
		}
		limit := float64(maxSeconds)
		for path, seconds := range timeExceptions {
			if strings.HasSuffix(folder, "/"+path) {
				limit = seconds
			}
		}
		if seconds > limit {
			found = append(found, finding{folder, 0, "time", fmt.Sprintf("got %.1f s of processor time for its tests, want at most %.0f: see docs/engine-tests.md, \"Time\"", seconds, limit)})
		}
	}
	return found, nil
}

// The tests of each package keep to the limit, by the table that .ci/run writes.
func TestTimes(t *testing.T) {
	const variable = "SAMESTEP_TIMES"
	name := os.Getenv(variable)
	if name == "" {
		t.Skipf("%s does not name a table; the step of .ci/run with the processor time of each package does", variable)
	}
	table, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found, err := timeFindings(string(table))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(table), "\n"); n < 60 {
		t.Errorf("got %d packages, want at least 60", n)
	}
	report(t, found)
}

func TestTimesControl(t *testing.T) {
	found, err := timeFindings("0.02 /a/fast\n15.00 /a/just\n15.01 /a/slow\n36.00 /a/cmd/samestep/tool\n36.01 /b/cmd/samestep/tool\n")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, found, "/a/slow:0: time: got 15.0 s", "/b/cmd/samestep/tool:0: time: got 36.0 s")
	for _, bad := range []string{"\n", "x /a\n", "1\n"} {
		if _, err := timeFindings(bad); err == nil {
			t.Errorf("the table %q is read without an error", bad)
		}
	}
}
