//go:build !js

package serving

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
)

// A panic of the game's function for the files of its page is an error, as no files are: the match goes on without a page.
func TestFilesOfPage(t *testing.T) {
	for want, files := range map[string]func() fs.FS{
		"the game's function of tool.Page panicked: boom":    func() fs.FS { panic("boom") },
		"the game's function of tool.Page returned no files": func() fs.FS { return nil },
	} {
		if _, err := filesOf(&gameset.WebPage{Files: files}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if own, err := filesOf(&gameset.WebPage{Files: func() fs.FS { return os.DirFS(".") }}); own == nil || err != nil {
		t.Errorf("got %v, %v", own, err)
	}
}
