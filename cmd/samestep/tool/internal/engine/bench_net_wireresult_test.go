//go:build !js && !wasip1

package engine

import (
	"bytes"
	"regexp"
	"testing"
)

// A table shows what was measured, and a dash where nothing was.
func TestWireResult(t *testing.T) {
	r := wireResult{Datagrams: sideResult{Execution: spread{P50MS: 1.25, LongestMS: 3}}}
	var out bytes.Buffer
	r.Print(&out)
	for _, want := range []string{`command to execution, median +– +1\.2 ms`, `command to execution, longest +– +3\.0 ms`, `frames late, median +– +–`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("got %s, want %q", &out, want)
		}
	}
}
