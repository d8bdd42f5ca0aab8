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

var codeRoute = regexp.MustCompile(`mux\.Handle(?:Func)?\("([^"]+)"`)

// Every route of the server is in the OpenAPI document, with every code of an error and every field, and the reverse.
func TestDocument(t *testing.T) {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Properties map[string]struct {
						Enum     []code
						Meanings map[code]string `json:"x-enum-descriptions"`
					}
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
	source, err := os.ReadFile("server.go")
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
	described := doc.Components.Schemas["Error"].Properties["error"].Properties["code"]
	codes := described.Enum
	if want := slices.Sorted(maps.Keys(statuses)); !slices.Equal(slices.Sorted(slices.Values(codes)), want) {
		t.Errorf("got the codes %v, want %v", codes, want)
	}
	for c, status := range statuses {
		if got, want := described.Meanings[c], strconv.Itoa(status)+": "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got the meaning %q, want one with the status %d", c, got, status)
		}
	}
	for name, v := range map[string]any{"Match": Status{}, "Player": PlayerStatus{}, "Stats": host.Stats{}, "Settings": lockstep.Settings{}, "Replay": Archived{}, "Ban": banJSON{}, "Revocation": revocationJSON{}, "Schemas": protocol.Schemas{}, "Error": apiError{}} {
		if got, want := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties)), jsonFields(v); !slices.Equal(got, want) {
			t.Errorf("%s: got the fields %v, want %v", name, got, want)
		}
	}
}

// jsonFields returns the names of a struct's fields in JSON.
func jsonFields(v any) (names []string) {
	x := reflect.TypeOf(v)
	for i := range x.NumField() {
		if x.Field(i).Anonymous {
			names = append(names, jsonFields(reflect.Zero(x.Field(i).Type).Interface())...)
			continue
		}
		if name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ","); x.Field(i).IsExported() && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
