//go:build !js

package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/assets"
)

// moduleExtension is that of modules in folders.
const moduleExtension = ".wasm"

// rulesFlag names modules of rules.
var rulesFlag = &cli.StringSliceFlag{
	Name: "rules", Usage: "take the rules of the module in `FILE`, also for matches of other builds; or of the modules in FOLDER, each for its own build",
	DefaultText: "the modules in the user's cache",
}

// rulesEnv sets the modules.
const rulesEnv = "SAMESTEP_RULES"

// takesRules adds --rules to a command that simulates matches, which is one that takes assets, except for assets add.
func takesRules(c *cli.Command) {
	if console.HasFlag(c, assetsFlag.Name) && !console.HasFlag(c, rulesFlag.Name) && c.Name != "add" {
		c.Flags = append(c.Flags[:len(c.Flags):len(c.Flags)], console.ListFrom(rulesFlag, rulesEnv))
		if c.Name != "serve" { // whose modules its operator names
			c.Flags = append(c.Flags, moduleFlags...)
		}
	}
}

// prepareGames prepares the games of a command: with the assets of --assets, and the modules of --rules.
func prepareGames(c *cli.Context) error {
	program := c.App.Metadata[gamesKey].(gameList).readFrom(assetFolder(c))
	c.App.Metadata[gamesKey] = program
	if !console.HasFlag(c.Command, rulesFlag.Name) {
		return nil
	}
	calls, end := context.WithCancel(c.Context)
	c.App.Metadata[console.CallsKey], c.App.Metadata[console.EndCallsKey] = calls, end
	m, err := newModuleSet(c, program, c.StringSlice(rulesFlag.Name))
	c.App.Metadata[modulesKey] = m
	return err
}

// rulesOfUser is the name of the folder of modules in the cache. Tests have another.
var rulesOfUser = "rules"

// storeOfUser returns the user's folder of modules, or "".
func storeOfUser() string {
	dir := cacheDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, rulesOfUser)
}

// fetchedIn returns the folder of the modules from servers in that of the user. It is apart, so that those that the user has
// added come first.
func fetchedIn(store string) string { return filepath.Join(store, "fetched") }

// A moduleSet has the games of modules that a command uses: those of --rules, and those that it finds. Each file of a command
// has games of its own, see ofFile. It is safe for concurrent use.
type moduleSet struct {
	name    string   // of the program
	program gameList // with the games of the program
	assets  assets.Folder
	folders []string // of modules
	warn    func(format string, args ...any)

	budget     func() *wasm.Budget                  // of a file
	readModule func(name string) (*playable, error) // of a folder

	mu     sync.Mutex
	given  gameList                  // of files of --rules
	found  gameList                  // by name
	stored map[string]gameList       // by folder, once it is read
	loaded map[string]*playable      // of modules that files name, by their sums
	met    map[*replay.File]gameList // of open files
	whole  map[*replay.File]bool     // see complete

	used    map[*replay.File][]usedRules // of open files
	usedAll []usedRules                  // each once
	told    []string                     // the sums of modules of folders that files were found to fit, of which the user was told
}

// moduleSetOf returns a set with given games.
func moduleSetOf(c *cli.Context, program, given gameList) *moduleSet {
	return &moduleSet{
		name: c.App.Name, program: program, given: given.readFrom(assetFolder(c)), assets: assetFolder(c),
		stored: map[string]gameList{}, loaded: map[string]*playable{}, met: map[*replay.File]gameList{}, whole: map[*replay.File]bool{},
		used:       map[*replay.File][]usedRules{},
		budget:     func() *wasm.Budget { return newBudget(c) },
		readModule: func(name string) (*playable, error) { return readModule(c, name) },
		warn: func(format string, args ...any) {
			fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, fmt.Sprintf(format, args...))
		},
	}
}

