//go:build !js

package live

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer that breaks off leaves no file, and a name of the server cannot lead elsewhere.
func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	var s savedReplay
	for _, bad := range []string{"", "text", "SAMESTEP"} {
		f, err := os.Create(filepath.Join(dir, "save.ssr"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.take(f, strings.NewReader(bad)); err == nil {
			t.Errorf("%q: want an error", bad)
		}
		if err := s.take(f, io.MultiReader(strings.NewReader("x"), &failing{})); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("broken off: got %v", err)
		}
		f.Close()
	}
	for header, want := range map[string]string{
		`attachment; filename="duel-9d40d492-1200.ssr"`: "duel-9d40d492-1200.ssr",
		`attachment; filename="../duel.ssr"`:            "", `attachment; filename="duel"`: "", "": "", `attachment; filename=".ssr"`: "",
	} {
		if got := nameOf(&http.Response{Header: http.Header{"Content-Disposition": {header}}}); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
}

// A failing reader is a connection that breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
