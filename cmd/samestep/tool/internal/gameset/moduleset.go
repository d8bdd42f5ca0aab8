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
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
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

// FetchedIn returns the folder of modules from servers in the user's folder. It is apart, so that modules the user added come first.
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
	readModule func(name string) (*Playable, error) // of a folder

	mu      sync.Mutex
	Given   List                 // of files of --rules
	found   List                 // by name
	stored  map[string]List      // by folder, once it is read
	loaded  map[string]*Playable // of modules that files name, by their sums
	open    map[*replay.File]*openFile
	usedAll []UsedRules // each once
	told    []string    // the sums of modules of folders that files were found to fit, of which the user was told
}

// An openFile has the games of a file that a command reads.
type openFile struct {
	games List // nil until they are looked for
	whole bool // see Complete
	used  []UsedRules
}

// of returns what is known of an open file.
func (m *ModuleSet) of(f *replay.File) *openFile {
	if m.open[f] == nil {
		m.open[f] = &openFile{}
	}
	return m.open[f]
}

// ModuleSetOf returns a set with given games.
func ModuleSetOf(c *cli.Context, program, given List) *ModuleSet {
	return &ModuleSet{
		name: c.App.Name, Program: program, Given: given.ReadFrom(AssetFolder(c)), Assets: AssetFolder(c),
		stored: map[string]List{}, loaded: map[string]*Playable{}, open: map[*replay.File]*openFile{},
		budget:     func() *wasm.Budget { return NewBudget(c) },
		readModule: func(name string) (*Playable, error) { return ReadModule(c, name) },
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
			return nil, console.Usagef("--rules: got an empty name, want FILE or FOLDER")
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

// Games returns the games of the set and the program, preferred ones first. A given game replaces the program's own of the same build.
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

// inFolders returns the wanted game from the first folder that has one, or nil. Several modules in one folder are an error.
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
	if games, ok := m.stored[dir]; ok {
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
		g, err := m.readModule(filepath.Join(dir, e.Name()))
		if err != nil {
			m.Warn("the rules: %v", err)
			continue
		}
		all = append(all, g)
	}
	m.stored[dir] = all
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

// OfFile returns the games with which the match in a file is simulated: that of a given module of its game; the program's own; that
// of the module that the file has or names, and of no other; or, if it names none, that of a module in the folders. The games of one
// file are never used for another.
func (m *ModuleSet) OfFile(f *replay.File) (List, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if games := m.of(f).games; games != nil {
		return games, nil
	}
	games := m.all()
	h, err := f.Header()
	if err != nil {
		return games, nil // of which the verb tells
	}
	g, err := m.ofMatch(h, f)
	if err != nil {
		return nil, err
	}
	if g != nil {
		games = append(List{g}, games...)
	}
	games = games.orBundle(f)
	m.of(f).games = games
	return games, nil
}

// Other returns the game that the set has for a match, whatever its file says.
func (m *ModuleSet) Other(h *lockstep.Header) (*Playable, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, err := m.ofMatch(h, nil)
	switch {
	case err != nil:
		return nil, err
	case g != nil:
		return g, g.CheckIdentity(h)
	}
	return m.all().Of(h)
}

// Use returns the games of OfFile, and notes whose rules simulate the match.
func (m *ModuleSet) Use(f *replay.File) (List, error) {
	games, err := m.OfFile(f)
	if err != nil {
		return nil, err
	}
	h, err := f.Header()
	if err != nil {
		return games, nil // of which the verb tells
	}
	g, err := games.Of(h)
	if err != nil {
		return games, nil
	}
	m.Note(f, g)
	return games, nil
}

// Note notes rules that simulate the match in a file.
func (m *ModuleSet) Note(f *replay.File, g *Playable) {
	if m == nil {
		return
	}
	used := UsedRules{g.Name(), g.Build(), builtIn}
	if g.Module != nil {
		used.Rules = g.Module.Sum
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := m.of(f); !slices.Contains(of.used, used) {
		of.used = append(of.used, used)
	}
	if !slices.Contains(m.usedAll, used) {
		m.usedAll = append(m.usedAll, used)
	}
}

// UsedSoFar returns the rules that were used for all files so far, or for one that is open.
func (m *ModuleSet) UsedSoFar(f *replay.File) []UsedRules {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f == nil {
		return slices.Clone(m.usedAll)
	}
	return slices.Clone(m.of(f).used)
}

// GamesFor returns the games with which the program simulates the match in a file, see [ModuleSet.OfFile].
func GamesFor(c *cli.Context, f *replay.File) (replay.Games, error) {
	m := ModulesOf(c)
	if m == nil {
		return GamesOf(c), nil
	}
	games, err := m.Use(f)
	if err != nil {
		return nil, err
	}
	return games.Games(), nil
}

// InModule reports whether a game with which the match in a file is simulated has its rules in a module.
func InModule(c *cli.Context, f *replay.File, g *lockstep.Game) bool {
	m := ModulesOf(c)
	if m == nil {
		return false
	}
	list, err := m.OfFile(f)
	return err == nil && slices.ContainsFunc(list, func(p *Playable) bool { return p.Game == g && p.Module != nil })
}

// assetsFor returns the game that has the assets of the match in a file, whose rules are elsewhere, or nil.
func assetsFor(c *cli.Context, f *replay.File, h *lockstep.Header) (*lockstep.Game, error) {
	games := GamesOf(c)
	if m := ModulesOf(c); m != nil {
		list, err := m.OfFile(f)
		if err != nil {
			return nil, err
		}
		games = list.Games()
	}
	g, err := games.Of(h)
	if err != nil {
		return nil, nil // another build: the woven rules say what they lack
	}
	return g, nil
}

// GamesForBoth returns the games with which two files of one match are simulated. If only one of them names a module, it is for both.
func GamesForBoth(c *cli.Context, a, b *replay.File) (replay.Games, error) {
	x, _ := RulesIn(a)
	y, _ := RulesIn(b)
	if x != nil && y != nil && x.Sum != y.Sum && !c.IsSet(RulesFlag.Name) {
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("%s and %s name different modules of rules, with SHA-256 %s and %s: choose one with --rules FILE",
			a.Path(), b.Path(), x.Sum, y.Sum)}
	}
	if x == nil && y != nil {
		a = b
	}
	games, err := GamesFor(c, a)
	return games, OfFile(a.Path(), err)
}

// Exceeded returns err, or in its place the error of a module of the files that has exceeded a limit. No files are all that are open.
func (m *ModuleSet) Exceeded(err error, files ...*replay.File) error {
	if m == nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var games List
	for f, of := range m.open {
		if !of.whole && (len(files) == 0 || slices.Contains(files, f)) {
			games = append(games, of.games...) // in any order: one error is as good as another
		}
	}
	for _, g := range games {
		if g.Module != nil {
			err = Exceeded(g.Module.Budget, err)
		}
	}
	return err
}

// Complete says that the result of a verb for a file is complete: the verb got over each limit that a module has exceeded.
func (m *ModuleSet) Complete(f *replay.File) {
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.of(f).whole = true
	}
}

// Forget forgets the games of a file that is closed.
func (m *ModuleSet) Forget(f *replay.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.of(f).games {
		if g.Module != nil && !slices.Contains(m.Given, g) && !slices.Contains(m.found, g) {
			g.Module.Machine.Close()
		}
	}
	delete(m.open, f)
	if len(m.loaded) > maxLoaded {
		clear(m.loaded) // the collector frees those that no open file has
	}
}

// maxLoaded is the number of modules that are kept for the next files, which may have the same.
const maxLoaded = 8

// ofMatch returns the game of a module for a match, or nil if there is none or the program has its rules. f is the file, or nil.
func (m *ModuleSet) ofMatch(h *lockstep.Header, f *replay.File) (*Playable, error) {
	if h.Engine != record.Engine {
		return nil, nil
	}
	named, damaged := RulesIn(f)
	if g, err := m.posed(h, named); g != nil || err != nil {
		if named != nil && err == nil && g.Module.Sum != named.Sum.String() {
			m.Warn("%s: its rules are the module with SHA-256 %s; --rules has another one, %s", f.Path(), named.Sum, g.Module.Sum)
		}
		return g, err
	}
	fits := func(g *Playable) bool { return g.CheckIdentity(h) == nil }
	switch {
	case slices.ContainsFunc(m.Program, fits):
		if named != nil {
			m.Warn("%s: its rules are the module with SHA-256 %s; the program's own of this build are used, which --rules FILE replaces", f.Path(), named.Sum)
		}
		return nil, nil
	case named != nil:
		g, err := m.module(named)
		if err == nil {
			err = g.CheckIdentity(h)
		}
		if err != nil {
			return nil, fmt.Errorf("its rules: %w", err)
		}
		return g, nil
	}
	g, err := m.inFolders(fits)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its rules, which it does not name: game %s, build %s: %w", h.Game, h.Build, err)
	case g == nil:
		return nil, damaged
	case f != nil && !slices.Contains(m.told, g.Module.Sum):
		m.told = append(m.told, g.Module.Sum)
		m.Warn("%s: it names no module of rules: used is %s, with SHA-256 %s, as for all such files of this build", f.Path(), g.Module.name, g.Module.Sum)
	}
	return m.own(g, "")
}

