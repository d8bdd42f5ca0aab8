package main

import (
	"slices"
	"strings"
	"testing"
)

// A target that was not executed fails.
func TestEnough(t *testing.T) {
	const (
		begin = "fuzz: elapsed: 0s, gathering baseline coverage: 0/50 completed\n"
		end   = "fuzz: elapsed: 2s, execs: %s (9/sec), new interesting: 1 (total: 51)\nPASS\n"
	)
	parser := target{"state", "FuzzDecode"}
	for _, row := range []struct {
		name string
		text string
		n    int
		good bool
	}{
		{"enough", begin + strings.ReplaceAll(end, "%s", "52"), 2, true},
		{"too few", begin + strings.ReplaceAll(end, "%s", "51"), 1, false},
		{"known inputs only", begin + strings.ReplaceAll(end, "%s", "50"), 0, false},
		{"no known inputs", strings.ReplaceAll(end, "%s", "2"), 2, true},
		{"no such target", "testing: warning: no fuzz tests to fuzz\nPASS\n", 0, false},
	} {
		if n, err := parser.enough(row.text, 2); n != row.n || (err == nil) != row.good {
			t.Errorf("%s: got %d, %v, want %d, %v", row.name, n, err, row.n, row.good)
		}
	}
}

// The targets of every day are found among all, and so are those of a package that has changed.
func TestTargets(t *testing.T) {
	all, err := findTargets("../../..")
	if err != nil || len(all) < 40 {
		t.Fatalf("got %d targets, %v", len(all), err)
	}
	for _, d := range determinism {
		if !slices.Contains(all, d) {
			t.Errorf("there is no %v", d)
		}
	}
	for _, absent := range []string{"examples/rollback", "kit/locksteptest/testdata/lines/rules"} {
		if slices.ContainsFunc(all, func(t target) bool { return t.folder == absent }) {
			t.Errorf("%s is a module of its own", absent)
		}
	}
	day := byDay(slices.Clone(all), []string{"state"})
	if len(day) < len(determinism)+3 || len(day) >= len(all) || !slices.Contains(day, target{"state", "FuzzDecode"}) || slices.Contains(day, target{"replay", "FuzzReader"}) {
		t.Errorf("by day, with changes in state: got %v", day)
	}
}

// Only code makes a package one that has changed.
func TestFoldersOf(t *testing.T) {
	got := foldersOf("state/decode.go\nstate/encode.go\nreplay/reader_test.go\nfixed/testdata/fuzz/FuzzParse/1\ndocs/cli.md\na.go\n")
	if !slices.Equal(got, []string{".", "state"}) {
		t.Errorf("got %q", got)
	}
}
