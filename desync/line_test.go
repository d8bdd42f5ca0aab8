package desync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/internal/pages/pagestest"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// lineAt returns a line that was found at a tick.
func lineAt(t lockstep.Tick) *desync.Line {
	return &desync.Line{
		File: "rules/combat.go", Number: 196, Func: "rules.(*World).hit", Tick: t, Phase: "combat", Source: `u.Name = "Zebedee" + x`,
		OnA: `u.Name = "Zebedee" + y`, Sides: []string{"v1.2", "v1.3"},
		Because: `u.Name is "Zebedee1" | "Zebedee2"`, Text: []string{"sides      A: .", `state      Name: "Zebedee1" | "Zebedee2"`}, Result: json.RawMessage(`{"tick":4}`),
	}
}

// The line of code is found by another tool, and belongs to the report.
func ExampleLine() {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		panic(err)
	}
	e.SetLine(&desync.Line{File: "chest.go", Number: 12, Func: "chest.pay", Tick: 4, Source: "w.Gold += m.Gold", Because: "only B runs this"})
	e.Steps = append(e.Steps, desync.NextStep{Why: "Find it again", Command: "samestep desync line chest.zip"})
	fmt.Println(e.Fingerprint)
	// Output:
	// fingerprint c75e4082-45d9: chest, rules, build or platform, Gold, in chest.pay
}

// Of rules in a module, only the function is known.
func TestLineIsFunction(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*desync.Line{{Func: "step", Because: "calls draw"}, {Func: "step", File: "chest.c", Number: 12, Because: "calls draw"}} {
		e.SetLine(l)
		text, page := strings.Join(e.Lines(), "\n"), pageOf(t, e)
		want, place := "step", `<p><span class="mono">step</span></p>`
		if l.File != "" {
			want, place = "step at chest.c:12", `<p><span class="mono">chest.c:12</span> in <span class="mono">step</span></p>`
		}
		if !strings.Contains(text, want+"\n") || !strings.Contains(text, "calls draw") || !strings.Contains(page, place) || strings.Contains(page, "<pre><strong></strong>") {
			t.Errorf("got %s and %s, want %q and %q", text, page, want, place)
		}
	}
}

func TestLine(t *testing.T) {
	for _, redact := range []bool{false, true} {
		e, err := desync.Explain(chestAgain(), desync.Options{Redact: redact})
		if err != nil {
			t.Fatal(err)
		}
		plain := e.Fingerprint.ID
		e.SetLine(lineAt(4))
		if !strings.HasPrefix(e.Fingerprint.ID, plain+"-") || len(e.Fingerprint.ID) != len(plain)+5 {
			t.Errorf("got fingerprint %s, want %s and more", e.Fingerprint.ID, plain)
		}
		all, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		page := pageOf(t, e)
		all = append(all, page+strings.Join(e.Lines(), "\n")...)
		for _, want := range []string{"rules/combat.go:196  in rules.(*World).hit", "</span>, phase combat", "<h2>The line of code</h2>", `"line":196`, "on A:", "On A:", "<pre>u.Name", "A: v1.2 | B: v1.3"} {
			if !strings.Contains(string(all), want) {
				t.Errorf("redacted %v: got no %q", redact, want)
			}
		}
		if strings.Contains(string(all), "Zebedee") == redact {
			t.Errorf("redacted %v: a string of the match is there %v", redact, !redact)
		}
		pagestest.SelfContained(t, page)
	}
}

// A line where other versions differ is not that of the desync.
func TestLineOfAnotherTick(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, notes := e.Fingerprint.ID, len(e.Notes)
	e.SetLine(lineAt(3))
	if e.Fingerprint.ID != plain || len(e.Notes) != notes+1 || !strings.Contains(e.Notes[notes], "begin to differ at tick 3,") {
		t.Errorf("got %v, notes %q", e.Fingerprint, e.Notes)
	}
	other := lineAt(4)
	other.Doubt = "neither side computes what player 1 sent"
	e.SetLine(other)
	if e.Fingerprint.ID != plain || !strings.Contains(strings.Join(e.Lines(), "\n"), "\nline       not of this desync: neither side computes what player 1 sent\n") || !strings.Contains(pageOf(t, e), "<strong>Not of this desync:</strong> neither side") {
		t.Errorf("got %v and %q", e.Fingerprint, e.Lines())
	}
	e.SetLine(&desync.Line{Because: "both versions compute the same"})
	if e.Fingerprint.ID != plain || len(e.Notes) != notes+1 || !strings.Contains(strings.Join(e.Lines(), "\n"), "\nline       both versions compute the same\n") {
		t.Errorf("got %v, notes %q", e.Fingerprint, e.Notes)
	}
}

// The commands and the link of a report stand on its page.
func TestPageOfReport(t *testing.T) {
	e, err := desync.Explain(chestBundle(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.Bundle, e.Viewer = "chest-desync.zip", "https://play.example/#/replay/chest.ssr?tick=3"
	e.Steps = []desync.NextStep{{Why: "Look <further>", Command: "samestep replay dump 'a b.zip'"}}
	page := pageOf(t, e)
	for _, want := range []string{
		"Bundle <span class=\"mono\">chest-desync.zip</span>", `<a href="https://play.example/#/replay/chest.ssr?tick=3">Open in the viewer</a>`,
		"<p>Look &lt;further&gt;:</p><pre>samestep replay dump &#39;a b.zip&#39;</pre>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if verdict, what := strings.Index(page, "computed it wrong"), strings.Index(page, "<section>"); verdict < 0 || verdict > what {
		t.Error("the verdict is not first")
	}
	e.Viewer = "javascript:alert(1)"
	if page := pageOf(t, e); strings.Contains(page, `href="javascript`) {
		t.Error("the link runs a script")
	}
}
