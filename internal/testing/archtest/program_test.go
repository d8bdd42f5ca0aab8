package archtest

import (
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

// dependencies reads the types of what the checked packages import, so that only these themselves have to be type-checked. The
// go command compiles them all in one call.
var dependencies = sync.OnceValues(func() (types.Importer, error) {
	tr, err := readTree()
	if err != nil {
		return nil, err
	}
	patterns := []string{"encoding/json", "fmt", "maps", "math", "math/rand/v2", "os", "reflect", "slices", "sort", "strconv", "time", "unsafe"} // of snippets
	for _, path := range slices.Concat(pure, jsonPackages) {
		patterns = append(patterns, "./"+path)
	}
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "--"}, patterns...)...)
	cmd.Dir = tr.dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file, ok := exports[path]
		if !ok {
			return nil, fmt.Errorf("package %s was not listed", path)
		}
		return os.Open(file)
	}), nil
})

// check type-checks parsed files of one package and adds them.
func (p *program) check(path string, files []*file, arch string) error {
	deps, err := dependencies()
	if err != nil {
		return err
	}
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.ast)
	}
	config := types.Config{Importer: deps, Sizes: types.SizesFor("gc", arch)}
	p.files = append(p.files, files...)
	_, err = config.Check(path, p.fset, syntax, p.info)
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
	for _, p := range tr.pkgs {
		if slices.Contains(pure, p.path) {
			pkgs = append(pkgs, p)
		}
	}
	p := newProgram()
	seen := map[string]bool{}
	for _, b := range builds {
		for _, source := range pkgs {
			if err := p.load(tr, source, b, seen); err != nil {
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
func (p *program) load(tr *tree, source *pkg, b build.Context, seen map[string]bool) error {
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
	return p.check(tr.module+"/"+source.path, files, b.GOARCH)
}

// loadSnippet type-checks one file.
func loadSnippet(t *testing.T, name, source string) *program {
	t.Helper()
	needsGo(t)
	p := newProgram()
	syntax, err := parser.ParseFile(p.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.check("p", []*file{{name: name, ast: syntax}}, "amd64"); err != nil {
		t.Fatal(err)
	}
	return p
}
