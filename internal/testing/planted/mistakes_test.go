//go:build !js && !wasip1

package planted_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/determinism"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Each mistake of the table in docs/testing.md is found by the tools that stand there in bold, with default options. None of
// them finds anything in the rules without a mistake.
func TestMistakes(t *testing.T) {
	rows := table(t)
	rules := vetted(t)
	golden := locksteptest.GoldenOptions{Dir: t.TempDir(), Config: setup(), Floor: locksteptest.Floor{Fields: 40}}
	if _, err := locksteptest.AddGolden(lockstep.MustGame(planted.MarketRules()), golden); err != nil {
		t.Fatal(err)
	}
	for _, m := range append([]planted.Mistake{{Name: "", Make: func(*lockstep.Rules[planted.Market, planted.Setup]) {}}}, planted.Mistakes...) {
		r := planted.MarketRules()
		m.Make(&r)
		g := lockstep.MustGame(r)
		got := rules[m.Name]
		failure := (*locksteptest.Failure)(nil)
		if _, err := locksteptest.Run(g, locksteptest.Options{Config: setup()}); errors.As(err, &failure) {
			got = append(got, "Check "+failure.Phase)
		} else if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if _, err := locksteptest.CheckGolden(g, golden); errors.Is(err, locksteptest.ErrGoldenChanged) {
			got = append(got, "Golden")
		} else if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		for _, want := range rows[m.Name] {
			if !slices.Contains(got, want) {
				t.Errorf("%s: found by %q, want %q too", m.Name, got, want)
			}
		}
		if m.Name == "" && len(got) > 0 {
			t.Errorf("found in correct rules: %q", got)
		}
		delete(rows, m.Name)
	}
	for name := range rows {
		t.Errorf("docs/testing.md has the mistake %q, which is not planted", name)
	}
}

func setup() *planted.Setup { return &planted.Setup{Stalls: 6, Prices: []uint32{3, 1, 2}} }

var (
	row  = regexp.MustCompile(`(?m)^\| (.+?) \| (.*\*\*.*) \|$`)
	tool = regexp.MustCompile("\\*\\*(vet)\\*\\* \\(`(\\w+)`\\)|\\*\\*(Check)\\*\\* \\(phase \\*([a-z ]+)\\*\\)|\\*\\*(Golden)\\*\\*")
)

// table returns the tools of each mistake in docs/testing.md.
func table(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		for _, found := range tool.FindAllStringSubmatch(r[2], -1) {
			rows[r[1]] = append(rows[r[1]], strings.TrimSpace(strings.Join(found[1:], " ")))
		}
		if n := strings.Count(r[2], "**"); n != 2*len(rows[r[1]]) {
			t.Errorf("docs/testing.md: %s: got %q, want tools in bold with what they find", r[1], r[2])
		}
	}
	for i, m := range planted.Mistakes {
		if len(rows[m.Name]) == 0 {
			t.Errorf("docs/testing.md has no tool for mistake %d, %q", i, m.Name)
		}
	}
	return rows
}

// vetted returns the rules of the analyzer that each mistake breaks.
func vetted(t *testing.T) map[string][]string {
	t.Helper()
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	path, err := filepath.Abs("mistakes.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`//samestep:allow .*`).ReplaceAllString(string(source), "")
	all, err := determinism.Vet(determinism.Options{Overlay: map[string][]byte{path: []byte(text)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // by function
	for _, m := range regexp.MustCompile(`\{"(.*)", (\w+)\},`).FindAllStringSubmatch(text, -1) {
		names[m[2]] = m[1]
	}
	if len(names) != len(planted.Mistakes) {
		t.Fatalf("got the functions of %d mistakes, want %d", len(names), len(planted.Mistakes))
	}
	functions := regexp.MustCompile(`^func (\w+)\(r `)
	found := map[string][]string{}
	for _, f := range all {
		if f.File != path {
			t.Errorf("found outside of the mistakes: %v", f)
			continue
		}
		lines := strings.Split(text, "\n")[:f.Line]
		for _, line := range slices.Backward(lines) {
			if m := functions.FindStringSubmatch(line); m != nil {
				found[names[m[1]]] = append(found[names[m[1]]], "vet "+f.Rule)
				break
			}
		}
	}
	return found
}
