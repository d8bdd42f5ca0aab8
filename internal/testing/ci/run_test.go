package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runLines runs a table, and returns what was printed, without the times.
func runLines(t *testing.T, table string) (string, error) {
	t.Helper()
	t.Setenv("CI_LOGS", t.TempDir())
	var out bytes.Buffer
	err := runTable(nil, strings.NewReader(table), &out)
	text := regexp.MustCompile(`(?m)^(ok|FAIL) +\d+s +\d+s`).ReplaceAllString(out.String(), "$1")
	return regexp.MustCompile(`in \d+ s`).ReplaceAllString(text, "in N s"), err
}

// A step passes if it says that it did enough, and fails if it did less, says nothing, or ends with an error.
func TestFloor(t *testing.T) {
	for _, row := range []struct{ name, command, want string }{
		{"enough", "echo 2 matches", "ok  s: 2 matches"},
		{"the last line counts", "echo 9 matches; echo 2 matches", "ok  s: 2 matches"},
		{"something to read", "echo 'skipped: no network'; echo 2 matches", "ok  s: 2 matches\n             skipped: no network"},
		{"too little", "echo 1 matches", "FAIL  s: 1 matches\n             1 matches\n             got 1 matches, want at least 2"},
		{"other work", "echo 2 mutants", "FAIL  s: no work\n             2 mutants\n             no line of the output says how many matches there were, want at least 2"},
		{"nothing", "true", "FAIL  s: no work\n             no line of the output says how many matches there were, want at least 2"},
		{"failed", "echo 2 matches; false", "FAIL  s: 2 matches\n             2 matches\n             exit status 1"},
		{"failed in a pipe", "false | echo 2 matches", "FAIL  s: 2 matches\n             2 matches\n             exit status 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := runLines(t, "day | work | 2 matches | s | "+row.command)
			if !strings.HasPrefix(got, row.want+"\n") || (err != nil) != strings.HasPrefix(row.want, "FAIL") || err != nil && !errors.Is(err, errFailed) {
				t.Errorf("got %v and\n%s\nwant\n%s", err, got, row.want)
			}
		})
	}
}

// Steps with clocks run one after another. The others run behind them, and no step runs beside one that is alone.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	step := func(mode, name, body string) string {
		return "day | " + mode + " | 1 step | " + name + " | echo begin " + name + " >>" + log + "; " + body + "; echo end " + name + " >>" + log + "; echo 1 step\n"
	}
	until := func(name string) string { return "while ! grep -q '" + name + "' " + log + "; do sleep 0.01; done" }
	table := step("alone", "prepare", "true") +
		step("work", "w1", until("end c2")) + // ends only if it runs concurrently with the clocks
		step("clocks", "c1", until("begin w1")) + step("clocks", "c2", "true") +
		step("work", "w2", "true") +
		step("alone", "last", "true")
	if got, err := runLines(t, table); err != nil {
		t.Fatal(err, got)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line string) int { return strings.Index(string(text), line+"\n") }
	for _, order := range [][2]string{{"end prepare", "begin c1"}, {"end prepare", "begin w1"}, {"end c1", "begin c2"}, {"end w1", "begin last"}, {"end w2", "begin last"}} {
		if a, b := at(order[0]), at(order[1]); a < 0 || b < 0 || a > b {
			t.Errorf("%q does not come before %q:\n%s", order[0], order[1], text)
		}
	}
}

// Nothing runs if the first step fails.
func TestPrepareFails(t *testing.T) {
	got, err := runLines(t, "day|alone|1 tools|prepare|echo 0 tools\nday|work|1 step|s|echo 1 step\n")
	if want := "FAIL  prepare: 0 tools\n             0 tools\n             got 0 tools, want at least 1\n\n2 steps in N s\nfailed steps:\n  prepare\n"; err == nil || got != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, got, want)
	}
}

func TestSelected(t *testing.T) {
	steps := []step{{title: "prepare"}, {title: "tests"}, {title: "tests on arm64", night: true}}
	for _, row := range []struct {
		pattern string
		night   bool
		want    string
	}{
		{"", false, "prepare, tests"},
		{"", true, "prepare, tests, tests on arm64"},
		{"arm", false, "prepare, tests on arm64"},
		{"^tests$", true, "prepare, tests"},
	} {
		var titles []string
		for _, s := range selected(steps, regexp.MustCompile(row.pattern), row.night) {
			titles = append(titles, s.title)
		}
		if got := strings.Join(titles, ", "); got != row.want {
			t.Errorf("%q, night %v: got %s, want %s", row.pattern, row.night, got, row.want)
		}
	}
}

func TestParseTable(t *testing.T) {
	steps, err := parseTable(strings.NewReader("# a comment\n\nnight | work | 20 test cases | a title | echo a | cat\n"))
	if want := (step{true, work, 20, "test cases", "a title", "echo a | cat"}); err != nil || len(steps) != 1 || steps[0] != want {
		t.Errorf("got %v, %v, want %v", steps, err, want)
	}
	for _, row := range []struct{ line, want string }{
		{"day | work | 1 x | t", "line 1 of the table: got 4 columns"},
		{"noon | work | 1 x | t | c", `got "noon"`},
		{"day | later | 1 x | t | c", `got the mode "later"`},
		{"day | work | 0 x | t | c", `got the floor "0 x"`},
		{"day | work | 1 | t | c", `got the floor "1"`},
		{"day | work | - | t | c", `got the floor "-"`},
		{"day | work | 1 x | t |", "want a title and a command"},
	} {
		if _, err := parseTable(strings.NewReader(row.line)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: got %v, want %q", row.line, err, row.want)
		}
	}
}

// The table of this repository is one, its scripts exist, and each is used.
func TestOurTable(t *testing.T) {
	const root = "../../.."
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if os.IsNotExist(err) {
		t.Skip("the source tree is not here")
	}
	_, table, found := strings.Cut(string(script), "<<'TABLE'\n")
	table, _, ended := strings.Cut(table, "\nTABLE")
	if err != nil || !found || !ended {
		t.Fatal(err, "no table was found")
	}
	steps, err := parseTable(strings.NewReader(table))
	if err != nil || len(steps) < 20 {
		t.Fatalf("got %d steps, %v", len(steps), err)
	}
	titles := map[string]bool{}
	commands := ""
	for _, s := range steps {
		if titles[s.title] {
			t.Errorf("two steps have the title %q", s.title)
		}
		titles[s.title] = true
		commands += s.command + "\n"
	}
	scripts, err := filepath.Glob(filepath.Join(root, ".ci", "steps", "*"))
	if err != nil || len(scripts) < 10 {
		t.Fatalf("got %d scripts, %v", len(scripts), err)
	}
	for _, name := range scripts {
		if base := filepath.Base(name); !strings.Contains(base, ".") && !regexp.MustCompile(`(?m)(^|[ ;&|(])`+base+`( |$)`).MatchString(commands) {
			t.Errorf("no step runs .ci/steps/%s", base)
		}
	}
}
