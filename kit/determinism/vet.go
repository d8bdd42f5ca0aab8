package determinism

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Options say what [Vet] checks.
type Options struct {
	Dir     string            // the folder of the patterns; "" means the current one
	All     bool              // check every function, whether a simulation calls it or not
	Overlay map[string][]byte // contents of files, by absolute path, in place of those on the disk

	// Looked is called with the number of functions of simulations that the packages name. Zero means that Vet checked
	// nothing. Nil disables it.
	Looked func(functions int)
}

// A Finding is a place where code breaks a rule.
type Finding struct {
	File   string `json:"file"` // absolute
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Rule   string `json:"rule"`
	Text   string `json:"text"` // the rule, the reason, and what to write instead
}

// String returns the finding in the format of compilers.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Text)
}

// ErrLoad is wrapped by the errors for packages that are not found or do not compile.
var ErrLoad = errors.New("determinism: packages cannot be loaded")

// Vet returns the findings of [Analyzer] in packages, by file and line. The patterns are those of the go command, which Vet
// needs.
func Vet(o Options, patterns ...string) ([]Finding, error) {
	config := packages.Config{Dir: o.Dir, Overlay: o.Overlay}
	named, all, err := list(config, patterns)
	if err != nil {
		return nil, err
	}
	config.Mode = packages.LoadSyntax | packages.NeedModule
	config.Fset = token.NewFileSet()
	loaded, err := packages.Load(&config, all...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLoad, err)
	}
	if err := problems(loaded); err != nil {
		return nil, err
	}
	a := newAnalyzer()
	if err := a.Flags.Set("all", strconv.FormatBool(o.All)); err != nil {
		return nil, err
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{a}, loaded, nil)
	if err != nil {
		return nil, err
	}
	var found []Finding
	looked := 0
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, act.Err
		}
		if !named[act.Package.PkgPath] {
			continue
		}
		looked += act.Result.(int)
		for _, d := range act.Diagnostics {
			at := config.Fset.Position(d.Pos)
			found = append(found, Finding{at.Filename, at.Line, at.Column, d.Category, d.Message})
		}
	}
	if o.Looked != nil {
		o.Looked(looked)
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Text, b.Text))
	})
	return found, nil
}

// list returns the packages that the patterns name, and all that these import, without the standard library.
func list(config packages.Config, patterns []string) (named map[string]bool, all []string, err error) {
	config.Mode = packages.NeedName | packages.NeedImports | packages.NeedDeps
	roots, err := packages.Load(&config, patterns...)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrLoad, err)
	}
	if err := problems(roots); err != nil {
		return nil, nil, err
	}
	named = map[string]bool{}
	for _, p := range roots {
		named[p.PkgPath] = true
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if !isStandard(p.PkgPath) {
			all = append(all, p.PkgPath)
		}
	})
	slices.Sort(all)
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%w: no packages named %s", ErrLoad, strings.Join(patterns, " "))
	}
	return named, all, nil
}

func problems(pkgs []*packages.Package) error {
	var errs []error
	for _, p := range pkgs {
		for _, e := range p.Errors {
			errs = append(errs, fmt.Errorf("%w: %w", ErrLoad, e))
		}
	}
	return errors.Join(errs...)
}
