package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// A Rule is one thing that a simulation must not do.
type Rule struct {
	Name    string // as in "//samestep:allow NAME reason", and the category of a diagnostic
	Why     string // what goes wrong
	Instead string // what to write
}

// Rules returns all rules, in the order of docs/determinism-rules.md.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{"float", "floating point rounds differently between machines", "use integers or package fixed"},
	{"fixedpoint", "native arithmetic ignores the binary point of fixed-point numbers", "use the methods of the type: Mul, Div, FromInt"},
	{"statetype", "its size, address, order or rounding differs between machines", "use sized integers, bools, strings, arrays, slices and structs of them"},
	{"maprange", "map iteration order differs from run to run", "range over sorted keys, or keep a slice"},
	{"syncmap", "sync.Map iteration order differs from run to run", "keep a slice"},
	{"reflectmap", "map iteration order differs from run to run, also with reflection", "sort the entries outside of the simulation"},
	{"sort", "an unstable sort does not define the order of equal elements", "sort stably, or compare by a unique key last"},
	{"order", "Go does not define whether a variable is read before or after a call that changes it", "make the call a statement of its own"},
	{"global", "a package-level variable is shared by all matches and is not part of snapshots", "keep it in the state"},
	{"captured", "a captured variable is shared by all matches and is not part of snapshots", "keep it in the state"},
	{"readonly", "only Step may change the state, and nothing may change the configuration: other machines do not make this change", "change the state in Step, and keep a copy in the state of what must change"},
	{"each", "elements run in any order, and at the same time", "write item i alone, use its own Turn, and add up after Each"},
	{"goroutine", "goroutines run in an undefined order", "do the work inline"},
	{"channel", "values arrive from a channel in an undefined order", "use a slice as a queue"},
	{"select", "select picks one of the ready cases at random", "decide from the state"},
	{"atomic", "atomics only matter between goroutines, which run in an undefined order", "use plain fields of the state"},
	{"clock", "clocks differ between machines", "count ticks"},
	{"random", "every machine draws other numbers", "draw from a generator in the state, such as fixed.Rand"},
	{"outside", "files, environment variables, networks and settings differ between machines", "pass it in the configuration or in a command"},
	{"runtime", "the garbage collector, the scheduler and the platform differ between machines and runs", "decide from the state alone"},
	{"memory", "what the runtime allocates, and when it runs out of memory, differs between Go versions and platforms", "use len, and let a panic end the match"},
	{"pointer", "addresses differ from run to run", "use an id or an index"},
	{"unsafe", "layout, byte order and addresses differ between machines", "use plain Go"},
	{"maphash", "hash/maphash has a different seed in every process", "use hash/fnv, or a hash function of your own"},
	{"unseen", "its code is not visible, so it cannot be checked", "name a function directly, or allow it and say why it is deterministic"},
	{"allow", "an exception must be needed and have a reason", "write //samestep:allow RULE reason, or delete it"},
}

func ruleNamed(name string) (Rule, bool) {
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
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

// effects are the changes that a node makes, itself or by its calls.
type effects struct {
	any     bool           // it changes something that outlives the call
	writes  map[place]bool // changed places that have a name
	outer   map[place]bool // values with a changed part
	callees []*node
}

// A given is an expression assigned to a field of lockstep.Rules, and the node of its issues.
type given struct {
	name  string // of the field
	value ast.Expr
	node  *node
}

// A graph has the nodes of a package, and what each changes.
type graph struct {
	*source
	objects map[types.Object]*node
	lits    map[*ast.FuncLit]*node
	nodes   []*node // in the order of the source
	inits   []*node
	written map[*types.Var]bool // variables and fields that the package changes, in any value
}

// A program is one package under analysis.
type program struct {
	*graph
	accesses *accesses
	all      bool // every function is a root
	roots    []*node
	listed   []*node // all functions of a package that is marked as a whole
	given    []given // to lockstep.Rules
	always   []issue // reported whether reached or not
	allows   []*allow
}

func (p *graph) add(n *node) {
	if n.object != nil {
		p.objects[n.object] = n
	}
	p.nodes = append(p.nodes, n)
}

func (p *graph) literal(lit *ast.FuncLit) *node {
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

// breaches is the fact that a function or variable of another package breaks rules, itself or by its calls.
type breaches struct{ List []breach }

// A breach is the first place that breaks a rule.
type breach struct{ Rule, Origin string }

func (*breaches) AFact() {}

func (c *breaches) String() string {
	s := ""
	for _, one := range c.List {
		s += one.Rule + ": " + one.Origin + "\n"
	}
	return s
}

func (p *program) imported(o types.Object) []breach {
	var c breaches
	if o == nil || o.Pkg() == nil || o.Pkg() == p.Pkg || !p.ImportObjectFact(o, &c) {
		return nil
	}
	return c.List
}
