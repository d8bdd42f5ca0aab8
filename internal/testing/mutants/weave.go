package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// inForce is the environment variable that says which mistake a program makes:
// the number of a woven mutant, or nothing.
const inForce = "SAMESTEP_MUTANT"

// A woven mutant is one of those that one program has, with its number.
type woven struct {
	*Mutant
	number int // from 1 on
}

// weave returns the source of a file in which each function that a mutant
// changes stands as it is, and once for each of its mutants, and the function of
// its name calls the one that is in force. Building takes longer than hunting,
// and so is done once for all of them. It gives back the mutants that it has:
// not those outside of functions, or in generic ones.
func weave(source []byte, list []woven) (changed []byte, has []woven, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, 0)
	if err != nil {
		return nil, nil, err
	}
	at := func(pos token.Pos) int { return set.Position(pos).Offset }
	text := func(n ast.Node) string { return string(source[at(n.Pos()):at(n.End())]) }
	var out strings.Builder
	done := 0
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || isGeneric(fn) {
			continue
		}
		var inside []woven
		for _, m := range list {
			if strings.Contains(text(fn.Body), m.Old) {
				inside = append(inside, m)
			}
		}
		if len(inside) == 0 {
			continue
		}
		out.Write(source[done:at(fn.Pos())])
		done = at(fn.End())
		out.WriteString(chooser(fn, inside, text))
		head, tail := source[at(fn.Pos()):at(fn.Name.Pos())], source[at(fn.Name.End()):done]
		fmt.Fprintf(&out, "%s%s%s\n\n", head, variant(fn, 0), tail)
		for _, m := range inside {
			mistaken, err := m.Apply(tail)
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(&out, "%s%s%s\n\n", head, variant(fn, m.number), mistaken)
		}
		has = append(has, inside...)
	}
	out.Write(source[done:])
	return []byte(out.String()), has, nil
}

func isGeneric(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return fn.Type.TypeParams != nil
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	_, named := t.(*ast.Ident)
	return !named
}

// variant is the name of a function as it is, or with a mistake.
func variant(fn *ast.FuncDecl, number int) string {
	return fmt.Sprintf("%sMutant%d", fn.Name.Name, number)
}

// chooser is the function that calls one of its variants.
func chooser(fn *ast.FuncDecl, inside []woven, text func(ast.Node) string) string {
	var params, args, results []string
	for _, field := range fn.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("p%d", len(params))
			params = append(params, name+" "+text(field.Type))
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				name += "..."
			}
			args = append(args, name)
		}
	}
	if fn.Type.Results != nil {
		for _, field := range fn.Type.Results.List {
			for range max(1, len(field.Names)) {
				results = append(results, text(field.Type))
			}
		}
	}
	receiver, dot := "", ""
	if fn.Recv != nil {
		receiver, dot = "(r "+text(fn.Recv.List[0].Type)+") ", "r."
	}
	call := func(number int) string {
		call := dot + variant(fn, number) + "(" + strings.Join(args, ", ") + ")"
		if len(results) > 0 {
			return "return " + call
		}
		return call
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func %s%s(%s) (%s) {\n\tswitch mutantInForce {\n", receiver, fn.Name.Name, strings.Join(params, ", "), strings.Join(results, ", "))
	for _, m := range inside {
		fmt.Fprintf(&b, "\tcase %d:\n\t\t%s\n", m.number, call(m.number))
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t%s\n\t}\n}\n\n", call(0))
	return b.String()
}

// choice is a file of a package that has woven functions.
func choice(pkg string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantInForce, _ = strconv.Atoi(os.Getenv(%q))\n", pkg, inForce)
}
