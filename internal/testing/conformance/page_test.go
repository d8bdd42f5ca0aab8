package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

const page = dir + "/annotated.md"

// annotation is a row of the annotated file.
var annotation = regexp.MustCompile("(?m)^\\| (\\d+)(?:–(\\d+))? \\| `([0-9a-f]+)` \\|")

// The annotated bytes are those of the file, each once and in order.
func TestPageAnnotates(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	file, err := readCase("replay/annotated.ssr")
	if err != nil {
		t.Fatal(err)
	}
	if len(file) >= 500 {
		t.Errorf("the annotated file has %d bytes, want fewer than 500", len(file))
	}
	if wrong := compareAnnotation(string(text), file); wrong != "" {
		t.Error(wrong)
	}
	file[57] ^= 1
	if compareAnnotation(string(text), file) == "" {
		t.Error("control: a changed byte is not noticed")
	}
	if compareAnnotation(string(text), append(file, 0)) == "" {
		t.Error("control: a byte more is not noticed")
	}
}

// compareAnnotation returns the first difference between a page and a file.
func compareAnnotation(text string, file []byte) string {
	at := 0
	for _, row := range annotation.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(row[1])
		last := first
		if row[2] != "" {
			last, _ = strconv.Atoi(row[2])
		}
		b, err := hex.DecodeString(row[3])
		if err != nil || first != at || last != at+len(b)-1 || last >= len(file) || !bytes.Equal(b, file[first:last+1]) {
			return fmt.Sprintf("row %q: it should begin at byte %d, and have the bytes of the file", row[0], at)
		}
		at = last + 1
	}
	if at != len(file) {
		return fmt.Sprintf("got %d bytes annotated, want %d", at, len(file))
	}
	return ""
}
