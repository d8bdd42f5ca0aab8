package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A finding is a place where a rule is broken.
type finding struct {
	file string // from the root of the module
	line int
	rule string
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.rule, f.text) }

// report fails the test with each of the findings.
func report(t *testing.T, findings []finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

// A tree is the module's Go files, parsed. Build tags are not looked at: rules
// hold for every file.
type tree struct {
	dir    string // of go.mod, absolute
	module string // its path
	fset   *token.FileSet
	pkgs   []*pkg // by ascending path
}

// A pkg is the Go files of one folder.
type pkg struct {
	path  string // from the root of the module: "server"
	files []*file
}

// A file is one Go file.
type file struct {
	name string // from the root of the module: "lockstep/seal.go"
	test bool
	ast  *ast.File
}

// main reports whether the package is a program.
func (p *pkg) main() bool {
	return len(p.files) > 0 && p.files[0].ast.Name.Name == "main"
}

// under reports whether a path is what a pattern names: "a", or with "a/..." the
// path a and all below it.
func under(pattern, p string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return p == base || all && strings.HasPrefix(p, base+"/")
}

func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// readTree parses the module that the test runs in, once.
var readTree = sync.OnceValues(func() (*tree, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var mod []byte
	for {
		if mod, err = os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	t := &tree{dir: dir, module: strings.TrimSpace(strings.TrimPrefix(first, "module ")), fset: token.NewFileSet()}
	return t, filepath.WalkDir(dir, t.visit)
})

func (t *tree) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.dir, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	if d.IsDir() {
		if rel != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return nil
	}
	if !strings.HasSuffix(rel, ".go") {
		return nil
	}
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return t.add(rel, source)
}

// add parses one file into its package.
func (t *tree) add(name string, source []byte) error {
	syntax, err := parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if n := len(t.pkgs); n == 0 || t.pkgs[n-1].path != dir {
		if p := t.find(dir); p == nil {
			t.pkgs = append(t.pkgs, &pkg{path: dir})
		}
	}
	p := t.find(dir)
	p.files = append(p.files, &file{
		name: name, ast: syntax,
		test: strings.HasSuffix(name, "_test.go"),
	})
	return nil
}

func (t *tree) find(path string) *pkg {
	for _, p := range t.pkgs {
		if p.path == path {
			return p
		}
	}
	return nil
}

// calls visits each call in the functions of some packages, but not of their tests.
func (t *tree) calls(paths []string, visit func(f *file, fn *ast.FuncDecl, call *ast.CallExpr)) {
	for _, p := range t.pkgs {
		if !slices.Contains(paths, p.path) {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(fn, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						visit(f, fn, call)
					}
					return true
				})
			}
		}
	}
}

// ours is the tree of this module. Where the sources are not there, as on a
// machine that has only the test's binary, there is nothing to check.
func ours(t *testing.T) *tree {
	t.Helper()
	tr, err := readTree()
	if err != nil {
		t.Skipf("the source tree cannot be read: %v", err)
	}
	return tr
}

// treeOf makes a tree of snippets, for the negative controls.
func treeOf(t *testing.T, files map[string]string) *tree {
	t.Helper()
	tr := &tree{module: "example.test/m", fset: token.NewFileSet()}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := tr.add(name, []byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// expect fails the test unless the findings are exactly those wanted, each given
// as a part of its text.
func expect(t *testing.T, got []finding, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d findings, want %d", len(got), len(want))
	}
	for i, f := range got {
		if i >= len(want) || !strings.Contains(f.String(), want[i]) {
			t.Errorf("finding %d: got %q, want one of %q in this order", i, f, want)
		}
	}
}

// The tree is really there: a walk that finds nothing would make every rule hold.
func TestTree(t *testing.T) {
	tr := ours(t)
	for _, path := range []string{"fixed", "state", "checksum", "lockstep", "internal/pack", "internal/testing/archtest"} {
		if p := tr.find(path); p == nil || len(p.files) < 2 {
			t.Errorf("package %s was not found", path)
		}
	}
	if !strings.HasSuffix(tr.module, "/samestep") {
		t.Errorf("got module %q", tr.module)
	}
}
