package conformance

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// exampleLine is a line of an example: bytes, and "…" if more follow.
var exampleLine = regexp.MustCompile(`(?m)^    ((?:[0-9A-F]{2})+(?: (?:[0-9A-F]{2})+)*)(?: …)? {2,}\S`)

// The examples of the pages are bytes of the suite's files.
func TestFormatExamples(t *testing.T) {
	var text string
	for _, page := range documents(t) {
		text += page
	}
	built, _ := builtOnce()
	var files [][]byte
	for _, c := range built {
		files = append(files, c.Content)
		if lines, err := hexLines(c.Content); err == nil {
			for _, l := range lines {
				files = append(files, l.bytes)
			}
		}
	}
	examples := exampleLine.FindAllStringSubmatch(text+"    DEADBEEF  control\n", -1)
	if len(examples) < 15 {
		t.Errorf("got %d lines of examples, want at least 15", len(examples))
	}
	for i, line := range examples {
		b, err := hex.DecodeString(strings.ReplaceAll(line[1], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			found = found || bytes.Contains(f, b)
		}
		if control := i == len(examples)-1; found == control {
			t.Errorf("example %s: found in a file of the suite: %v", line[1], found)
		}
	}
}
