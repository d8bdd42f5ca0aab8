//go:build !js

package tool

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/commands"
)

// The help of each flag that takes a tick calls it T, and the verbs about one tick of a replay take it as --tick.
func TestTickFlags(t *testing.T) {
	book, err := commands.NewBook(func(program string, args []string, stdout, stderr io.Writer) int {
		return Run(t.Context(), append([]string{program}, args...), stdout, stderr, ours...)
	}, "samestep")
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`(?m)^ +--([a-z-]+) ([A-Z]+) .*\btick ([A-Z])\b`)
	found := 0
	for _, help := range book.Texts() {
		for _, m := range flag.FindAllStringSubmatch(help.Text, -1) {
			if found++; m[2] != "T" || m[3] != "T" {
				t.Errorf("%s: --%s %s is of tick %s, want T", help.File, m[1], m[2], m[3])
			}
		}
	}
	if found < 10 {
		t.Errorf("got %d flags that take a tick, want at least 10", found)
	}
	for _, verb := range []string{"seek", "step", "feed", "dump", "debug", "diff", "cut"} {
		args := []string{"samestep", "replay", verb, "--tick", "5", "none.ssr"}
		if verb == "cut" || verb == "diff" {
			args = append(args, "other.ssr")
		}
		var errs bytes.Buffer
		if code := Run(t.Context(), args, io.Discard, &errs, ours...); code == console.ExitOK || !strings.Contains(errs.String(), "none.ssr") {
			t.Errorf("replay %s --tick 5: got exit code %d and %s, want that there is no such file", verb, code, &errs)
		}
	}
}
