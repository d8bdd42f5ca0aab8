package desync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/triage"
)

// Three machines have recorded a match of another engine. The first two agree.
func ExampleCompareMachines() {
	var all []*desync.Recording
	for i, m := range []recorded{{by: 0}, {by: -1}, {by: 1, wrong: 6}} {
		all = append(all, readRecording(m, fmt.Sprintf("%d.jsonl", i)))
	}
	d, err := desync.CompareMachines(all, desync.RecordingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, differs := d.Case(time.Time{})
	fmt.Println(differs, found.Name, found.Fingerprint.About(), found.First)
	var left []desync.LeftOut = d.LeftOut
	fmt.Printf("%s: %s\n", left[0].Name, left[0].Why)
	t := &triage.Triage{}
	t.Add(found)
	t.Agree(1)
	fmt.Println(t.Summary())
	// Output:
	// true 0.jsonl 2.jsonl null, unknown, X {6 6}
	// 1.jsonl: of another machine, compared with 0.jsonl: nothing differs
	// 3 files: 1 desync with 1 fingerprint, 0 not explained; nothing differs in 1 file
}

// The pair that diverges first is found whatever machines there are, and its cause, class and ticks are those of the evidence.
func TestCompareMachines(t *testing.T) {
	states := []int{5, 6, 7, 8}
	for name, c := range map[string]struct {
		all   []recorded
		files string
		class desync.Class
		field string
		first desync.Span
	}{
		"nothing":              {[]recorded{{by: 0}, {by: 1}, {by: -1}}, "", "", "", desync.Span{}},
		"the last one":         {[]recorded{{by: 0}, {by: 1}, {by: -1, wrong: 6}}, "0 2", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"the earlier one":      {[]recorded{{by: 0}, {by: 1, wrong: 7}, {by: -1, wrong: 3}}, "0 2", desync.ClassUnknown, "X", desync.Span{From: 3, To: 3}},
		"the first one":        {[]recorded{{by: 0, wrong: 6}, {by: 1}, {by: -1}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"few checksums":        {[]recorded{{by: 0, every: 4}, {by: 1, wrong: 6, every: 4}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 5, To: 8}},
		"with states":          {[]recorded{{by: 0, states: states}, {by: 1, wrong: 6, states: states}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"one machine, one run": {[]recorded{{by: 0}, {by: 0, wrong: 6}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"commands":             {[]recorded{{by: 0}, {by: 1, command: "Ag==", wrong: 5}}, "0 1", desync.ClassCommands, "X", desync.Span{From: 5, To: 5}},
		"only commands":        {[]recorded{{by: 0, every: 20}, {by: 1, command: "Ag==", every: 20}}, "0 1", desync.ClassCommands, "", desync.Span{From: 5, To: 5}},
		"beginning":            {[]recorded{{by: 0}, {by: 1, wrong: -1}}, "0 1", desync.ClassBeginning, "X", desync.Span{}},
		"two runs":             {[]recorded{{by: 0}, {by: 1}, {by: 0, shaky: 3}}, "0 1 2", desync.ClassUnstable, "X", desync.Span{From: 3, To: 3}},
	} {
		var all []*desync.Recording
		for i, m := range c.all {
			all = append(all, m.read(t, fmt.Sprint(i)))
		}
		d, err := desync.CompareMachines(all, desync.RecordingOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, differs := d.Case(time.Time{})
		where := got.Fingerprint.Field
		if where == "" {
			where = got.Fingerprint.Section
		}
		if differs != (c.files != "") || got.Name != c.files || got.Fingerprint.Class != c.class || where != c.field || got.First != c.first {
			t.Errorf("%s: got %v %+v, want %q, %s, %s, %v", name, differs, got, c.files, c.class, c.field, c.first)
		}
	}
	if _, err := desync.CompareMachines(nil, desync.RecordingOptions{}); err == nil {
		t.Error("nothing was compared")
	}
}

// The same bug has the same fingerprint in another match, and other evidence another one.
func TestDivergenceFingerprint(t *testing.T) {
	of := func(a, b recorded) string {
		d, err := desync.CompareMachines([]*desync.Recording{a.read(t, "a"), b.read(t, "b")}, desync.RecordingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := d.Case(time.Time{})
		return c.Fingerprint.ID
	}
	one := of(recorded{by: 0}, recorded{by: 1, wrong: 6})
	if other := of(recorded{by: -1}, recorded{by: 0, wrong: 8}); other != one {
		t.Errorf("got %s and %s of one bug", one, other)
	}
	if other := of(recorded{by: 0}, recorded{by: 1, wrong: 5, command: "Ag=="}); other == one {
		t.Errorf("got %s of commands and of states", one)
	}
}
