//go:build !js

package serving

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/site"
)

// Built has the programs of a release, or is nil. [Programs] sets it.
var Built fs.FS

// PagePrograms returns the programs of a page: those of a release, or else what it builds from the sources.
func PagePrograms(ctx context.Context, p *gameset.WebPage, say func(string)) (fs.FS, error) {
	if Built != nil {
		return packed(p)
	}
	own, err := os.Executable()
	if err != nil {
		own = "" // then any sources do
	}
	return BuildPage(ctx, p, site.BuildOptions{Quality: 5, Say: say, Program: own})
}

// BuildPage compiles the programs of a page in the folder of the program's package main, or else in the checkout of this package,
// or else in the current folder.
func BuildPage(ctx context.Context, p *gameset.WebPage, o site.BuildOptions) (fs.FS, error) {
	o.Dir, o.Packages = cmp.Or(console.MainFolder, sources()), p.Programs
	return site.Build(ctx, o)
}

// packed returns the programs of a release.
func packed(p *gameset.WebPage) (fs.FS, error) {
	files := Built
	if found, err := fs.Glob(Built, "*/wasm_exec.js"); err == nil && len(found) == 1 {
		if files, err = fs.Sub(Built, path.Dir(found[0])); err != nil {
			return nil, err
		}
	}
	for name := range p.Programs { // a map: any of the missing ones is named
		if _, err := fs.Stat(files, name+".wasm.br"); err != nil {
			return nil, fmt.Errorf("the release has no program of the page: %w; write it with the verb pack", err)
		}
	}
	return files, nil
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
