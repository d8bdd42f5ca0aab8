package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var scenarioNumbers = regexp.MustCompile(`(P?)(\d+)(?:–P?(\d+))?`)

// scenarioFindings looks in the table of scenarios for numbers that are missing.
func scenarioFindings(page string) (missing []string) {
	_, table, _ := strings.Cut(page, "| scenario | test |\n|---|---|\n")
	seen := map[string]bool{}
	for line := range strings.Lines(table) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			break
		}
		title, _, _ := strings.Cut(row, " |")
		list, _, _ := strings.Cut(title, ":")
		for _, m := range scenarioNumbers.FindAllStringSubmatch(list, -1) {
			low, _ := strconv.Atoi(m[2])
			high, err := strconv.Atoi(m[3])
			if err != nil {
				high = low
			}
			for n := low; n <= high; n++ {
				seen[m[1]+strconv.Itoa(n)] = true
			}
		}
	}
	need := func(letter string, all int) {
		for n := 1; n <= all; n++ {
			if name := letter + strconv.Itoa(n); !seen[name] {
				missing = append(missing, name)
			}
		}
	}
	need("", 70)
	need("P", 11)
	return missing
}

// Each scenario of the catalogue has a row that says which test injects it.
func TestScenarios(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(ours(t).dir, "docs", "scenarios.md"))
	if err != nil {
		t.Fatal(err)
	}
	if missing := scenarioFindings(string(page)); len(missing) > 0 {
		t.Errorf("no row has %v", missing)
	}
}

// Control: a number that is missing is found.
func TestScenariosControl(t *testing.T) {
	const head = "| scenario | test |\n|---|---|\n"
	for _, c := range []struct {
		rows string
		want int
	}{
		{"| 1–70; P1–P11: all | `TestHere` |\n", 0},
		{"| 1–33, 35–70; P1–P11: 34 is in the text only | `TestHere` |\n", 1},
		{"| 1–70: no predecessor | `TestHere` |\n", 11},
		{"", 81},
	} {
		if got := scenarioFindings(head + c.rows + "\n| 34 | another table |\n"); len(got) != c.want {
			t.Errorf("%q: got %v, want %d", c.rows, got, c.want)
		}
	}
}
