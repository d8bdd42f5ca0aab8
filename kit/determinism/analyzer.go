package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
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

// An issue is a place where code breaks a rule.
type issue struct {
	rule     string
	pos, end token.Pos
	what     string
	origin   string // what and where, if that is in another package
	fixes    []analysis.SuggestedFix
}

// A node is anything that code can reach: a function, a package-level variable or constant with its initializer, or a
// function literal.
type node struct {
	object types.Object // nil for a literal
	bodies []ast.Node
	issues []issue
	refs   []*node
	effects
}

// A given is an expression assigned to a field of lockstep.Rules, and the node of its issues.
type given struct {
	name  string // of the field
	value ast.Expr
	node  *node
}

// A program is one package under analysis.
type program struct {
	*analysis.Pass
	all      bool        // every function is a root
	files    []*ast.File // without tests
	parents  map[ast.Node]ast.Node
	objects  map[types.Object]*node
	lits     map[*ast.FuncLit]*node
	nodes    []*node // in the order of the source
	inits    []*node
	roots    []*node
	listed   []*node // all functions of a package that is marked as a whole
	given    []given // to lockstep.Rules
	accesses map[*node]*access
	always   []issue // reported whether reached or not
	allows   []*allow
	locals   localFuncs
	assigned map[*types.Var][]value // see values
	scaling  map[*types.Var]bool    // variables whose scale is being found
	sharing  map[*types.Var]bool    // variables of which is being found what they share
	written  map[*types.Var]bool    // fields that the package writes
	partSet  map[*types.Var]bool    // local variables, see isPartSet
}

// run returns the number of functions of simulations that a package names.
func run(pass *analysis.Pass, all bool) int {
	if isStandard(pass.Pkg.Path()) || len(pass.Files) == 0 {
		return 0 // the standard library has a table of its own
	}
	p := &program{
		Pass:    pass,
		parents: map[ast.Node]ast.Node{},
		objects: map[types.Object]*node{},
		lits:    map[*ast.FuncLit]*node{},
		scaling: map[*types.Var]bool{}, sharing: map[*types.Var]bool{},
		all: all,
	}
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.Position(f.FileStart).Filename, "_test.go") {
			p.files = append(p.files, f)
			p.findParents(f)
		}
	}
	p.findAllows()
	p.collect()
	p.findRoots()
	p.findLocalFuncs()
	for _, n := range p.nodes {
		p.findEffects(n)
	}
	p.spreadEffects()
	p.findInits()
	p.findMutable()
	p.findCaptured()
	p.findReadOnly()
	for i := 0; i < len(p.nodes); i++ { // grows by literals
		p.scan(p.nodes[i])
	}
	p.forgive()
	p.exportFacts()
	p.reportReached()
	return len(p.roots) + len(p.listed)
}

func (p *program) findParents(f *ast.File) {
	ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
		if len(stack) > 0 {
			p.parents[n] = stack[len(stack)-1]
		}
		return true
	})
}

// collect adds a node for every function, package-level variable and constant.
func (p *program) collect() {
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

func (p *program) collectValues(d *ast.GenDecl) {
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

func (p *program) add(n *node) {
	if n.object != nil {
		p.objects[n.object] = n
	}
	p.nodes = append(p.nodes, n)
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

// literal returns the node of a function literal.
func (p *program) literal(lit *ast.FuncLit) *node {
	n := p.lits[lit]
	if n == nil {
		n = &node{bodies: []ast.Node{lit}}
		p.lits[lit] = n
		p.add(n)
	}
	return n
}

// report adds an issue of a node.
func (n *node) report(rule string, at ast.Node, what string, fixes ...analysis.SuggestedFix) {
	n.issues = append(n.issues, issue{rule: rule, pos: at.Pos(), end: at.End(), what: what, fixes: fixes})
}

// report adds an issue that counts even if nothing reaches it.
func (p *program) report(rule string, at ast.Node, what string) {
	p.always = append(p.always, issue{rule: rule, pos: at.Pos(), end: at.End(), what: what})
}
