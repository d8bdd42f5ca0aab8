package determinism

import (
	"go/ast"
	"go/types"
	"slices"
)

// readOnly has the read-only parameters of the functions of lockstep.Rules.
var readOnly = map[string]params{"New": 1 << 2, "Step": 1 << 1, "Derive": 1 << 1, "Validate": 1<<0 | 1<<1 | 1<<2}

// findReadOnly reports where the functions of a game change what they may only read: at the place or the call in the function
// itself.
func (p *program) findReadOnly() {
	p.findMutations()
	for _, f := range p.given {
		if lit, ok := ast.Unparen(f.value).(*ast.FuncLit); ok {
			p.reportChanges(f.name, p.accesses[p.literal(lit)], readOnly[f.name])
			continue
		}
		fn := p.namedFunc(f.value)
		if fn == nil || fn.Pkg() == nil {
			continue
		}
		limit := readOnly[f.name]
		if fn.Signature().Recv() != nil {
			limit <<= 1
		}
		var m mutator
		if fn.Pkg() == p.Pkg {
			p.reportChanges(f.name, p.accesses[p.objects[fn]], limit)
		} else if p.ImportObjectFact(fn, &m) && slices.ContainsFunc(m.Params, func(i int) bool { return limit&(1<<i) != 0 }) {
			p.report("readonly", f.value, types.ExprString(f.value)+" changes what "+f.name+" may only read")
		}
	}
}

// reportChanges reports the changes behind read-only parameters of a function.
func (p *program) reportChanges(name string, a *access, limit params) {
	if a == nil {
		return
	}
	for _, c := range a.changes {
		if c.behind&limit != 0 {
			p.report("readonly", c.at, c.what+" in "+name)
		}
	}
}

// exportMutation exports the parameters behind which a function changes something.
func (p *program) exportMutation(n *node) {
	a := p.accesses[n]
	if a == nil || a.changed == 0 {
		return
	}
	var m mutator
	for i := range 64 {
		if a.changed&(1<<i) != 0 {
			m.Params = append(m.Params, i)
		}
	}
	p.ExportObjectFact(n.object, &m)
}
