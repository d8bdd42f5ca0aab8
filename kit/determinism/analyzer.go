// Package determinism is an analyzer for the code of lockstep simulations. It finds code that would make two machines
// compute different matches, before anyone plays.
//
// It checks the functions that a game sets as Assets, Load, New, Step, Derive, Validate and SelfTest in lockstep.Rules, and as
// refuse in its View, functions and packages with the comment
//
//	//samestep:deterministic
//
// and everything that these call, in their own package and in others; findings in other packages are reported at the call.
// It follows function values to all places that name them, and interface methods to all visible types. A call that it
// cannot follow is itself a finding, "unseen". It also checks the types of states, configurations and commands.
//
// docs/determinism-rules.md lists the rules, with their findings and what to write instead. A comment with a reason allows
// a harmless finding:
//
//	//samestep:allow sort kinds are unique
//
// It covers its own line, or the next if it stands alone, or the declaration whose comment it is in, or the whole file if it
// stands before the package clause. A comment without a reason, and one that nothing needs, is itself a finding.
//
// [Analyzer] is a go/analysis analyzer. [Vet] runs it on packages, and so does the command, alone or under go vet:
//
//	samestep vet ./...
//	go vet -vettool=$(which samestep) ./...
package determinism

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Analyzer reports what may differ between machines in simulations, and in what they call.
//
// Its flag all takes every function for one of a simulation.
var Analyzer = newAnalyzer()

func newAnalyzer() *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: "determinism",
		Doc: `report what may come out differently on another machine in a lockstep simulation

Functions that are given to lockstep.Rules as Assets, Load, New, Step, Derive or Validate, or to lockstep.View as refuse, those
with the comment //samestep:deterministic, and all that they call, are checked. A finding is allowed by a comment
//samestep:allow RULE reason.`,
		FactTypes:  []analysis.Fact{new(breaches), new(writer), new(mutable), new(mutator)},
		ResultType: reflect.TypeFor[int](), // how many functions of simulations were named
	}
	all := a.Flags.Bool("all", false, "check every function, whether a simulation calls it or not")
	a.Run = func(pass *analysis.Pass) (any, error) { return run(pass, *all), nil }
	return a
}

// run returns the number of functions of simulations that a package names.
func run(pass *analysis.Pass, all bool) int {
	if isStandard(pass.Pkg.Path()) || len(pass.Files) == 0 {
		return 0 // the standard library has a table of its own
	}
	p := &program{graph: &graph{source: newSource(pass), objects: map[types.Object]*node{}, lits: map[*ast.FuncLit]*node{}}, all: all}
	p.findAllows()
	p.collect()
	p.findRoots()
	for _, n := range p.nodes {
		p.findEffects(n)
	}
	p.spreadEffects()
	p.findInits()
	p.findMutable()
	for _, g := range p.given {
		p.captured(g.node, g.value, map[*types.Func]bool{})
	}
	p.accesses = newAccesses(p.graph)
	p.findReadOnly()
	for i := 0; i < len(p.nodes); i++ { // grows by literals
		p.scan(p.nodes[i])
	}
	p.forgive()
	p.exportFacts()
	p.reportReached()
	return len(p.roots) + len(p.listed)
}

// collect adds a node for every function, package-level variable and constant.
func (p *graph) collect() {
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				n := &node{object: p.TypesInfo.Defs[d.Name]}
				if d.Body != nil {
					n.bodies = []ast.Node{d}
				}
				p.add(n)
				if d.Recv == nil && d.Name.Name == "init" {
					p.inits = append(p.inits, n)
				}
			case *ast.GenDecl:
				p.collectValues(d)
			}
		}
	}
}

func (p *graph) collectValues(d *ast.GenDecl) {
	if d.Tok != token.VAR && d.Tok != token.CONST {
		return
	}
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec)
		for i, name := range spec.Names {
			n := &node{object: p.TypesInfo.Defs[name]}
			switch {
			case len(spec.Values) == len(spec.Names):
				n.bodies = []ast.Node{spec.Values[i]}
			case len(spec.Values) == 1:
				n.bodies = []ast.Node{spec.Values[0]}
			}
			p.add(n)
		}
	}
}

