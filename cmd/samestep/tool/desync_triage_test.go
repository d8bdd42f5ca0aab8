//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/triage"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A triage compares as many recordings of a match as its limit says, and lists the others.
// maxRecordings is how many recordings of one match triage compares.
const maxRecordings = 64

func TestTriageOfManyRecordings(t *testing.T) {
	dir := t.TempDir()
	for i := range maxRecordings + 2 {
		lines := fmt.Sprintf(`{"log":1,"title":"x","tick_rate_hz":60,"players":100,"match":"m","by":%d}
{"t":0,"p":%[1]d,"sum":"0000000000000001"}
{"t":1,"p":%[1]d,"sum":"%016[2]x"}
{"t":1,"end":true}
`, i, i/(maxRecordings-1))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "desync", "triage", dir, "--json"}, &out, &errs); code != console.ExitDesync {
		t.Fatalf("got exit code %d: %s", code, &errs)
	}
	var found triage.Triage
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	if found.Files != maxRecordings+2 || found.Desyncs != 1 || len(found.Unreadable) != 2 || !strings.Contains(found.Unreadable[0].Error, `more than 64 recordings of match "m"`) {
		t.Errorf("got %s", &out)
	}
	if g := found.Groups[0]; g.Example != filepath.Join(dir, "000.jsonl")+" "+filepath.Join(dir, fmt.Sprintf("%03d.jsonl", maxRecordings-1)) || g.Tick != (desync.Span{From: 1, To: 1}) {
		t.Errorf("got %+v", g)
	}
}
