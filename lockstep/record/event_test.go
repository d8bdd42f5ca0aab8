package record_test

import (
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
