package web_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish/web"
)

func ExamplePage() {
	b, err := fs.ReadFile(web.Page(), "index.html")
	fmt.Println(string(b[:15]), err)
	// Output: <!doctype html> <nil>
}

// inline matches code that a content security policy without 'unsafe-inline' forbids.
var inline = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\sstyle=|\son[a-z]+=|javascript:|eval\(|new Function`)

func TestNothingInline(t *testing.T) {
	files := 0
	err := fs.WalkDir(web.Page(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := fs.ReadFile(web.Page(), name)
		if at := inline.FindIndex(b); at != nil {
			t.Errorf("%s: inline code at byte %d: %q", name, at[0], b[at[0]:at[1]])
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files: %v", files, err)
	}
	for _, bad := range []string{"<script>f()", "<p style='x'>", `<a onclick="f()">`, "<STYLE>"} {
		if !inline.MatchString(bad) {
			t.Errorf("%q was not found", bad)
		}
	}
}
