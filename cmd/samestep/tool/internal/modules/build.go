//go:build !js

package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	wasm "github.com/seed-49bee653/samestep/module"
)

func rulesBuildCommand() *cli.Command {
	return &cli.Command{
		Name:      "build",
		Usage:     "compile rules in Go to a module",
		ArgsUsage: "PACKAGE",
		Description: `Compiles the rules in a package, such as ./rules, to a WebAssembly module: one file with
which every program hosts, verifies and debugs matches of the game, on every
platform. The package has a function Rules() lockstep.Rules[S, C], and perhaps one that
returns the configuration of a usual match, Usual(players int) C.

It needs the go command and the game's go.mod. The same sources and the same Go give the
same bytes. See docs/spec/abi.md.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Usage: "write the module to `FILE`", DefaultText: "PACKAGE.wasm"},
			&cli.StringFlag{Name: "usual", Value: "Usual", Usage: "`NAME` of the function with the configuration of a usual match"},
			console.JSONFlag,
		},
		Action: rulesBuild,
	}
}

func rulesBuild(c *cli.Context) error {
	p, err := findRules(c.Context, c.Args().First(), c.String("usual"))
	if err != nil {
		return err
	}
	if p.usual == "" && c.IsSet("usual") {
		return fmt.Errorf("package %s has no function %s", p.ImportPath, c.String("usual"))
	}
	out := c.String("o")
	if out == "" {
		out = p.Name + gameset.ModuleExtension
	}
	b, err := p.Build(c.Context)
	if err != nil {
		return err
	}
	g, slow, err := fasterGame(b, wasm.Faster, func() *wasm.Budget { return gameset.NewBudget(c) })
	if err != nil {
		return fmt.Errorf("the module of %s: %w", p.ImportPath, err)
	}
	err = files.Replace(out, func(f *os.File) error {
		_, err := f.Write(g.Module.Bytes)
		return errors.Join(err, f.Chmod(0o644)) // it is for everybody
	})
	if err != nil {
		return err
	}
	i := newModuleInfo(out, g)
	return gameset.Tell(c, i, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s: %s build %s, %s\n", out, i.Game, i.Build, console.Size(i.Bytes))
		if slow != nil {
			fmt.Fprintf(w, "kept the slower form of Go's compiler: %v\n", slow)
		}
	}, nil)
}

// fasterGame returns the game of a module as rewritten if both compute the same match, or else as it is, and why.
func fasterGame(plain []byte, rewrite func([]byte) ([]byte, bool), budget func() *wasm.Budget) (g *gameset.Playable, slow, err error) {
	slow = errors.New("this version of Go writes jumps in another form")
	if faster, ok := rewrite(plain); ok {
		if g, slow = gameset.NewModuleGame(faster, budget()); slow == nil {
			if slow = alike(g, plain); slow == nil {
				return g, nil, nil
			}
			g.Module.Rules.Close()
		}
	}
	g, err = gameset.NewModuleGame(plain, budget())
	return g, slow, err
}

// alike returns an error unless a module computes a usual match as the game's own one does.
func alike(g *gameset.Playable, plain []byte) error {
	seats := g.MostSeats(2, gameset.MaxRoom, 0, nil)
	config, err := g.Configure(seats, 0, nil)
	if err == nil {
		_, err = compareInterpreted(g, plain, locksteptest.GoldenOptions{Config: config, Players: seats, Ticks: 50})
	}
	if errors.As(err, new(*lockstep.ConfigError)) {
		return fmt.Errorf("%w: name a function with a usual configuration (--usual)", err)
	}
	return err
}

// A rulesPackage is a package with rules, as go list describes it.
type rulesPackage struct {
	Dir        string
	ImportPath string
	Name       string
	GoFiles    []string
	Module     *struct{ Dir, Path string }

	usual string // the function with the usual configuration, or ""
}

// findRules returns the package with rules that an argument names.
func findRules(ctx context.Context, name, usual string) (*rulesPackage, error) {
	dir, pattern := "", name
	if gameset.IsFolder(name) {
		dir, pattern = name, "." // the folder may be in another module
	}
	list := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,Name,GoFiles,Module", "--", pattern)
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	p := new(rulesPackage)
	if err := json.Unmarshal(out, p); err != nil {
		return nil, console.Usagef("%s: want one package", name)
	}
	switch {
	case p.Module == nil:
		return nil, fmt.Errorf("%s: want a package of a module with a go.mod", name)
	case p.Name == "main":
		return nil, fmt.Errorf("%s: a module cannot be made of package main: move the rules into a package of their own, such as ./rules", name)
	}
	functions, err := p.functions()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(functions, "Rules") {
		return nil, fmt.Errorf("package %s has no function Rules() lockstep.Rules[S, C]", p.ImportPath)
	}
	if slices.Contains(functions, usual) {
		p.usual = usual
	}
	return p, nil
}

// functions returns the names of the package's functions.
func (p *rulesPackage) functions() (all []string, err error) {
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				all = append(all, fn.Name.Name)
			}
		}
	}
	return all, nil
}

// moduleMain is the program that becomes a module.
const moduleMain = `package main

import (
	rules %q
	"` + console.Module + `/module/guest"
)

func init() { guest.Export(rules.Rules(), %s) }

func main() {}
`

// Build returns the module of the rules.
func (p *rulesPackage) Build(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "samestep-rules-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	usual := "nil"
	if p.usual != "" {
		usual = "rules." + p.usual
	}
	main, overlay, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "out"+gameset.ModuleExtension)
	// The main package is placed below the package of the rules, so that it can import internal packages.
	place := filepath.Join(p.Dir, "samestep_module")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(place, "main.go"): main}})
	if err != nil {
		return nil, err
	}
	for name, b := range map[string][]byte{main: fmt.Appendf(nil, moduleMain, p.ImportPath, usual), overlay: replace} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			return nil, err
		}
	}
	// Without the version control's revision, which would change the bytes with each commit, and without the tables for
	// debuggers, which are as large as the rest.
	c := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-overlay", overlay, "-o", out, "./samestep_module")
	c.Dir = p.Dir
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=")
	if text, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build of the module of %s: %w: %s", p.ImportPath, err, bytes.TrimSpace(text))
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return wasm.FromGo(b)
}

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
