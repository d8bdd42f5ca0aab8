//go:build !js

package gameset

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

// ModuleExtension is that of modules in folders.
const ModuleExtension = ".wasm"

// RulesFlag names modules of rules.
var RulesFlag = &cli.StringSliceFlag{
	Name: "rules", Usage: "take the rules of the module in `FILE`, also for matches of other builds; or of the modules in FOLDER, each for its own build",
	DefaultText: "the modules in the user's cache",
}

// rulesEnv sets the modules.
const rulesEnv = "SAMESTEP_RULES"

// TakesRules adds --rules to a command that simulates matches, which is one that takes assets, except for assets add.
func TakesRules(c *cli.Command) {
	if console.HasFlag(c, AssetsFlag.Name) && !console.HasFlag(c, RulesFlag.Name) && c.Name != "add" {
		c.Flags = append(c.Flags[:len(c.Flags):len(c.Flags)], console.ListFrom(RulesFlag, rulesEnv))
		if c.Name != "serve" { // whose modules its operator names
			c.Flags = append(c.Flags, ModuleFlags...)
		}
	}
}

// PrepareGames prepares the games of a command: with the assets of --assets, and the modules of --rules.
func PrepareGames(c *cli.Context) error {
	program := c.App.Metadata[GamesKey].(List).ReadFrom(AssetFolder(c))
	c.App.Metadata[GamesKey] = program
	if !console.HasFlag(c.Command, RulesFlag.Name) {
		return nil
	}
	calls, end := context.WithCancel(c.Context)
	c.App.Metadata[console.CallsKey], c.App.Metadata[console.EndCallsKey] = calls, end
	m, err := NewModuleSet(c, program, c.StringSlice(RulesFlag.Name))
	c.App.Metadata[modulesKey] = m
	return err
}

// RulesOfUser is the name of the folder of modules in the cache. Tests have another.
var RulesOfUser = "rules"

// StoreOfUser returns the user's folder of modules, or "".
func StoreOfUser() string {
	dir := CacheDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, RulesOfUser)
}

// FetchedIn returns the folder of the modules from servers in that of the user. It is apart, so that those that the user has
// added come first.
func FetchedIn(store string) string { return filepath.Join(store, "fetched") }

// A ModuleSet has the games of modules that a command uses: those of --rules, and those that it finds. Each file of a command
// has games of its own, see OfFile. It is safe for concurrent use.
type ModuleSet struct {
	name    string // of the program
	Program List   // with the games of the program
	Assets  assets.Folder
	Folders []string // of modules
	Warn    func(format string, args ...any)

	budget     func() *wasm.Budget                  // of a file
	ReadModule func(name string) (*Playable, error) // of a folder

	mu     sync.Mutex
	Given  List                  // of files of --rules
	found  List                  // by name
	Stored map[string]List       // by folder, once it is read
	loaded map[string]*Playable  // of modules that files name, by their sums
	Met    map[*replay.File]List // of open files
	Whole  map[*replay.File]bool // see complete

	used    map[*replay.File][]UsedRules // of open files
	usedAll []UsedRules                  // each once
	told    []string                     // the sums of modules of folders that files were found to fit, of which the user was told
}

// ModuleSetOf returns a set with given games.
func ModuleSetOf(c *cli.Context, program, given List) *ModuleSet {
	return &ModuleSet{
		name: c.App.Name, Program: program, Given: given.ReadFrom(AssetFolder(c)), Assets: AssetFolder(c),
		Stored: map[string]List{}, loaded: map[string]*Playable{}, Met: map[*replay.File]List{}, Whole: map[*replay.File]bool{},
		used:       map[*replay.File][]UsedRules{},
		budget:     func() *wasm.Budget { return NewBudget(c) },
		ReadModule: func(name string) (*Playable, error) { return ReadModule(c, name) },
		Warn: func(format string, args ...any) {
			fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, fmt.Sprintf(format, args...))
		},
	}
}