// findInits makes readers of a variable depend on the init functions that write it.
func (p *program) findInits() {
	for _, init := range p.inits {
		for v := range p.directWrites(init) {
			if n := p.objects[v]; n != nil {
				n.refs = append(n.refs, init)
			}
		}
	}
}

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

// errLoad is wrapped by the errors for packages that are not found or do not compile.
var errLoad = errors.New("determinism: cannot load packages")

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
		return nil, fmt.Errorf("%w: %w", errLoad, err)
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
		return nil, nil, fmt.Errorf("%w: %w", errLoad, err)
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
		return nil, nil, fmt.Errorf("%w: no packages named %s", errLoad, strings.Join(patterns, " "))
	}
	return named, all, nil
}

func problems(pkgs []*packages.Package) error {
	var errs []error
	for _, p := range pkgs {
		for _, e := range p.Errors {
			errs = append(errs, fmt.Errorf("%w: %w", errLoad, e))
		}
	}
	return errors.Join(errs...)
}

// scan finds the breaches and references of a node.
func (p *program) scan(n *node) {
	if fn, ok := n.object.(*types.Func); ok && len(n.bodies) == 0 {
		n.issues = append(n.issues, issue{rule: "unseen", pos: fn.Pos(), end: fn.Pos(), what: fn.Name() + " is not written in Go"})
	}
	visit := p.visit
	if _, ok := n.object.(*types.Const); ok {
		visit = p.visitConstant
	}
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			visit(n, at)
		}
	}
}

// visitConstant examines a part of a constant, which is exact, and the same everywhere but for the size of a word.
func (p *program) visitConstant(n *node, at ast.Node) {
	switch at := at.(type) {
	case *ast.UnaryExpr:
		p.complement(n, at)
	case *ast.Ident:
		if _, ok := p.TypesInfo.Uses[at].(*types.Const); ok {
			p.use(n, at)
		}
	}
}

func (p *program) visit(n *node, at ast.Node) {
	if e, ok := at.(ast.Expr); ok {
		p.float(n, e)
	}
	switch at := at.(type) {
	case *ast.GoStmt:
		n.report("goroutine", at, "a goroutine is started")
	case *ast.SelectStmt:
		n.report("select", at, "a select")
	case *ast.SendStmt:
		n.report("channel", at, "a send to a channel")
	case *ast.UnaryExpr:
		if at.Op == token.ARROW {
			n.report("channel", at, "a receive from a channel")
		}
		p.complement(n, at)
	case *ast.RangeStmt:
		p.rangeOver(n, at)
	case *ast.Ident:
		p.use(n, at)
	case *ast.CallExpr:
		p.call(n, at)
	case *ast.BinaryExpr:
		p.binary(n, at)
	case *ast.AssignStmt:
		p.assign(n, at)
	}
	if s, ok := at.(ast.Stmt); ok {
		p.evaluation(n, s)
	}
	p.globalWrite(n, at)
}

// float finds floating-point values. Constants that end as integers are exact, and the same everywhere.
func (p *program) float(n *node, e ast.Expr) {
	tv, ok := p.TypesInfo.Types[e]
	if !ok {
		if id, isID := e.(*ast.Ident); isID && p.TypesInfo.Defs[id] != nil {
			if v, isVar := p.TypesInfo.Defs[id].(*types.Var); isVar && isKind(v.Type(), floats) {
				n.report("float", e, id.Name+" is a "+v.Type().String())
			}
		}
		return
	}
	if tv.Type == nil || !tv.IsValue() {
		return
	}
	if tuple, ok := tv.Type.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			if isKind(v.Type(), floats) {
				n.report("float", e, types.ExprString(e)+" returns a "+v.Type().String())
				return
			}
		}
		return
	}
	if isKind(tv.Type, floats) && (tv.Value == nil || !isKind(tv.Type, types.IsUntyped)) {
		n.report("float", e, types.ExprString(e)+" is a "+tv.Type.String())
	}
}

// rangeOver examines the operand of a range loop.
func (p *program) rangeOver(n *node, loop *ast.RangeStmt) {
	switch t := p.typeOf(loop.X); {
	case isCore[*types.Map](t):
		p.mapLoop(n, loop)
	case isCore[*types.Chan](t):
		n.report("channel", loop.X, "a loop over a channel")
	case iterators[p.standardFunc(loop.X, "maps")]:
		p.mapLoop(n, loop)
	}
}

