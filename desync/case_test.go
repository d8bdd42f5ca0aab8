package desync_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/triage"
)

// A machine of several desyncs of a match counts once, and votes alone do not accuse one whose own results differ.
func TestTriageCounts(t *testing.T) {
	x := &triage.Triage{}
	for range 3 {
		b := chestAgain()
		again := b.Manifest.Resimulation
		again.Runs[1] = append([]string{"00000000000000ee"}, again.Runs[0][1:]...)
		e, err := desync.Explain(b, desync.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x.Add(e.Case("a.zip", time.Time{}))
	}
	x.Agree(1)
	var text, page strings.Builder
	if err := errors.Join(x.WriteText(&text), x.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rules without a fixed result", "wrong: 3 × unknown", "toaster (1 machine)", "0 not explained; nothing differs in 1 file"} {
		if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if strings.Contains(page.String(), "known to be wrong") {
		t.Errorf("the page knows who was wrong: %s", &page)
	}
}

// A machine counts as wrong only if the verdict accuses it.
func ExampleExplanation_Case() {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		panic(err)
	}
	var c desync.Case = e.Case("a.zip", time.Time{})
	var m desync.Machine = c.Machines[0]
	fmt.Println(c.Fingerprint.ID, c.Party, m.Platform, m.Differs)
	// Output:
	// c75e4082 player linux false

}

func TestTriageAccusesNobody(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := func() (n int) {
		for _, m := range e.Case("", time.Time{}).Machines {
			if m.Differs {
				n++
			}
		}
		return n
	}
	if got := wrong(); got != 1 {
		t.Errorf("got %d wrong machines of a player who is, want 1", got)
	}
	for _, p := range []desync.Party{desync.WrongUnknown, desync.NoFixedResult, desync.TwoBuilds, desync.WrongBuild, desync.WrongKeyframe} {
		if e.Verdict.Party = p; wrong() != 0 {
			t.Errorf("%s: got %d wrong machines, want none", p, wrong())
		}
	}
}
