package mutants

import (
	"fmt"
	"go/ast"
	"strings"
)

// inForce is the environment variable with the number of the selected mutant.
const inForce = "SAMESTEP_MUTANT"

// weave returns the source of a file with mutants. Each function with mutants becomes one
// that calls a copy of itself: the original or the copy with the selected mutant. So a
// hunt builds only one program; building takes longer than running. Functions with mutants
// are not generic.
func weave(f *file, list []*place) []byte {
	var out strings.Builder
	done := 0
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var inside []*place
		for _, m := range list {
			if m.fn == fn {
				inside = append(inside, m)
			}
		}
		if len(inside) == 0 {
			continue
		}
		start, name, params := f.offset(fn.Pos()), f.offset(fn.Name.Pos()), f.offset(fn.Name.End())
		out.Write(f.source[done:start])
		done = f.offset(fn.End())
		out.WriteString(chooser(fn, inside, f))
		fmt.Fprintf(&out, "%s%s%s\n\n", f.source[start:name], variant(fn, 0), f.source[params:done])
		for _, m := range inside {
			mistaken := m.edit.apply(f.source[:done])
			fmt.Fprintf(&out, "%s%s%s\n\n", f.source[start:name], variant(fn, m.number), mistaken[params:])
		}
	}
	out.Write(f.source[done:])
	return []byte(out.String())
}

// variant returns the name of a function's copy with a mutant; 0: the original.
func variant(fn *ast.FuncDecl, number int) string {
	return fmt.Sprintf("%sMutant%d", fn.Name.Name, number)
}

// chooser returns the function that calls one of its copies.
func chooser(fn *ast.FuncDecl, inside []*place, f *file) string {
	var params, args, results []string
	for _, field := range fn.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("p%d", len(params))
			params = append(params, name+" "+f.text(field.Type))
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				name += "..."
			}
			args = append(args, name)
		}
	}
	if fn.Type.Results != nil {
		for _, field := range fn.Type.Results.List {
			for range max(1, len(field.Names)) {
				results = append(results, f.text(field.Type))
			}
		}
	}
	receiver, dot := "", ""
	if fn.Recv != nil {
		receiver, dot = "(r "+f.text(fn.Recv.List[0].Type)+") ", "r."
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

// choice returns an added file of a package with woven functions.
func choice(pkg string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantInForce, _ = strconv.Atoi(os.Getenv(%q))\n", pkg, inForce)
}

// selectable returns the file of a package whose program selects the mutant itself.
func selectable(pkg string) []byte {
	return fmt.Appendf(nil, "package %s\n\nvar mutantInForce int\n\nfunc SelectMutant(number int) { mutantInForce = number }\n", pkg)
}
