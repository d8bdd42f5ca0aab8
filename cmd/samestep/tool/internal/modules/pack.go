//go:build !js

package modules

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/site"
)

// PackCommand returns the verb pack.
func PackCommand() *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "build the programs of the games' pages, for a release that has no sources",
		ArgsUsage: "FOLDER",
		Description: `Compiles the pages' WebAssembly into FOLDER, as small as it gets, which takes half a minute
for each program. A release embeds the folder and gives it to tool.Programs; it then
serves its pages without the go command. It needs the sources: run it with go run.`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "quality", Value: 11, Usage: "of the compression, `N` from 0 to 11: less is faster, and the programs are larger"},
		},
		Action: func(c *cli.Context) error {
			quality := c.Int("quality")
			if c.NArg() != 1 {
				return console.Usagef("pack: got %d arguments, want a folder", c.NArg())
			}
			if quality < 0 || quality > 11 {
				return console.Usagef("pack: --quality: got %d, want 0 to 11", quality)
			}
			return packPrograms(c.Context, gameset.Listed(c), c.Args().First(), quality)
		},
	}
}

// packPrograms writes the programs of the games' pages into a folder.
func packPrograms(ctx context.Context, games gameset.List, folder string, quality int) error {
	cache, err := os.MkdirTemp("", "samestep-pack-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	done := make(map[string]bool)
	for _, g := range games {
		p := serving.PageOrInspector(g)
		for name := range p.Programs { // a map, but the order does not matter
			if done[name] {
				continue
			}
			done[name] = true
			one := &gameset.WebPage{Programs: map[string]string{name: p.Programs[name]}}
			files, err := serving.BuildPage(ctx, one, site.BuildOptions{Quality: quality, Cache: cache})
			if err == nil {
				err = copyFiles(folder, files)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFiles writes the files of a folder into another, over those of the same names.
func copyFiles(folder string, files fs.FS) error {
	entries, err := fs.ReadDir(files, ".")
	for i := 0; i < len(entries) && err == nil; i++ {
		var b []byte
		if b, err = fs.ReadFile(files, entries[i].Name()); err == nil {
			err = os.WriteFile(filepath.Join(folder, entries[i].Name()), b, 0o666)
		}
	}
	return err
}
