package server

import (
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

var (
	pageRoute = regexp.MustCompile("(?m)^\\| `((?:GET|POST|DELETE) /[^`]*)` \\|")
	codeRoute = regexp.MustCompile(`mux\.Handle(?:Func)?\("([^"]+)"`)
)

// Every route of the server is in docs/protocol.md, and every route there is the server's.
func TestRoutesOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("serve.go")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Dir: t.TempDir(), Replays: true})
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, m := range pageRoute.FindAllStringSubmatch(string(page), -1) {
		method, path, _ := strings.Cut(m[1], " ")
		_, pattern := s.mux.Handler(httptest.NewRequest(method, path, nil))
		if pattern == "" {
			t.Errorf("the server has no route for %s", m[1])
		}
		served[pattern] = true
	}
	routes := codeRoute.FindAllStringSubmatch(string(code), -1)
	for _, m := range routes {
		if !served[m[1]] {
			t.Errorf("the page has no route %s", m[1])
		}
	}
	if len(routes) < 10 || len(served) != len(routes) {
		t.Errorf("got %d routes of the page, want %d, and at least 10", len(served), len(routes))
	}
	if _, pattern := s.mux.Handler(httptest.NewRequest("GET", "/nowhere", nil)); pattern != "" {
		t.Errorf("control: got the route %s, want none", pattern)
	}
}

// Every code of an error is in docs/protocol.md, with its status, and every code there is the server's.
func TestCodesOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[code]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|").FindAllStringSubmatch(string(page), -1) {
		told[code(m[1])] = m[2]
	}
	for c, status := range statuses {
		if told[c] != strconv.Itoa(status) {
			t.Errorf("%s: got status %q, want %d", c, told[c], status)
		}
	}
	if len(told) != len(statuses) || len(told) < 20 {
		t.Errorf("got %d codes on the page, want %d, and at least 20", len(told), len(statuses))
	}
}

// Every field of the server's JSON is in docs/protocol.md.
func TestFieldsOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := func(text string) (fields []string) {
		for _, v := range []any{View{}, host.Stats{}, lockstep.Settings{}, replayFile{}, banView{}, revocationView{}, apiError{}, apiProblem{}} {
			x := reflect.TypeOf(v)
			for i := range x.NumField() {
				if !x.Field(i).IsExported() {
					continue // JSON leaves it out
				}
				name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ",")
				if !strings.Contains(text, "`"+name+"`") {
					fields = append(fields, x.Name()+"."+name)
				}
			}
		}
		return fields
	}
	if got := missing(string(page)); len(got) > 0 {
		t.Errorf("the page has no %v", got)
	}
	if got := missing(""); len(got) < 40 {
		t.Errorf("control: got %d fields, want at least 40", len(got))
	}
}