// NewModuleSet returns the set of a command, with the modules in some files and folders.
func NewModuleSet(c *cli.Context, program List, names []string) (*ModuleSet, error) {
	m := ModuleSetOf(c, program, nil)
	for _, name := range names {
		if name == "" {
			return nil, console.Usagef("--rules: got an empty name, want that of a FILE or FOLDER")
		}
		if IsFolder(name) {
			m.Folders = append(m.Folders, name)
			continue
		}
		g, err := ReadModule(c, name)
		if err != nil {
			return nil, err
		}
		m.Given = append(m.Given, List{g}.ReadFrom(m.Assets)...)
	}
	if dir := StoreOfUser(); len(names) == 0 && dir != "" {
		m.Folders = []string{dir, FetchedIn(dir)}
	}
	return m, nil
}

// Games returns the games of the set and of the program, those to prefer first. The program's own that a given one replaces
// are left out.
func (m *ModuleSet) Games() List {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all()
}

func (m *ModuleSet) all() List {
	all := slices.Clone(m.Given)
	for _, g := range m.Program {
		if !all.Has(g.Name(), g.Build()) {
			all = append(all, g)
		}
	}
	return append(all, m.found...)
}

// Has reports whether the list has a build of a game.
func (l List) Has(name, build string) bool {
	return slices.ContainsFunc(l, func(g *Playable) bool { return g.Name() == name && g.Build() == build })
}

// BySum returns the game of the module with a sum, or nil.
func (l List) BySum(sum string) *Playable {
	i := slices.IndexFunc(l, func(g *Playable) bool { return g.Module != nil && g.Module.Sum == sum })
	if i < 0 {
		return nil
	}
	return l[i]
}

// findInFolders adds the game of inFolders, and returns it or nil.
func (m *ModuleSet) findInFolders(wanted func(*Playable) bool) (*Playable, error) {
	g, err := m.inFolders(wanted)
	if g == nil {
		return nil, err
	}
	return m.keep(List{g}.ReadFrom(m.Assets)[0]), nil
}

// keep adds a game, unless the set has it already.
func (m *ModuleSet) keep(g *Playable) *Playable {
	if before := m.found.BySum(g.Module.Sum); before != nil {
		return before
	}
	m.found = append(m.found, g)
	return g
}

// inFolders returns the game of the module that is wanted, from the first folder with one, or nil. Of several modules in that folder,
// no name of a file says which one is meant.
func (m *ModuleSet) inFolders(wanted func(*Playable) bool) (*Playable, error) {
	for _, dir := range m.Folders {
		var found List
		var text strings.Builder
		for _, g := range m.read(dir) {
			if wanted(g) && found.BySum(g.Module.Sum) == nil {
				found = append(found, g)
				fmt.Fprintf(&text, "\n  %s: build %s, SHA-256 %s", g.Module.name, g.Build(), g.Module.Sum)
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

// Find is findInFolders for one that does not hold the lock.
func (m *ModuleSet) Find(wanted func(*Playable) bool) (*Playable, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.findInFolders(wanted)
}

// named returns the game of a module in the folders with a name, or nil.
func (m *ModuleSet) named(name string) (*Playable, error) {
	g, err := m.Find(func(g *Playable) bool { return g.Name() == name })
	if err != nil {
		return nil, console.Usagef("game %s: %v", name, err)
	}
	return g, nil
}

// read returns the games of all modules in a folder. A file that is none is warned of, once.
func (m *ModuleSet) read(dir string) (all List) {
	if games, ok := m.Stored[dir]; ok {
		return games
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Warn("the rules: %v", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ModuleExtension) {
			continue
		}
		g, err := m.ReadModule(filepath.Join(dir, e.Name()))
		if err != nil {
			m.Warn("the rules: %v", err)
			continue
		}
		all = append(all, g)
	}
	m.Stored[dir] = all
	return all
}

// AddModule writes a module into a folder, under its sum. It replaces a damaged file.
func AddModule(dir string, m *RulesModule) error {
	path := filepath.Join(dir, m.Sum+ModuleExtension)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, m.Bytes) {
		return nil
	}
	return files.Replace(path, func(f *os.File) error {
		_, err := f.Write(m.Bytes)
		return errors.Join(err, f.Chmod(0o644)) // it is for everybody
	})
}

// IsFolder reports whether a name is that of a folder.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