// use examines a name. Whatever it refers to is reached too.
func (p *program) use(n *node, id *ast.Ident) {
	object := p.TypesInfo.Uses[id]
	if object == nil || object.Pkg() == nil {
		return
	}
	p.instance(n, id)
	switch o := object.(type) {
	case *types.Func:
		o = o.Origin()
		if isMethodOfInterface(o) {
			p.dynamic(n, id, o, o.Signature().Recv().Type())
			return
		}
		p.refer(n, id, o)
	case *types.Var:
		if o.Parent() == o.Pkg().Scope() { // of the package
			p.refer(n, id, o)
			if !isStandard(o.Pkg().Path()) && p.ImportObjectFact(o, &mutable{}) {
				n.report("global", id, o.Name()+" is read here and changed elsewhere")
			}
		} else if o.IsField() {
			p.functionField(n, id, o)
		}
	case *types.Const:
		p.refer(n, id, o)
	case *types.TypeName:
		if isStandard(o.Pkg().Path()) {
			p.standard(n, id, o)
		}
	}
}

func (p *program) call(n *node, call *ast.CallExpr) {
	p.each(n, call)
	p.printed(n, call)
	p.sorted(n, call)
	switch b := p.builtin(call); b {
	case "close":
		n.report("channel", call, "close of a channel")
	case "make":
		if isCore[*types.Chan](p.typeOf(call)) {
			n.report("channel", call, "make of a channel")
		}
	case "cap":
		p.capacity(n, call)
	case "recover":
		n.report("memory", call, "recover may hide a panic that only this machine has, such as that of a list too long for its memory")
	}
}

// reached returns all nodes that some nodes reach, each once, nearest first.
func reached(from ...*node) []*node {
	seen := map[*node]bool{}
	var list []*node
	add := func(n *node) {
		if n != nil && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	for _, n := range from {
		add(n)
	}
	for i := 0; i < len(list); i++ {
		for _, r := range list[i].refs {
			add(r)
		}
	}
	return list
}

// exportFacts exports the breaches and effects of functions and variables to importing packages.
func (p *program) exportFacts() {
	for _, n := range p.nodes {
		if n.object == nil || n.object.Name() == "_" || n.object.Name() == "init" {
			continue
		}
		var list []breach
		for _, r := range reached(n) {
			for _, i := range r.issues {
				if !slices.ContainsFunc(list, func(c breach) bool { return c.Rule == i.rule }) {
					origin := i.origin
					if origin == "" {
						origin = i.what + " (" + p.place(i.pos) + ")"
					}
					list = append(list, breach{i.rule, origin})
				}
			}
		}
		if len(list) > 0 {
			p.ExportObjectFact(n.object, &breaches{list})
		}
		p.exportMutation(n)
		if n.effects.any {
			p.ExportObjectFact(n.object, &writer{})
		}
	}
}

// reportReached reports the issues that the roots reach, one for each rule and line.
func (p *program) reportReached() {
	issues := slices.Clone(p.always)
	for _, n := range reached(p.listed...) {
		for _, i := range n.issues {
			if i.rule != "memory" { // such a package may be one that counts its memory
				issues = append(issues, i)
			}
		}
	}
	for _, n := range reached(p.roots...) {
		issues = append(issues, n.issues...)
	}
	slices.SortStableFunc(issues, func(a, b issue) int { return cmp.Compare(a.pos, b.pos) })
	type key struct {
		file, rule string
		line       int
	}
	seen := map[key]bool{}
	for _, i := range issues {
		at := p.Fset.Position(i.pos)
		if k := (key{at.Filename, i.rule, at.Line}); !seen[k] {
			seen[k] = true
			rule, ok := ruleNamed(i.rule)
			if !ok {
				panic("determinism: no rule " + i.rule) // every rule that is reported is in the table
			}
			p.Report(analysis.Diagnostic{Pos: i.pos, End: i.end, Category: i.rule, Message: rule.Name + ": " + i.what + ": " + rule.Why + "; " + rule.Instead, SuggestedFixes: i.fixes})
		}
	}
}