// newModuleSet returns the set of a command, with the modules in some files and folders.
func newModuleSet(c *cli.Context, program gameList, names []string) (*moduleSet, error) {
	m := moduleSetOf(c, program, nil)
	for _, name := range names {
		if name == "" {
			return nil, console.Usagef("--rules: got an empty name, want that of a FILE or FOLDER")
		}
		if isFolder(name) {
			m.folders = append(m.folders, name)
			continue
		}
		g, err := readModule(c, name)
		if err != nil {
			return nil, err
		}
		m.given = append(m.given, gameList{g}.readFrom(m.assets)...)
	}
	if dir := storeOfUser(); len(names) == 0 && dir != "" {
		m.folders = []string{dir, fetchedIn(dir)}
	}
	return m, nil
}

// games returns the games of the set and of the program, those to prefer first. The program's own that a given one replaces
// are left out.
func (m *moduleSet) games() gameList {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all()
}

func (m *moduleSet) all() gameList {
	all := slices.Clone(m.given)
	for _, g := range m.program {
		if !all.has(g.Name(), g.Build()) {
			all = append(all, g)
		}
	}
	return append(all, m.found...)
}

func (l gameList) has(name, build string) bool {
	return slices.ContainsFunc(l, func(g *playable) bool { return g.Name() == name && g.Build() == build })
}

// bySum returns the game of the module with a sum, or nil.
func (l gameList) bySum(sum string) *playable {
	i := slices.IndexFunc(l, func(g *playable) bool { return g.module != nil && g.module.sum == sum })
	if i < 0 {
		return nil
	}
	return l[i]
}

// findInFolders adds the game of inFolders, and returns it or nil.
func (m *moduleSet) findInFolders(wanted func(*playable) bool) (*playable, error) {
	g, err := m.inFolders(wanted)
	if g == nil {
		return nil, err
	}
	return m.keep(gameList{g}.readFrom(m.assets)[0]), nil
}

// keep adds a game, unless the set has it already.
func (m *moduleSet) keep(g *playable) *playable {
	if before := m.found.bySum(g.module.sum); before != nil {
		return before
	}
	m.found = append(m.found, g)
	return g
}

// inFolders returns the game of the module that is wanted, from the first folder with one, or nil. Of several modules in that folder,
// no name of a file says which one is meant.
func (m *moduleSet) inFolders(wanted func(*playable) bool) (*playable, error) {
	for _, dir := range m.folders {
		var found gameList
		var text strings.Builder
		for _, g := range m.read(dir) {
			if wanted(g) && found.bySum(g.module.sum) == nil {
				found = append(found, g)
				fmt.Fprintf(&text, "\n  %s: build %s, SHA-256 %s", g.module.name, g.Build(), g.module.sum)
			}
		}
		if len(found) > 1 {
			return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the folder %s has %d modules of it; choose one with --rules FILE:%s", dir, len(found), &text)}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return nil, nil
}

// find is findInFolders for one that does not hold the lock.
func (m *moduleSet) find(wanted func(*playable) bool) (*playable, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.findInFolders(wanted)
}

// named returns the game of a module in the folders with a name, or nil.
func (m *moduleSet) named(name string) (*playable, error) {
	g, err := m.find(func(g *playable) bool { return g.Name() == name })
	if err != nil {
		return nil, console.Usagef("game %s: %v", name, err)
	}
	return g, nil
}

// read returns the games of all modules in a folder. A file that is none is warned of, once.
func (m *moduleSet) read(dir string) (all gameList) {
	if games, ok := m.stored[dir]; ok {
		return games
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.warn("the rules: %v", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), moduleExtension) {
			continue
		}
		g, err := m.readModule(filepath.Join(dir, e.Name()))
		if err != nil {
			m.warn("the rules: %v", err)
			continue
		}
		all = append(all, g)
	}
	m.stored[dir] = all
	return all
}

// addModule writes a module into a folder, under its sum. It replaces a damaged file.
func addModule(dir string, m *rulesModule) error {
	path := filepath.Join(dir, m.sum+moduleExtension)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, m.bytes) {
		return nil
	}
	return files.Replace(path, func(f *os.File) error {
		_, err := f.Write(m.bytes)
		return errors.Join(err, f.Chmod(0o644)) // it is for everybody
	})
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
