//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The JSON of the verbs about desyncs keeps every field that it has: programs of others read it. testdata/json/keys.txt lists
// them; -rewrite writes it again.
func TestJSONKeys(t *testing.T) {
	t.Parallel()
	bundle := tooltest.DemoBundle(t)
	recording := filepath.Join(filepath.Dir(bundle), "skirmish.ssr")
	var got strings.Builder
	for _, args := range [][]string{
		{"desync", "explain", bundle}, {"desync", "triage", bundle, recording}, {"replay", "verify", "--keep-going", recording},
		{"replay", "bisect", bundle, "--player", "3"}, {"replay", "diff", bundle, "--tick", "140"}, {"replay", "profile", recording, "--to", "60", "--limit", "60"},
	} {
		var out, errs bytes.Buffer
		tooltest.Execute(append(args, "--json"), &out, &errs)
		var v any
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatalf("%q: %v: %s", args, err, &errs)
		}
		keys := map[string]bool{}
		addKeys(keys, "", v)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			got.WriteString(args[0] + " " + args[1] + ": " + key + "\n")
		}
	}
	const golden = "testdata/json/keys.txt"
	if script.Rewrite() {
		if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, key := range all {
		if !strings.Contains(got.String(), key+"\n") {
			t.Errorf("%s is gone", key)
		}
	}
	for key := range strings.Lines(got.String()) {
		if key = strings.TrimSuffix(key, "\n"); !slices.Contains(all, key) {
			t.Errorf("%s is new: list it with -rewrite", key)
		}
	}
	if len(all) < 100 {
		t.Errorf("got %d keys", len(all))
	}
}

// addKeys adds the paths of all keys in a JSON value.
func addKeys(keys map[string]bool, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			keys[at] = true
			addKeys(keys, at, inner)
		}
	case []any:
		for _, inner := range v {
			addKeys(keys, path+"[]", inner)
		}
	}
}

// Every field that differs is in the JSON: as many as are counted.
func TestJSONHasAllFields(t *testing.T) {
	t.Parallel()
	bundle := tooltest.DemoBundle(t)
	for _, args := range [][]string{{"desync", "explain", bundle, "--max-ticks", "5"}, {"replay", "diff", bundle, "--tick", "140"}} {
		var out, errs bytes.Buffer
		tooltest.Execute(append(args, "--json"), &out, &errs)
		type differences struct {
			List  []struct{ Path, A, B string }
			Total int
		}
		var v struct {
			Fields differences
			State  struct{ Differences differences }
		}
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatalf("%q: %v: %s", args, err, &errs)
		}
		d := v.Fields
		if d.Total == 0 {
			d = v.State.Differences
		}
		if d.Total == 0 || len(d.List) != d.Total || d.List[0].Path == "" || d.List[0].A == d.List[0].B {
			t.Errorf("%q: got %d of %d fields", args, len(d.List), d.Total)
		}
	}
}
