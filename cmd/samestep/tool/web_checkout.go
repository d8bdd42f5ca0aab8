//go:build !release && !js

package tool

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-49bee653/samestep/internal/site"
)

// pagePrograms builds the programs of a page in the checkout from which this program was built, or else in the current one.
func pagePrograms(ctx context.Context, p *webPage, say func(string)) (fs.FS, error) {
	folder := p.folder
	if folder == "" {
		folder = sources()
	}
	return site.Build(ctx, site.BuildOptions{Dir: folder, Packages: p.programs, Quality: 5, Say: say})
}

// sources returns the folder of this file if it exists, and otherwise nothing.
func sources() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // built with -trimpath
		return ""
	}
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return filepath.Dir(file)
}
