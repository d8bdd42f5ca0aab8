package record_test

import (
	"fmt"
	"strings"
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

func ExampleSources() {
	s := record.Sources{Module: "example.com/hex", Version: "v1.3.0", Revision: "3b18e512dba7", Modified: true}
	fmt.Println(s)
	fmt.Println(record.ParseSources("example.com/hex 3b18e512dba7").Revision)
	// Output:
	// example.com/hex v1.3.0 3b18e512dba7 modified
	// 3b18e512dba7
}

// The sources stand behind the platform of a header, or of an auth.
func ExampleJoinPlatform() {
	s := record.Sources{Module: "example.com/hex", Revision: "3b18e512dba7"}
	text := record.JoinPlatform("linux/amd64 go1.26", s.TextAfter("linux/amd64 go1.26"))
	fmt.Println(text)
	fmt.Println(record.SplitPlatform(text))
	// Output:
	// linux/amd64 go1.26; example.com/hex 3b18e512dba7
	// linux/amd64 go1.26 example.com/hex 3b18e512dba7
}

// The text of the platform has a limit. TextAfter leaves out the least important parts first.
func TestTextAfter(t *testing.T) {
	revision := strings.Repeat("3b18e512", 5)
	for _, row := range []struct {
		name   string
		module int // bytes of the module's path
		want   func(module string) string
	}{
		{"all", 20, func(m string) string { return m + " v1.3.0 " + revision + " modified" }},
		{"a short revision", 60, func(m string) string { return m + " v1.3.0 " + revision[:12] + " modified" }},
		{"no version", 86, func(m string) string { return m + " " + revision[:12] + " modified" }},
		{"nothing", 90, func(m string) string { return "" }},
	} {
		s := record.Sources{Module: strings.Repeat("m", row.module), Version: "v1.3.0", Revision: revision, Modified: true}
		const platform = "linux/amd64 go1.26"
		got := s.TextAfter(platform)
		if want := row.want(s.Module); got != want {
			t.Errorf("%s: got %q, want %q", row.name, got, want)
		}
		joined := record.JoinPlatform(platform, got)
		if p, text := record.SplitPlatform(joined); len(joined) > record.MaxName || p != platform || text != got {
			t.Errorf("%s: got %q and %q of %q", row.name, p, text, joined)
		}
	}
	if got := record.JoinPlatform("p", strings.Repeat("x", record.MaxName)); got != "p" {
		t.Errorf("got %q, want no text that a header cannot have", got)
	}
}

// Any text of a platform is written back the same.
func TestSplitPlatform(t *testing.T) {
	for _, text := range []string{"", "any", "; ", "a; ", "; b", "a; b", "a; b; c", "a;b", ";"} {
		if p, s := record.SplitPlatform(text); record.JoinPlatform(p, s) != text {
			t.Errorf("%q: got %q and %q", text, p, s)
		}
	}
}
