package desync_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// flat returns a text with one space between words, wherever its lines end.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// The text of an explanation has at most 80 columns, whatever names and values the match has, and says everything that Lines does.
func TestTextIsNarrow(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("AVeryLongName[ID=4000].", 20)
	words := strings.Repeat("many short words ", 20)
	e.Game, e.Build, e.Section, e.Bundle = long, words, long, long
	e.Who[1].Name, e.Fingerprint.Field = words+"\x1b\u202e"+long, long
	e.Notes = append(e.Notes, words, long+words)
	e.Places.List = append(e.Places.List, state.Place{Path: long, Element: long, First: state.Difference{Path: long, A: words, B: long}, Total: 1})
	e.Commands = append(e.Commands, desync.Touch{Command: desync.Command{Text: words}, Changes: []string{long, long}})
	e.SetLine(&desync.Line{File: long, Number: 1, Tick: 4, Func: long, Source: "\tx := " + words, Because: words})
	var text strings.Builder
	if err := e.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u202e") {
		t.Error("a control character is in the text")
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s) }
	if got, want := squeeze(text.String()), squeeze(strings.Join(e.Lines(), "\n")); got != want {
		t.Errorf("the text and the lines differ: %q, %q", got, want)
	}
}

// The title of a report is its answer, whatever the verdict. It says no more than is known.
func TestAnswer(t *testing.T) {
	health := &state.Place{Path: "Units", Element: "Units[ID=34]", First: state.Difference{Path: "Units[ID=34].Health", A: "4000", B: "4001"}, Fields: 1, Elements: 1, Total: 1}
	order := &state.Place{Path: "Units", Element: "Units[7]", First: state.Difference{Path: "Units[7].ID", A: "9", B: "11"}, Order: true, Fields: 1, Elements: 2, Total: 1}
	exact, check := desync.Span{From: 301, To: 301}, desync.Span{From: 301, To: 320}
	player := desync.Verdict{Party: desync.WrongPlayer, Players: []lockstep.Player{3}}
	bob := []desync.Participant{{Player: 3, Name: "bob"}}
	for _, c := range []struct {
		name   string
		e      desync.Explanation
		first  *state.Place
		fields int
		want   string
	}{
		{"a player", desync.Explanation{Verdict: player, First: exact, Compared: 301}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 301, player 3"},
		{"with a name", desync.Explanation{Verdict: player, First: exact, Compared: 301, Who: bob}, health, 3, "Units[ID=34].Health 4000 → 4001 (+2 more fields) at tick 301, player 3 (bob)"},
		{"not exact", desync.Explanation{Verdict: player, First: check, Compared: 320}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 320, since one of the ticks 301 to 320, player 3"},
		{"a later state", desync.Explanation{Verdict: player, First: exact, Compared: 320}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 320, since tick 301, player 3"},
		{"no state", desync.Explanation{Verdict: player, First: check, Compared: 320, Section: "Units"}, nil, 0, "Units differs in one of the ticks 301 to 320, player 3"},
		{"no section", desync.Explanation{Verdict: player, First: exact}, nil, 0, "the checksum differs at tick 301, player 3"},
		{"an order", desync.Explanation{Verdict: player, First: exact, Compared: 301}, order, 1, "the order of Units differs from index 7 (Units[7].ID 9 → 11) at tick 301, player 3"},
		{"two players", desync.Explanation{Verdict: desync.Verdict{Party: desync.WrongPlayer, Players: []lockstep.Player{1, 3}}, First: exact, Compared: 301}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 301, players 1 and 3"},
		{"the referee", desync.Explanation{Verdict: desync.Verdict{Party: desync.WrongReferee}, First: exact, Compared: 301}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 301, the referee"},
		{"another build", desync.Explanation{Verdict: desync.Verdict{Party: desync.WrongBuild}, Player: 3, First: exact, Compared: 301}, health, 1, "Units[ID=34].Health 4000 → 4001 at tick 301, the referee → player 3: who is wrong is unknown"},
		{"two builds", desync.Explanation{Verdict: desync.Verdict{Party: desync.TwoBuilds}, Player: 3, First: exact, Compared: 301}, health, 1, "two builds disagree: Units[ID=34].Health 4000 → 4001 at tick 301, the referee → player 3"},
		{"two builds in relay mode", desync.Explanation{Verdict: desync.Verdict{Party: desync.TwoBuilds}, Player: 3, Groups: []desync.Group{{BundleGroup: replay.BundleGroup{Players: []lockstep.Player{0, 2}}}}, First: exact, Compared: 301}, health, 1, "two builds disagree: Units[ID=34].Health 4000 → 4001 at tick 301, players 0 and 2 → player 3"},
		{"a keyframe", desync.Explanation{Verdict: desync.Verdict{Party: desync.WrongKeyframe}, First: exact, Compared: 301}, health, 1, "a keyframe is not the match's state: Units[ID=34].Health 4000 → 4001 at tick 301"},
		{"no fixed result", desync.Explanation{Verdict: desync.Verdict{Party: desync.NoFixedResult, Parting: &desync.Parting{Tick: 301, Field: "Units[ID=34].Health", Way: desync.WayAgain}}}, nil, 0,
			"no fixed result: Units[ID=34].Health at tick 301, computed again from the same state"},
		{"a stale cache", desync.Explanation{Verdict: desync.Verdict{Party: desync.NoFixedResult, Parting: &desync.Parting{Tick: 301, Way: desync.WayRestored}}}, nil, 0,
			"no fixed result: tick 301, computed from a state that was restored just before it"},
		{"what New makes", desync.Explanation{Verdict: desync.Verdict{Party: desync.NoFixedResult, Parting: &desync.Parting{Tick: 301, Way: desync.WayNew}}}, nil, 0,
			"no fixed result: tick 301, computed from a state that was restored after New"},
		{"a table of New", desync.Explanation{Verdict: desync.Verdict{Party: desync.NoFixedResult, Parting: &desync.Parting{Tick: 301, Way: desync.WayApart}}}, nil, 0,
			"no fixed result: tick 301, computed in a process that computes nothing else"},
		{"a panic", desync.Explanation{Player: 3, Tick: 65, Panic: &replay.Panic{Where: "Step", Text: "index out of range [7]"}}, nil, 0,
			"the rules panicked on the machine of player 3 in Step of tick 65: index out of range [7]"},
		{"a redacted panic", desync.Explanation{Player: lockstep.System, Tick: 65, Panic: &replay.Panic{Where: "Step"}}, nil, 0, "the rules panicked on the server in Step of tick 65"},
	} {
		if got := desync.Answer(&c.e, c.first, c.fields); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A report begins with its answer, whatever part of the state it shows, and ends with what was tried.
func TestAnswerIsFirst(t *testing.T) {
	f := func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }
	title := ""
	for _, path := range []string{"", "Units[ID=9]"} {
		o := withGame(t)
		o.Path, o.Apart = path, func(job []byte) ([]byte, error) { return desync.ComputeApart(job, findGame), nil }
		e := explained(t, f, o)
		lines := e.Lines()
		if title == "" {
			title = e.Title
		}
		if e.Title != title || !strings.HasPrefix(title, "Units[ID=6].Health 40 → 39 at tick 160, since one of the ticks 141 to 160, player 2 (c)") || lines[0] != "answer     "+title {
			t.Errorf("path %q: got the title %q and the line %q", path, e.Title, lines[0])
		}
		rest := lines[len(lines)-1]
		for i, line := range lines {
			if strings.HasPrefix(line, "tried ") {
				rest = strings.Join(lines[i+1:], "\n")
			}
		}
		if strings.HasPrefix(rest, "tried ") || rest != "" && !strings.HasPrefix(rest, "note ") {
			t.Errorf("path %q: what was tried is not at the end:\n%s", path, strings.Join(lines, "\n"))
		}
		page := pageOf(t, e)
		at := -1
		for _, part := range []string{"<title>" + title, "<h1>" + title, "computed it wrong</strong>", "Grade: consistent with", "<h2>What happened", "<h2>What differs", "<h2>What was tried"} {
			next := strings.Index(page, part)
			if next <= at {
				t.Errorf("path %q: %q is at byte %d of the page, want after %d", path, part, next, at)
			}
			at = next
		}
	}
}

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
