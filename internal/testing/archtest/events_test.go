package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// eventWriters are the packages that write events, and as whom (record.EventType.By). A player or a game has notes only.
var eventWriters = map[string]string{
	"lockstep/host":                         "host",
	"lockstep/coordinator":                  "host",
	"cluster/audience":                      "host", // what the host has told before, for spectators
	"server":                                "server",
	"lockstep/disclosure":                   "server",
	"cmd/samestep/tool/internal/matchlines": "import",
}

// eventType is a row of the registry in lockstep/record/event.go: the name, and who writes the event.
var eventType = regexp.MustCompile(`(?m)^\t\{(Event\w+), (?:true|false), "(\w+)", `)

// eventFindings looks for events that somebody else writes than the registry says.
func eventFindings(tr *tree, registry string) (found []finding) {
	by, written := map[string]string{}, map[string]bool{}
	for _, row := range eventType.FindAllStringSubmatch(registry, -1) {
		by[row[1]] = row[2]
	}
	for _, p := range tr.pkgs {
		if strings.HasPrefix(p.path, "internal/testing/") {
			continue
		}
		tr.calls([]string{p.path}, func(f *file, _ *ast.FuncDecl, call *ast.CallExpr) {
			for _, arg := range call.Args {
				s, ok := arg.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				name := s.Sel.Name
				if want, ok := by[name]; ok {
					if written[name] = true; eventWriters[p.path] != want {
						found = append(found, finding{f.name, tr.line(call.Pos()), "events", name + " is written here, and the registry says by " + want})
					}
				}
			}
		})
	}
	for name := range by {
		if !written[name] {
			found = append(found, finding{"lockstep/record", 0, "events", name + " is written by nobody"})
		}
	}
	return found
}

// Only those write an event who may, as the registry says, and somebody writes each.
func TestEvents(t *testing.T) {
	tr := ours(t)
	registry, err := os.ReadFile(filepath.Join(tr.dir, "lockstep", "record", "event.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(eventType.FindAll(registry, -1)); n < 18 {
		t.Errorf("got %d events in the registry, want 18 at least", n)
	}
	report(t, eventFindings(tr, string(registry)))
}

func TestEventsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"lockstep/host/a.go":   "package p\nfunc a() { h.announce(p, record.EventPace, text) }",
		"server/a.go":          "package p\nfunc a() { m.remember(p, record.EventPace, text) }",
		"lockstep/player/a.go": "package p\nfunc a() { c.Event(p, record.EventReports, text) }",
	})
	registry := "\t{EventPace, true, \"host\", x},\n\t{EventReports, false, \"import\", x},\n\t{EventVote, true, \"host\", x},\n"
	expect(t, eventFindings(tr, registry),
		"lockstep/player/a.go:2: events: EventReports is written here, and the registry says by import",
		"server/a.go:2: events: EventPace is written here, and the registry says by host",
		"EventVote is written by nobody")
}