// posed returns the game of a given module as the build of a match, or nil. Of several modules the one that the match names is taken.
func (m *ModuleSet) posed(h *lockstep.Header, named *replay.Rules) (*Playable, error) {
	games := m.Given.Builds(h.Game)
	if len(games) == 0 {
		return nil, nil
	}
	if named != nil {
		if g := games.BySum(named.Sum.String()); g != nil && g.Build() == h.Build {
			return m.own(g, "")
		}
	}
	if i := slices.IndexFunc(games, func(g *Playable) bool { return g.Build() == h.Build }); i >= 0 {
		return m.own(games[i], "")
	}
	g, err := m.own(games[0], h.Build)
	if err != nil {
		return nil, fmt.Errorf("the rules as build %s: %w", h.Build, err)
	}
	return g, nil
}

// own returns the game of a module within a budget of its own, as a build unless that is "".
func (m *ModuleSet) own(g *Playable, build string) (*Playable, error) {
	own, err := g.Module.game(build, m.budget())
	if err != nil {
		return nil, err
	}
	own.Module.name = g.Module.name
	return List{own}.ReadFrom(m.Assets)[0], nil
}

// OfLog returns the game of a match whose log says something about its rules, or nil: of a module that it names, no other has its rules.
func (l List) OfLog(h *lockstep.Header, rules *replay.Rules) (*Playable, error) {
	if rules == nil {
		return l.Of(h)
	}
	g := l.BySum(rules.Sum.String())
	if g == nil {
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("want the module with SHA-256 %s, with which the match was begun: name it (--rules FILE)", rules.Sum)}
	}
	return g, g.CheckIdentity(h)
}

