package desync_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/desync"
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
