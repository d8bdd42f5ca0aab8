package record_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Two replays of different matches, which should be of one.
func ExampleDiffHeaders() {
	var one, two record.Header
	one.Game, two.Game = "lamps", "lamps"
	one.Build, two.Build = "1", "2"
	two.Settings.Seed = 7
	var first record.HeaderDifference
	for i, d := range record.DiffHeaders(&one, &two) {
		if i == 0 {
			first = d
		}
		fmt.Println(d)
	}
	fmt.Println(first.Field)
	// Output:
	// build: 1 → 2
	// setting seed: 0 → 7
	// build
}

// Headers that no game wrote can be compared, too.
func TestDiffHeadersHostile(t *testing.T) {
	a, b := &record.Header{ConfigSchema: []byte{1}, Config: []byte{1}, StateSchema: []byte{1}}, &record.Header{ConfigSchema: []byte{1}, StateSchema: []byte{2}}
	a.Commands = make([]record.CommandDescription, 2)
	got := record.DiffHeaders(a, b)
	want := []string{"configuration", "state schema", "number of command kinds"}
	for i, d := range got {
		if i >= len(want) || d.Field != want[i] {
			t.Fatalf("got %v, want %q", got, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %q", got, want)
	}
	if d := record.DiffHeaders(a, a); d != nil {
		t.Errorf("a header differs from itself: %v", d)
	}
}
