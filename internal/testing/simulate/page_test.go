package simulate

import (
	"os"
	"strings"
	"testing"
)

// The table of docs/scenarios.md has the scenario of each kind of fault, and no other
// kinds.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| kinds | scenarios |\n|---|---|\n")
	if !found {
		t.Fatal("there is no table of kinds")
	}
	rows := map[string]int{}
	for line := range strings.Lines(table) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			break
		}
		names, _, _ := strings.Cut(row, " |")
		for _, name := range strings.Split(names, ", ") {
			rows[name]++
		}
	}
	for _, name := range Kinds() {
		if rows[name] != 1 {
			t.Errorf("%s stands there %d times", name, rows[name])
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("nothing is called %s", name)
	}
}
