package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A lineage is a note that people can read, too.
func ExampleLineage() {
	text := record.Lineage{Content: strings.Repeat("c0", 32), Match: strings.Repeat("1d", 16), Name: "duel", Tick: 1200}.Text()
	fmt.Println(text)
	var l record.Lineage
	l, err := record.ParseLineage(text)
	fmt.Println(l.Name, l.Tick, err)
	// Output:
	// {"content_hash":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","match":"1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d","name":"duel","tick":1200}
	// duel 1200 <nil>
}

// Anybody can write a note into a file, so a wrong one is an error.
func TestParseLineageRefuses(t *testing.T) {
	good := record.Lineage{Content: strings.Repeat("c0", 32), Match: strings.Repeat("1d", 16), Name: "duel", Tick: 1200}
	for _, row := range []struct {
		name, text, want string
	}{
		{"no JSON", "from duel", "invalid character"},
		{"a short hash", strings.Replace(good.Text(), "c0c0", "", 1), "content_hash: got"},
		{"no digits", strings.Replace(good.Text(), "1d1d", "xyzt", 1), "match: got"},
		{"no name", strings.Replace(good.Text(), "duel", "", 1), "name"},
		{"a long name", strings.Replace(good.Text(), "duel", strings.Repeat("x", 200), 1), "name"},
		{"a tick below 0", strings.Replace(good.Text(), "1200", "-1", 1), "tick"},
		{"nothing", "{}", "content_hash"},
	} {
		_, err := record.ParseLineage(row.text)
		if !errors.Is(err, record.ErrMalformed) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	long := good
	long.Name = strings.Repeat("é", 100)
	if got, err := record.ParseLineage(long.Text()); err != nil || len(got.Name) > record.MaxName || len(long.Text()) > record.MaxNote {
		t.Errorf("a long name was not clipped: %+v, %v", got, err)
	}
}