// Hosted returns the game of the module that a log names, from the folders only: the operator has not named a module in the log.
func (m *ModuleSet) Hosted(h *lockstep.Header, rules *replay.Rules) (*Playable, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, err := m.module(rules.Reference())
	if err == nil {
		err = g.CheckIdentity(h)
	}
	if err != nil {
		return nil, fmt.Errorf("its rules: %w", err)
	}
	return m.keep(g), nil
}

// RulesIn returns what a file says about its rules, or nil. The error is that of a file that is damaged up to there, and not only cut.
func RulesIn(f *replay.File) (*replay.Rules, error) {
	if f == nil {
		return nil, nil
	}
	r, err := f.Reader()
	if err != nil {
		return nil, nil // of which the verb tells
	}
	rules, err := r.Rules()
	if replay.ClassOf(err).Early() {
		err = nil
	}
	return orBundled(f, rules), err
}

// orBundled returns rules with their module, if the bundle in a file has it.
func orBundled(f *replay.File, rules *replay.Rules) *replay.Rules {
	b := f.Bundle()
	if b == nil || rules == nil || rules.SizeBytes > 0 {
		return rules
	}
	module, err := b.Content(rules.Sum.String(), replay.MaxRules)
	if err != nil {
		return rules
	}
	if whole, err := replay.NewRules(module); err == nil {
		rules = whole
	}
	return rules
}

