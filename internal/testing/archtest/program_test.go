package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
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

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
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
	ImportPath, Export string // Export is the file that tells a compiler of its types
}

// goList asks the go command for all that packages depend on, compiled, so that
// only the packages themselves have to be type-checked.
func goList(dir string, patterns ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export", "--"}, patterns...)...)
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
func (p *program) check(path string, files []*file, arch string, deps []listed) error {
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
		Sizes:    types.SizesFor("gc", arch),
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
	testenv.Or(t, "the go command", err)
}

// builds choose, between them, every file of the pure packages.
var builds = []build.Context{
	{Compiler: "gc", GOOS: "linux", GOARCH: "amd64"},
	{Compiler: "gc", GOOS: "linux", GOARCH: "386", BuildTags: []string{"samestep_portable", "samestep_overflow"}},
	{Compiler: "gc", GOOS: "js", GOARCH: "wasm"},
}

// loadOurs type-checks the pure packages of this module, once for each build
// that has other files. A file that no build has is an error.
func loadOurs(t *testing.T) *program {
	t.Helper()
	needsGo(t)
	tr := ours(t)
	var pkgs []*pkg
	var patterns []string
	for _, p := range tr.pkgs {
		if slices.Contains(pure, p.path) {
			pkgs = append(pkgs, p)
			patterns = append(patterns, "./"+p.path)
		}
	}
	deps, err := goList(tr.dir, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	seen := map[string]bool{}
	for _, b := range builds {
		for _, source := range pkgs {
			if err := p.load(tr, source, b, deps, seen); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, source := range pkgs {
		for _, f := range source.files {
			if !f.test && !seen[f.name] {
				t.Errorf("%s: no build that is checked here has this file", f.name)
			}
		}
	}
	return p
}

// load parses and checks a package as one build has it, unless all these files
// were seen already.
func (p *program) load(tr *tree, source *pkg, b build.Context, deps []listed, seen map[string]bool) error {
	var files []*file
	news := false
	for _, f := range source.files {
		full := filepath.Join(tr.dir, filepath.FromSlash(f.name))
		match, err := b.MatchFile(filepath.Dir(full), filepath.Base(full))
		if err != nil {
			return err
		}
		if f.test || !match {
			continue
		}
		syntax, err := parser.ParseFile(p.fset, full, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, &file{name: f.name, ast: syntax})
		news = news || !seen[f.name]
		seen[f.name] = true
	}
	if !news {
		return nil
	}
	return p.check(tr.module+"/"+source.path, files, b.GOARCH, deps)
}

// snippetDeps are the packages that the negative controls import.
var snippetDeps = sync.OnceValues(func() ([]listed, error) {
	return goList(".", "encoding/json", "fmt", "maps", "math", "math/rand/v2", "os", "reflect", "slices", "sort", "strconv", "time", "unsafe")
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
	if err := p.check("p", []*file{{name: name, ast: syntax}}, "amd64", deps); err != nil {
		t.Fatal(err)
	}
	return p
}
