package desync_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/state"
)

// An element has one name in all of a report, in each form: its ID, where elements have one, or else its index.
func TestOneNameForAnElement(t *testing.T) {
	faults := map[string]fault{
		"a field": func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true },
		"an element, and a field after it": func(w *world, t *turn, step step) bool {
			step(w, t)
			w.Units[9].Kills += 3
			w.Units = slices.Delete(w.Units, 5, 6)
			return true
		},
	}
	index, id := regexp.MustCompile(`Units\[\d|>\[\d+\]`), regexp.MustCompile(`Units\[ID=6\]|>\[ID=6\]<`)
	if !index.MatchString("Units[5].Health") || !index.MatchString("<td>[5]</td>") || index.MatchString("Units[ID=6].Health") { // a control
		t.Fatal("an index is not found")
	}
	for name, f := range faults {
		e := explained(t, f, withGame(t))
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"text": strings.Join(e.Lines(), "\n"), "JSON": string(text), "page": pageOf(t, e)} {
			if got := index.FindString(text); got != "" || !id.MatchString(text) {
				t.Errorf("%s: the %s names an element by its index: %q\n%s", name, form, got, strings.Join(e.Lines(), "\n"))
			}
		}
		hasID := func(d state.Difference) bool { return strings.HasPrefix(d.Path, "Paths.Fields[ID=") }
		if slices.ContainsFunc(e.Fields.List, hasID) {
			t.Errorf("%s: an element without an ID has one: %v", name, e.Fields.List)
		}
	}
}
