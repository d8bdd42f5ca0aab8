package house

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/internal/require"
)

// A program is files with the types of their expressions.
type program struct {
	fset  *token.FileSet
	info  *types.Info
	files []*file
}

func newProgram() *program {
	return &program{
		fset: token.NewFileSet(),
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
	}
}

// listed is one package as the go command tells of it.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// goList asks the go command for packages and all that they depend on, compiled,
// so that only the packages themselves have to be type-checked.
func goList(dir, tags string, patterns ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-tags", tags,
		"-json=Dir,ImportPath,Export,GoFiles,DepOnly", "--"}, patterns...)...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

// check type-checks parsed files of one package and adds them.
func (p *program) check(path string, files []*file, deps []listed) error {
	lookup := func(path string) (io.ReadCloser, error) {
		at := slices.IndexFunc(deps, func(l listed) bool { return l.ImportPath == path })
		if at < 0 {
			return nil, fmt.Errorf("package %s was not listed", path)
		}
		return os.Open(deps[at].Export)
	}
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.ast)
	}
	config := types.Config{
		Importer: importer.ForCompiler(p.fset, "gc", lookup),
		Sizes:    types.SizesFor("gc", runtime.GOARCH),
	}
	p.files = append(p.files, files...)
	_, err := config.Check(path, p.fset, syntax, p.info)
	return err
}

// needsGo skips a test where programs cannot be started. The rules concern the
// sources, so it is enough that the other platforms' runs hold them.
func needsGo(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip(runtime.GOOS + " starts no programs")
	}
	_, err := exec.LookPath("go")
	require.Or(t, "the go command", err)
}

// loadOurs type-checks the pure packages of this module, once for each tag that
// chooses other files. A file that no tag chooses is an error.
func loadOurs(t *testing.T) *program {
	t.Helper()
	needsGo(t)
	tr := ours(t)
	var patterns []string
	for _, p := range tr.pkgs {
		if slices.Contains(pure, p.path) {
			patterns = append(patterns, "./"+p.path)
		}
	}
	p := newProgram()
	seen := map[string]bool{}
	for _, tags := range []string{"", "samestep_portable,samestep_overflow"} {
		all, err := goList(tr.dir, tags, patterns...)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			if l.DepOnly {
				continue
			}
			if err := p.load(tr, l, all, seen); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, path := range patterns {
		for _, f := range tr.find(strings.TrimPrefix(path, "./")).files {
			if !f.test && !seen[f.name] {
				t.Errorf("%s: no build that is checked here has this file", f.name)
			}
		}
	}
	return p
}

// load parses and checks one package, unless all its files were seen already.
func (p *program) load(tr *tree, l listed, deps []listed, seen map[string]bool) error {
	var files []*file
	news := false
	for _, name := range l.GoFiles {
		full := filepath.Join(l.Dir, name)
		rel, err := filepath.Rel(tr.dir, full)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(p.fset, full, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := &file{name: filepath.ToSlash(rel), ast: syntax}
		files = append(files, f)
		news = news || !seen[f.name]
		seen[f.name] = true
	}
	if !news {
		return nil
	}
	return p.check(l.ImportPath, files, deps)
}

// snippetDeps are the packages that the negative controls import.
var snippetDeps = sync.OnceValues(func() ([]listed, error) {
	return goList(".", "", "fmt", "maps", "math", "math/rand/v2", "os", "reflect", "slices", "sort", "strconv", "time", "unsafe")
})

// loadSnippet type-checks one file.
func loadSnippet(t *testing.T, name, source string) *program {
	t.Helper()
	needsGo(t)
	deps, err := snippetDeps()
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	syntax, err := parser.ParseFile(p.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.check("p", []*file{{name: name, ast: syntax}}, deps); err != nil {
		t.Fatal(err)
	}
	return p
}
