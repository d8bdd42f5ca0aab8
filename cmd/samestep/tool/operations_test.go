//go:build unix

package tool

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The sh blocks of docs/operations.md work as written, one after the other, in an empty folder.
func TestOperationsPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands strings.Builder
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	for _, m := range blocks {
		commands.WriteString(m[1])
	}
	if len(blocks) < 2 {
		t.Fatalf("got %d sh blocks, want those of the page", len(blocks))
	}
	dir := t.TempDir()
	script := "exec sh -eux page.sh\n-- page.sh --\n" + commands.String()
	if err := os.WriteFile(filepath.Join(dir, "operations.txtar"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true})
}
