package desync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func ExampleProgram() {
	p := desync.Program{Who: "player", Player: 1, Build: "2", Sources: record.Sources{Module: "example.com/hex", Revision: "3b18e512dba79e4c", Modified: true}}
	fmt.Println(p)
	// Output: player 1: build 2, example.com/hex at 3b18e512dba7 with changed files
}

// In a match of two, the player's own build cannot tell who is wrong. The verdict says which build can.
func TestExplainWithThePlayersBuild(t *testing.T) {
	rules := skirmish.Rules()
	step := rules.Step
	rules.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		if step(w, config, t); t.Tick == faultTick {
			w.Units[5].Health--
		}
	}
	wrong := lockstep.MustGame(rules)
	const recorded = "example.com/hex 3b18e512dba79e4c"
	x := newTableOfSeats(t, 2, recorded, wrong, false, 1, 1, 100)
	x.play(t, 400)
	b := open(t, packed(t, unpacked(t, x.bundle(t)), func(m *replay.Manifest) { m.Participants[1].Sources = "example.com/hex a1b2c3d4e5f6 modified" }))
	e, err := desync.Explain(b, desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return wrong, nil }})
	if err != nil {
		t.Fatal(err)
	}
	var text, page strings.Builder
	if err := e.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	const advice = "xplain the bundle again with a program of revision 3b18e512dba7, which recorded the match"
	for _, want := range []string{
		advice, "the recorder: build " + skirmish.RulesBuild + ", example.com/hex at 3b18e512dba7",
		"player 1: build " + skirmish.RulesBuild + ", example.com/hex at a1b2c3d4e5f6 with changed files", "this program: build " + skirmish.RulesBuild + ", github.com/seed-49bee653/samestep",
	} {
		if got := strings.Join(e.Lines(), "\n"); !strings.Contains(got, want) || !strings.Contains(page.String(), want) {
			t.Errorf("got\n%s\nwithout %q, or a page without it", got, want)
		}
	}
	if e.Verdict.Party != desync.WrongUnclear || e.Verdict.With != "3b18e512dba7" {
		t.Errorf("got %+v", e.Verdict)
	}
	if e, err = desync.Explain(b, withGame(t)); err != nil || e.Verdict.Party != desync.WrongPlayer || e.Verdict.Advice != "" || e.Verdict.With != "" {
		t.Errorf("with the right build: got %+v, %v", e.Verdict, err)
	}
	for line := range strings.Lines(text.String()) {
		if len([]rune(line)) > 81 {
			t.Errorf("got a line of %d columns: %s", len([]rune(line))-1, line)
		}
	}
}

// The advice names the revision only if a repository may have it, and if it is not that of this program.
func TestAdvice(t *testing.T) {
	const right, wrong = "example.com/hex 3b18e512dba79e4c", "example.com/hex a1b2c3d4e5f60718"
	for _, row := range []struct {
		name           string
		recorder, this string
		verdict        desync.Verdict
		text, revision string
	}{
		{"the player's revision", right, wrong, desync.Verdict{Party: desync.WrongUnclear, Simulated: true}, "of revision 3b18e512dba7, which recorded the match; this program is of the revision of player 1, a1b2c3d4e5f6", "3b18e512dba7"},
		{"a third revision", right, "example.com/hex 00000000000000", desync.Verdict{Party: desync.WrongBuild, Simulated: true}, "a program of revision 3b18e512dba7, which recorded the match", "3b18e512dba7"},
		{"not known here", right, "", desync.Verdict{Party: desync.WrongBuild, Simulated: true}, "a program of revision 3b18e512dba7, which recorded the match", "3b18e512dba7"},
		{"a tag", "example.com/hex v1.3.0-release.12", "", desync.Verdict{Party: desync.WrongBuild, Simulated: true}, "of revision v1.3.0-release.12,", "v1.3.0-release.12"},
		{"the recorder's revision", right, right, desync.Verdict{Party: desync.WrongUnclear, Simulated: true}, "on the recorder's platform (plan9/386)", ""},
		{"changed files", right + " modified", wrong, desync.Verdict{Party: desync.WrongUnclear, Simulated: true}, "with changed files, which no repository has", ""},
		{"no revision", "example.com/hex", wrong, desync.Verdict{Party: desync.WrongUnclear, Simulated: true}, "(build 7, on plan9/386): the replay does not have its revision", ""},
		{"a command for the shell", "example.com/hex $(rm)", wrong, desync.Verdict{Party: desync.WrongUnclear, Simulated: true}, "the replay does not have its revision", ""},
		{"without the game", right, "", desync.Verdict{Party: desync.WrongPlayer}, "a program of revision 3b18e512dba7", "3b18e512dba7"},
		{"nothing known", "", "", desync.Verdict{Party: desync.WrongPlayer}, "", ""},
		{"a clear verdict", right, wrong, desync.Verdict{Party: desync.WrongPlayer, Simulated: true}, "", ""},
	} {
		e := desync.Explanation{Build: "7", Recorder: "plan9/386", Verdict: row.verdict, Programs: []desync.Program{
			{Who: "recorder", Sources: record.ParseSources(row.recorder)}, {Who: "player", Player: 1, Sources: record.ParseSources(wrong)},
		}}
		if row.this != "" {
			e.Programs = append(e.Programs, desync.Program{Who: "this", Sources: record.ParseSources(row.this)})
		}
		text, revision := e.Advise()
		if !strings.Contains(text, row.text) || (text == "") != (row.text == "") || revision != row.revision {
			t.Errorf("%s: got %q and %q, want %q and %q", row.name, text, revision, row.text, row.revision)
		}
	}
}
