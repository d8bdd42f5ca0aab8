package triage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/internal/pages/pagestest"
	"github.com/seed-49bee653/samestep/desync/triage"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// fallen returns a case of a bug.
func fallen(name, bug string, at lockstep.Tick, platform string) desync.Case {
	return desync.Case{
		Name: name, Written: time.Unix(int64(at), 0), Party: desync.WrongPlayer, First: desync.Span{From: at, To: at},
		Fingerprint: desync.Fingerprint{ID: bug, Game: "chess", Class: desync.ClassRules, Field: bug},
		Next:        "samestep desync explain " + name,
		Machines:    []desync.Machine{{Build: "1", Platform: platform, Differs: true, Sources: "example.com/chess 3b18e512dba79e4c modified"}, {Build: "1", Platform: "linux/amd64"}},
	}
}

func ExampleTriage() {
	t := &triage.Triage{}
	t.Add(fallen("a.zip", "c75e4082", 7, "toaster"))
	t.Add(fallen("b.zip", "c75e4082", 9, "toaster"))
	t.Fail("c.zip", errors.New("not a bundle"))
	t.Sort()
	var g *triage.CaseGroup = t.Groups[0]
	var s triage.Share = g.Platforms[0]
	fmt.Println(g.Count, "times", g.Fingerprint.ID, "such as", g.Example)
	fmt.Printf("%s: %d of %d machines were wrong\n", s.Name, s.Differ, s.All)
	fmt.Println(triage.Unreadable(t.Unreadable[0]))
	// Output:
	// 2 times c75e4082 such as a.zip
	// toaster: 2 of 2 machines were wrong
	// {c.zip not a bundle}
}

// The groups have the right counts whatever the order of the cases.
func TestTriage(t *testing.T) {
	cases := []desync.Case{
		fallen("late", "b", 90, "js/wasm"), fallen("early", "b", 30, "js/wasm"), fallen("middle", "b", 60, "linux/amd64"), fallen("other", "a", 10, "js/wasm"),
	}
	cases = append(cases, fallen("vague", "b", 20, "js/wasm"))
	cases[4].First.From = 5
	var want string
	for turn := range cases {
		x := &triage.Triage{}
		for i := range cases {
			x.Add(cases[(i+turn)%len(cases)])
		}
		x.Sort()
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if turn == 0 {
			want = string(text)
			g := x.Groups[0]
			if len(x.Groups) != 2 || g.Count != 4 || g.Example != "early" || g.Next != "samestep desync explain early" || len(g.Revisions) != 1 || g.Revisions[0] != (triage.Share{Name: "3b18e512dba7 with changed files", Differ: 4, All: 4}) || g.Platforms[0] != (triage.Share{Name: "js/wasm", Differ: 3, All: 3}) ||
				g.Platforms[1] != (triage.Share{Name: "linux/amd64", Differ: 1, All: 5}) || g.First.Unix() != 20 || g.Last.Unix() != 90 {
				t.Errorf("got %s", text)
			}
		} else if string(text) != want {
			t.Errorf("in another order: got %s, want %s", text, want)
		}
	}
}

// A triage stays small, and counts what it does not keep. Names in hostile files do no harm on the page and the terminal.
func TestTriageIsBounded(t *testing.T) {
	x := &triage.Triage{}
	long := strings.Repeat("<script>\x1b[2J", 1000)
	for i := range 5000 {
		x.Add(fallen("f", fmt.Sprint(i), 1, long))
		x.Add(fallen("f", "0", 1, fmt.Sprint(i)))
		x.Fail(fmt.Sprint(i), errors.New(long))
	}
	x.Sort()
	g := x.Groups[0]
	if len(x.Groups) != 4096 || x.Dropped != 5000-4096 || g.Count != 5001 || len(g.Platforms) != 16 || len(x.Unreadable) != 1000 || x.More != 4000 {
		t.Errorf("got %d groups, %d dropped, %d of %d platforms, %d and %d unreadable", len(x.Groups), x.Dropped, g.Count, len(g.Platforms), len(x.Unreadable), x.More)
	}
	all := 0
	for _, s := range g.Platforms {
		all += s.All
	}
	if all != 2*5001 || len(x.Unreadable[0].Error) > 1100 {
		t.Errorf("got %d machines, and an error of %d bytes", all, len(x.Unreadable[0].Error))
	}
	x.Groups, x.Unreadable = x.Groups[:2], x.Unreadable[:2]
	var text, page strings.Builder
	if err := errors.Join(x.WriteText(&text), x.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\x1b") || strings.Contains(page.String(), "<script") {
		t.Error("a name was not escaped")
	}
	pagestest.SelfContained(t, page.String())
}

// A machine counts once in a group, as wrong if any desync shows it so, and again in another match or with another build.
func TestMachineCountsOnce(t *testing.T) {
	x := &triage.Triage{}
	for _, m := range []desync.Machine{
		{Match: "a", Who: "0", Build: "1"}, {Match: "a", Who: "0", Build: "1", Differs: true}, {Match: "a", Who: "0", Build: "1", Differs: true},
		{Match: "a", Who: "0", Build: "1"}, {Match: "a", Who: "1", Build: "1"}, {Match: "b", Who: "0", Build: "1"}, {Match: "a", Who: "0", Build: "2"},
	} {
		c := fallen("f", "a", 1, "")
		c.Machines = []desync.Machine{m}
		x.Add(c)
	}
	if got, want := fmt.Sprint(x.Groups[0].Builds), "[{1 1 3} {2 0 1}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c := fallen("f", "b", 1, "")
	c.Machines = make([]desync.Machine, 1<<18)
	for i := range c.Machines {
		c.Machines[i] = desync.Machine{Match: "c", Who: fmt.Sprint(i), Build: "1"}
	}
	x.Add(c)
	if got, want := x.Summary(), "beyond 262144 machines, 4 times were not counted"; x.Groups[1].Builds[0].All != 1<<18-4 || !strings.Contains(got, want) {
		t.Errorf("got %s, %v, want %s", got, x.Groups[1].Builds, want)
	}
}
