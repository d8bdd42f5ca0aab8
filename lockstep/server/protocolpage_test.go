package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
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
	s, err := New(Options{Dir: t.TempDir(), Replays: true, Rules: http.NotFoundHandler()})
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

// Every route of the server is in the OpenAPI document, with every code of an error and every field, and the reverse.
func TestDocument(t *testing.T) {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Properties map[string]struct{ Enum []code }
				}
			}
		}
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Dir: t.TempDir(), Replays: true, Rules: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			if method == "parameters" {
				continue
			}
			_, pattern := s.mux.Handler(httptest.NewRequest(strings.ToUpper(method), path, nil))
			if pattern == "" {
				t.Errorf("the server has no route for %s %s", method, path)
			}
			told[pattern] = true
		}
	}
	source, err := os.ReadFile("serve.go")
	if err != nil {
		t.Fatal(err)
	}
	routes := codeRoute.FindAllStringSubmatch(string(source), -1)
	for _, m := range routes {
		if !told[m[1]] {
			t.Errorf("the document has no route %s", m[1])
		}
	}
	if len(routes) < 10 || len(told) != len(routes) {
		t.Errorf("got %d routes in the document, want %d, and at least 10", len(told), len(routes))
	}
	codes := doc.Components.Schemas["Error"].Properties["error"].Properties["code"].Enum
	if want := slices.Sorted(maps.Keys(statuses)); !slices.Equal(slices.Sorted(slices.Values(codes)), want) {
		t.Errorf("got the codes %v, want %v", codes, want)
	}
	for name, v := range map[string]any{"Match": View{}, "Player": PlayerView{}, "Stats": host.Stats{}, "Settings": lockstep.Settings{}, "Replay": Archived{}, "Ban": banView{}, "Revocation": revocationView{}, "Schemas": protocol.Schemas{}, "Error": apiError{}} {
		if got, want := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties)), jsonFields(v); !slices.Equal(got, want) {
			t.Errorf("%s: got the fields %v, want %v", name, got, want)
		}
	}
}

// jsonFields returns the names of a struct's fields in JSON.
func jsonFields(v any) (names []string) {
	x := reflect.TypeOf(v)
	for i := range x.NumField() {
		if name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ","); x.Field(i).IsExported() && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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
		for _, v := range []any{View{}, PlayerView{}, host.Stats{}, lockstep.Settings{}, replayFile{}, banView{}, revocationView{}, apiError{}, apiProblem{}} {
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
