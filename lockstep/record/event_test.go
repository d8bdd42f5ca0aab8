package record_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The table of events in docs/spec/replay.md is the registry.
func TestEventsOnPage(t *testing.T) {
	const page = "../../docs/spec/replay.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)(^\| event \| about \| .*\n\|-.*\n)(?:\|.*\n)*`)
	var table strings.Builder
	for _, e := range record.EventTypes() {
		about, readers := "match", "all"
		if e.Seat {
			about = "seat"
		}
		if e.LogOnly {
			readers = "log"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", e.Name, about, e.By, readers, e.Meaning)
	}
	got := string(b)
	want := rows.ReplaceAllStringFunc(got, func(old string) string { return rows.FindStringSubmatch(old)[1] + table.String() })
	if script.Rewrite() {
		err = os.WriteFile(page, []byte(want), 0o644)
	} else if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, table.String()) {
		t.Errorf("docs/spec/replay.md differs from the registry; -rewrite writes it (-want +got):\n%s", diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Each event is in the registry once, says who writes it, and its name has no dot: such names are private.
func TestEventTypes(t *testing.T) {
	b, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^\tEvent\w+ += "(.*)"$`).FindAllSubmatch(b, -1)
	types := record.EventTypes()
	if len(named) != len(types) {
		t.Errorf("got %d names and %d types", len(named), len(types))
	}
	seen := map[string]bool{}
	for _, e := range types {
		if seen[e.Name] || e.Name == "" || strings.Contains(e.Name, ".") || e.Meaning == "" || e.By != "host" && e.By != "server" && e.By != "import" {
			t.Errorf("got %+v", e)
		}
		seen[e.Name] = true
		r := record.Record{Kind: record.KindEvent, Event: e.Name}
		note := record.Record{Kind: record.KindNote, Topic: e.Name}
		if r.LogOnly() != e.LogOnly || r.Plain() != e.Plain || e.LogOnly && e.Plain {
			t.Errorf("%s: got log only %t and plain %t", e.Name, r.LogOnly(), r.Plain())
		}
		if note.LogOnly() || note.Plain() {
			t.Errorf("%s: a note of that topic is taken for the event", e.Name)
		}
	}
	for _, n := range named {
		if !seen[string(n[1])] {
			t.Errorf("%s is not in the registry", n[1])
		}
	}
	// The controls: an event that nobody knows goes to all, and may have a text of people.
	for _, r := range []record.Record{{Kind: record.KindEvent, Event: "weather"}, {Kind: record.KindNote, Topic: record.TopicChat}} {
		if r.LogOnly() || r.Plain() {
			t.Errorf("%+v: got log only %t and plain %t", r, r.LogOnly(), r.Plain())
		}
	}
}

// Only an event with a sum names a module.
func TestRulesSum(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		record record.Record
		want   string
	}{
		"an event":     {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: sum}, sum},
		"a note":       {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.EventRules, Text: sum}, ""},
		"another":      {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventOptions, Text: sum}, ""},
		"upper case":   {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: strings.ToUpper(sum)}, ""},
		"too short":    {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: sum[1:]}, ""},
		"without text": {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules}, ""},
	} {
		if got := c.record.RulesSum(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

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