// module returns the game of a module that is known by its sum.
func (m *ModuleSet) module(rules *replay.Rules) (*Playable, error) {
	sum := rules.Sum.String()
	b, err := rules.Module()
	if err == nil && b == nil {
		b, err = m.storedModule(sum) // also if another file has it
	}
	if err != nil {
		return nil, err
	}
	if g := m.loaded[sum]; g != nil {
		return m.own(g, "")
	}
	g, err := NewModuleGame(b, m.budget())
	if err != nil {
		return nil, fmt.Errorf("the module with SHA-256 %s: %w", sum, err)
	}
	m.loaded[sum] = g
	return List{g}.ReadFrom(m.Assets)[0], nil
}

// storedModule returns the module with a sum from a folder: from the file with the sum as its name, or from another one with these bytes.
func (m *ModuleSet) storedModule(sum string) ([]byte, error) {
	for _, dir := range m.Folders {
		path := filepath.Join(dir, sum+ModuleExtension)
		b, err := ModuleBytes(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case replay.SumRules(b).String() != sum:
			return nil, &console.ClassError{Class: replay.ClassCorrupt, Text: fmt.Sprintf("%s: got bytes with SHA-256 %s, want the module that its name says: replace it (%s), or remove it",
				path, replay.SumRules(b), m.advice(dir))}
		default:
			return b, nil
		}
	}
	for _, dir := range m.Folders {
		names, _ := filepath.Glob(filepath.Join(dir, "*"+ModuleExtension)) // of a folder that cannot be read, read warns
		for _, name := range names {
			if b, err := ModuleBytes(name); err == nil && replay.SumRules(b).String() == sum {
				return b, nil
			}
		}
	}
	if len(m.Folders) == 0 {
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("want the module with SHA-256 %s, which is not in the file: name it (--rules FILE)", sum)}
	}
	return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("want the module with SHA-256 %s, which is not in %s: add it (%s), or name it (--rules FILE)",
		sum, strings.Join(m.Folders, " or "), m.advice(m.Folders[0]))}
}

// advice returns the command that puts a module into a folder.
func (m *ModuleSet) advice(dir string) string {
	if dir == StoreOfUser() {
		return m.name + " rules add FILE"
	}
	return fmt.Sprintf("%s rules add --dir %s FILE", m.name, words.ShellWord(dir))
}

// Keys of a program's metadata.
const (
	GamesKey   = "games"   // a List
	modulesKey = "modules" // a *ModuleSet, while a command runs
)

// ModulesOf returns the modules of a command, or nil for one that does not simulate.
func ModulesOf(c *cli.Context) *ModuleSet {
	m, _ := c.App.Metadata[modulesKey].(*ModuleSet)
	return m
}

// Listed returns the games of the program that runs a command, and those of its modules.
func Listed(c *cli.Context) List {
	if m := ModulesOf(c); m != nil {
		return m.Games()
	}
	return c.App.Metadata[GamesKey].(List)
}

// GamesOf returns the games whose matches the program can simulate.
func GamesOf(c *cli.Context) replay.Games { return Listed(c).Games() }
