package page_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"testing"

	"github.com/seed-49bee653/samestep/page"
)

func ExampleInspector() {
	b, err := fs.ReadFile(page.Inspector(), "index.html")
	fmt.Println(string(b[:15]), err)
	_, err = fs.Stat(page.Parts(), "timeline.js")
	fmt.Println(err)
	// Output:
	// <!doctype html> <nil>
	// <nil>
}

// unsafe matches code that a content security policy without 'unsafe-inline' forbids, and what turns text into markup.
var unsafe = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\sstyle=|\son[a-z]+=|javascript:|eval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write`)

// No file has inline code, and no module makes markup of text.
func TestNothingInline(t *testing.T) {
	files := 0
	for _, part := range []fs.FS{page.Parts(), page.Inspector()} {
		err := fs.WalkDir(part, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			b, err := fs.ReadFile(part, name)
			if at := unsafe.FindIndex(b); at != nil {
				t.Errorf("%s: inline code at byte %d: %q", name, at[0], b[at[0]:at[1]])
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 15 {
		t.Errorf("got %d files", files)
	}
	for _, bad := range []string{"<script>f()", "<p style='x'>", `<a onclick="f()">`, "<STYLE>", "e.innerHTML = x", "insertAdjacentHTML("} {
		if !unsafe.MatchString(bad) {
			t.Errorf("%q was not found", bad)
		}
	}
}
