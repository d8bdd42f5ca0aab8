//go:build !js

package desyncs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A lineFinder finds lines of code in the sources of a game, or functions in modules of its rules.
type lineFinder struct {
	*line.Finder
	functions line.FunctionFinder
	c         *cli.Context
	others    *gameset.ModuleSet // the module of --other; nil for none
}

// newLineFinder returns the finder of the flags.
func newLineFinder(c *cli.Context) (x *lineFinder, err error) {
	x = &lineFinder{c: c}
	if other := c.String("other"); strings.HasSuffix(other, gameset.ModuleExtension) {
		for _, name := range []string{"source", "platform"} {
			if c.IsSet(name) {
				return x, console.Usagef("--other %s is a module: it cannot be used with --%s", other, name)
			}
		}
		if x.others, err = gameset.NewModuleSet(c, nil, []string{other}); err != nil {
			return x, err
		}
	}
	x.Finder, err = line.NewFinder()
	return x, err
}

// Close frees what the finder has built.
func (x *lineFinder) Close() error { return errors.Join(x.Finder.Close(), x.functions.Close()) }

// find compares the two sides of the flags in one file, at a tick or at the first one that differs.
func (x *lineFinder) find(ctx context.Context, f *replay.File, tick lockstep.Tick) (*line.Result, error) {
	o := line.Options{Tick: tick}
	if b := f.Bundle(); b != nil && o.Tick == 0 {
		o.From, o.Last = b.Manifest.Agreed, b.Manifest.Tick
	}
	a, err := x.module(f)
	if err != nil {
		return nil, err
	}
	if a != nil {
		return x.findFunction(ctx, f, o, a)
	}
	return findLine(ctx, x.c, x.Finder, f, o)
}

// module returns the game of side A if it is one of a module, or nil to look for a line in the sources.
func (x *lineFinder) module(f *replay.File) (*gameset.Playable, error) {
	wanted := x.others != nil || x.c.IsSet(gameset.RulesFlag.Name)
	if x.others == nil && (sidesOf(x.c) != "" || !wanted && inModuleOfGo()) {
		return nil, nil
	}
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	games, err := gameset.ModulesOf(x.c).OfFile(f)
	if err != nil {
		return nil, err
	}
	g, err := games.Of(h)
	switch {
	case !wanted && (err != nil || g.Module == nil):
		return nil, nil
	case err != nil:
		return nil, err
	case g.Module == nil:
		return nil, console.Usagef("the rules of the match are those of the program: want a module of them with --rules")
	}
	return g, nil
}

// inModuleOfGo reports whether the current folder is in a module of Go.
func inModuleOfGo() bool {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return true
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		break
	}
	return false
}

// findFunction compares the functions that a match calls with those of the other module, or with itself.
func (x *lineFinder) findFunction(ctx context.Context, f *replay.File, o line.Options, a *gameset.Playable) (*line.Result, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	if _, err := gameset.ModulesOf(x.c).Use(f); err != nil {
		return nil, err
	}
	if x.others == nil {
		return x.functions.Find(ctx, f, o, a.Side(h.Build), nil)
	}
	b, err := x.others.Other(h)
	if err != nil {
		return nil, &console.FileError{Name: x.c.String("other"), Err: err}
	}
	return x.functions.Find(ctx, f, o, a.Side(h.Build), b.Side(h.Build))
}
