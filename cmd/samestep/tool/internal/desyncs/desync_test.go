//go:build !js

package desyncs

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// nextOf returns the commands that the text has.
func nextOf(e *desync.Explanation) (all []string) {
	for _, s := range e.Steps {
		if s.Next {
			all = append(all, s.Command)
		}
	}
	return all
}

// The text has the command that finds the line before the evidence, and it names both revisions if the bundle does.
func TestNextCommand(t *testing.T) {
	line, flipped := &desync.Line{File: "a.go"}, &desync.Cause{Kind: desync.AlteredField, Flipped: true}
	steps := []desync.NextStep{{Command: "samestep desync explain b.zip"}, {Command: "samestep desync line b.zip"}}
	for _, row := range []struct {
		name string
		e    desync.Explanation
		want string
	}{
		{"not asked", desync.Explanation{}, "samestep desync line b.zip"},
		{"the line is known", desync.Explanation{Line: line}, ""},
		{"a line of another version", desync.Explanation{Line: &desync.Line{File: "a.go", Doubt: "neither"}}, "samestep desync line b.zip"},
		{"no line was found", desync.Explanation{Line: &desync.Line{}}, "samestep desync line b.zip"},
		{"its memory", desync.Explanation{Again: &desync.Again{Outcome: "right this time"}}, ""},
		{"another build", desync.Explanation{Verdict: desync.Verdict{With: "3b18e512dba7"}}, "samestep desync explain b.zip\nsamestep desync line b.zip"},
		{"a flipped bit, as a rule may flip one", desync.Explanation{Cause: flipped}, "samestep desync line b.zip"},
		{"a flipped bit of other rules", desync.Explanation{Cause: flipped, Again: &desync.Again{Outcome: "wrong in the same way"}}, "samestep desync line b.zip"},
		{"a flipped bit of no fixed result", desync.Explanation{Cause: flipped, Verdict: desync.Verdict{Parting: &desync.Parting{}}}, "samestep desync line b.zip"},
		{"another number", desync.Explanation{Cause: &desync.Cause{Kind: desync.AlteredField}}, "samestep desync line b.zip"},
		{"its rules", desync.Explanation{Again: &desync.Again{Outcome: "wrong in the same way"}}, "samestep desync line b.zip"},
	} {
		row.e.Steps = slices.Clone(steps)
		markNext(&row.e)
		got := strings.Join(nextOf(&row.e), "\n")
		if text := strings.Join(row.e.Lines(), "\n"); got != row.want || got != "" && !strings.Contains(text, "\nnext       "+strings.ReplaceAll(got, "\n", "\n           ")+"\nmatch ") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	h := &lockstep.Header{Sources: "example.org/game 0123456789abcdef"}
	m := &replay.Manifest{Player: 1, Participants: []replay.BundleParticipant{{Player: 1, Sources: "example.org/game a1b2c3d4e5f60718"}}}
	e := desync.Explanation{Cause: flipped} // by the rules of the other revision, maybe
	handOver(&e, h, m, "samestep", "b.zip", "", "", "")
	if got := strings.Join(nextOf(&e), "\n"); !strings.HasSuffix(got, " --other a1b2c3d4e5f6") {
		t.Errorf("got %q, want the player's revision", got)
	}
	for _, row := range []struct {
		shown *desync.Shown
		want  string
	}{
		{&desync.Shown{Tick: 125, Field: "Units[ID=7].Pos.X"}, "t=125&unit=7&path=Units%5BID%3D7%5D.Pos.X"},
		{&desync.Shown{Tick: 125, Field: "Units[ID=7]"}, "t=125&unit=7&path=Units%5BID%3D7%5D"},
		{&desync.Shown{Tick: 120, Field: "Board[3].Piece"}, "t=120&path=Board%5B3%5D.Piece"},
		{&desync.Shown{Tick: 120, Field: "Match.Score[2].Of[ID=4]"}, "t=120&path=Match.Score%5B2%5D.Of%5BID%3D4%5D"},
		{nil, "t=130"},
	} {
		e = desync.Explanation{Tick: 130, Shown: row.shown}
		handOver(&e, h, m, "samestep", "skirmish-desync-130.zip", "", "", "https://play.example/")
		if want := "https://play.example/#/replay/skirmish-desync-130.zip?" + row.want; e.Viewer != want {
			t.Errorf("got the link %q, want %q", e.Viewer, want)
		}
	}
}
