package determinism

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
)

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

// place returns a position as text.
func (p *program) place(pos token.Pos) string {
	at := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
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
			p.Report(analysis.Diagnostic{Pos: i.pos, End: i.end, Category: i.rule, Message: rule.message(i.what), SuggestedFixes: i.fixes})
		}
	}
}

// imported returns the breaches of another package's object.
func (p *program) imported(o types.Object) []breach {
	var c breaches
	if o == nil || o.Pkg() == nil || o.Pkg() == p.Pkg || !p.ImportObjectFact(o, &c) {
		return nil
	}
	return c.List
}
