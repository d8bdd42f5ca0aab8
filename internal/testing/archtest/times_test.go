package archtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// maxShare is the part of the processor time of all tests, in percent, that those of one package may take, in the form of "go test ./...".
// It is a share because the same work takes twice as long on a busy machine. The aim is 10 seconds on an idle one.
const maxShare = 6

// shareExceptions are the packages above it. A row may only go down.
var shareExceptions = map[string]float64{
	"cmd/samestep/tool": 20, // each of 50 verbs, and 30 processes of servers and players
	"desync/line":       9,  // a quarter of it where the programs with probes have been built before
}

// timeFindings looks for packages whose tests take too long. Each line of the table has the seconds of a test binary and its
// folder, as "ci timed" writes them.
func timeFindings(table string) (found []finding, err error) {
	type row struct {
		folder  string
		seconds float64
	}
	var rows []row
	all := 0.0
	for line := range strings.Lines(table) {
		number, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseFloat(number, 64)
		if err != nil || folder == "" {
			return nil, fmt.Errorf("got the line %q, want seconds and a folder", line)
		}
		rows = append(rows, row{folder, seconds})
		all += seconds
	}
	for _, r := range rows {
		limit := float64(maxShare)
		for path, share := range shareExceptions {
			if strings.HasSuffix(r.folder, "/"+path) {
				limit = share
			}
		}
		if r.seconds*100 > limit*all {
			found = append(found, finding{r.folder, 0, "time", fmt.Sprintf("got %.1f of %.1f s of processor time for its tests, want at most %.0f %%: see docs/engine-tests.md, \"Time\"", r.seconds, all, limit)})
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
	found, err := timeFindings("68.0 /a/rest\n0.02 /a/fast\n6.00 /a/just\n6.01 /a/slow\n19.97 /a/cmd/samestep/tool\n")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, found, "/a/rest:0: time: got 68.0 of 100.0 s", "/a/slow:0: time: got 6.0 of 100.0 s")
	for _, bad := range []string{"\n", "x /a\n", "1\n"} {
		if _, err := timeFindings(bad); err == nil {
			t.Errorf("the table %q is read without an error", bad)
		}
	}
}
