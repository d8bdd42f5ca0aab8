package line

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Finder finds the lines of several files, and builds the probes once for all that have the same game.
type Finder struct {
	folder    string
	sides     map[[4]string]*side
	checkouts map[[2]string]string // folders by folder in a repository and version
	files     int
}

// NewFinder returns a Finder, which keeps its files in a folder of its own until [Finder.Close].
func NewFinder() (*Finder, error) {
	folder, err := os.MkdirTemp("", "samestep-line-")
	if err != nil {
		return nil, err
	}
	return finderIn(folder), nil
}

func finderIn(folder string) *Finder {
	return &Finder{folder: folder, sides: map[[4]string]*side{}, checkouts: map[[2]string]string{}}
}

// Close removes all files of the Finder.
func (x *Finder) Close() error { return os.RemoveAll(x.folder) }

// Find compares two computations of the match in a file. Options.Edits are the same in all calls, and the sources do not
// change between them.
func (x *Finder) Find(ctx context.Context, f *replay.File, o Options) (*Result, error) {
	s, err := x.search(f, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.folder)
	return s.find(ctx)
}

// search returns a search in a file, with a folder of its own.
func (x *Finder) search(f *replay.File, o Options) (*search, error) {
	h, err := header(f)
	if err != nil {
		return nil, err
	}
	if o.Source == "" {
		o.Source = "."
	}
	x.files++
	s := &search{Options: o, file: f, head: h, finder: x, named: o.Tick > 0, folder: filepath.Join(x.folder, "file-"+strconv.Itoa(x.files)), result: &Result{}}
	return s, os.Mkdir(s.folder, 0o700)
}

// header returns the header of a match that rules can compute.
func header(f *replay.File) (*lockstep.Header, error) {
	h, err := f.Header()
	if err == nil && h.Engine == replay.ForeignEngine {
		return nil, errors.New("line: the match cannot be computed: it was imported from another engine")
	}
	return h, err
}

// side returns a side, which an earlier file may have built.
func (x *Finder) side(name, dir, platform, game string) *side {
	key := [4]string{name, dir, platform, game}
	one := x.sides[key]
	if one == nil {
		one = &side{name: name, dir: dir, folder: filepath.Join(x.folder, "side-"+strconv.Itoa(len(x.sides)))}
		x.sides[key] = one
	}
	return one
}

// checkout is the function checkout, once for each version.
func (x *Finder) checkout(repo, version string) (dir string, err error) {
	key := [2]string{repo, version}
	if dir, ok := x.checkouts[key]; ok {
		return dir, nil
	}
	dir, err = checkout(repo, version, filepath.Join(x.folder, "checkout-"+strconv.Itoa(len(x.checkouts))))
	if err == nil {
		x.checkouts[key] = dir
	}
	return dir, err
}
