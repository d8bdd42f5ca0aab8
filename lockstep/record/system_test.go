package record_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// systemRow is a row of the page's table: kind, name, and the type of the value.
var systemRow = regexp.MustCompile(`(?m)^\| (\d+ \| [a-z ]+) \| \[?\w+ u(\d+)\]? \|`)

// The page of the format has the commands of the system.
func TestSystemCommandsOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range systemRow.FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = "uint" + m[2]
	}
	all := record.SystemDescriptions()
	for _, d := range all {
		s, err := state.ParseSchema(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d | %s", d.Kind, d.Name)
		if got, want := rows[name], s.Root().Field(0).Kind().String(); got != want {
			t.Errorf("%s: the page has %q, want %s", name, got, want)
		}
	}
	if len(rows) != len(all) {
		t.Errorf("the page has %d commands, want %d", len(rows), len(all))
	}
}
