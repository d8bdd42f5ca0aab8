package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// jsonPackages print or serve JSON for others. The page's JSON goes no further than its own script.
var jsonPackages = []string{
	"cmd/samestep/tool/internal/console", "cmd/samestep/tool/internal/gameset", "cmd/samestep/tool/internal/matchlines", "cmd/samestep/tool/internal/replays",
	"cmd/samestep/tool/internal/desyncs", "cmd/samestep/tool/internal/serving", "cmd/samestep/tool/internal/checks", "cmd/samestep/tool/internal/live",
	"cmd/samestep/tool/internal/modules", "cmd/samestep/tool/internal/engine", "cmd/samestep/tool/internal/about", "cmd/samestep/tool/internal/bots",
	"cmd/samestep-cluster/clustertool", "server", "cluster/farm", "replay", "desync", "desync/bisect", "desync/recordings",
}

// jsonNumbers are fields of 64 bits that may be JSON numbers.
var jsonNumbers = map[string]string{
	"mcapTime.sec":  "Foxglove's schema of a log wants numbers; a tick's second has fewer than 33 bits",
	"mcapTime.nsec": "the same; less than a billion",
	"Violation.at":  "microseconds of a simulated run of at most two days",
}

// A jsonReader looks in type-checked packages for values that become JSON with a number that may need more than 53 bits,
// which JavaScript and others round. The form of a field must not depend on its value, so it is the type that counts.
// An int or a uint counts things that one process holds or has done; some platforms' have 32 bits, so they hold nothing else.
type jsonReader struct {
	*program
	sinks map[types.Object]int // functions of ours that make JSON of an argument, and which
	found []finding
	at    token.Pos
	seen  map[types.Type]bool
}

// jsonFindings returns the values that are not text.
func jsonFindings(p *program) []finding {
	r := &jsonReader{program: p, sinks: map[types.Object]int{}}
	for before := -1; before != len(r.sinks); { // until no function passes its argument on to a known one
		before = len(r.sinks)
		r.found = nil
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				r.declaration(d)
			}
		}
	}
	return r.found
}

func (r *jsonReader) declaration(d ast.Decl) {
	fn, _ := d.(*ast.FuncDecl)
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		i, ok := r.sink(call)
		if !ok {
			return true
		}
		if k := r.parameter(fn, call.Args[i]); k >= 0 && types.IsInterface(r.info.Types[call.Args[i]].Type) {
			r.sinks[r.info.Defs[fn.Name]] = k
			return true
		}
		r.at, r.seen = call.Args[i].Pos(), map[types.Type]bool{}
		r.value(call.Args[i], 0)
		return true
	})
}

// sink returns which argument of a call becomes JSON.
func (r *jsonReader) sink(call *ast.CallExpr) (int, bool) {
	var callee types.Object
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		callee = r.info.Uses[f]
	case *ast.SelectorExpr:
		callee = r.info.Uses[f.Sel]
	}
	fn, ok := callee.(*types.Func)
	if !ok {
		return 0, false
	}
	if i, ok := r.sinks[fn]; ok {
		return i, true
	}
	switch fn.FullName() {
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "(*encoding/json.Encoder).Encode":
		return 0, true
	}
	return 0, false
}

// parameter returns which parameter of a function an expression is, or -1.
func (r *jsonReader) parameter(fn *ast.FuncDecl, e ast.Expr) int {
	id, ok := e.(*ast.Ident)
	if !ok || fn == nil {
		return -1
	}
	i := 0
	for _, field := range fn.Type.Params.List {
		for _, name := range field.Names {
			if r.info.Defs[name] == r.info.Uses[id] {
				return i
			}
			i++
		}
	}
	return -1
}

// value looks at what an expression can be. Where its type is an interface, it looks for what is assigned or returned.
func (r *jsonReader) value(e ast.Expr, depth int) {
	e = ast.Unparen(e)
	t := r.info.Types[e].Type
	if b, ok := t.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return
	}
	if m, ok := types.Unalias(t).Underlying().(*types.Map); ok && types.IsInterface(m.Elem()) {
		if c, ok := e.(*ast.CompositeLit); ok {
			for _, el := range c.Elts {
				r.value(el.(*ast.KeyValueExpr).Value, depth)
			}
			return
		}
	}
	if !types.IsInterface(t) {
		r.walk(t, "", nil)
		return
	}
	var from []ast.Expr
	switch x := e.(type) {
	case *ast.CallExpr:
		from = r.returned(x)
	case *ast.SelectorExpr:
		from = r.assigned(r.info.Uses[x.Sel])
	case *ast.Ident:
		from = r.assigned(r.info.Uses[x])
	}
	if len(from) == 0 || depth > 4 {
		r.report("", "an interface, of which it is not known what it holds")
	}
	for _, e := range from {
		r.value(e, depth+1)
	}
}

// returned returns what a function of ours returns as its only result.
func (r *jsonReader) returned(call *ast.CallExpr) (all []ast.Expr) {
	name := ast.Unparen(call.Fun)
	if s, ok := name.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	id, ok := name.(*ast.Ident)
	if !ok {
		return nil
	}
	r.each(func(n ast.Node) {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || r.info.Defs[fn.Name] != r.info.Uses[id] || fn.Body == nil {
			return
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
				all = append(all, ret.Results[0])
			}
			_, inner := n.(*ast.FuncLit)
			return !inner
		})
	})
	return all
}

// assigned returns what is assigned to a variable or a field.
func (r *jsonReader) assigned(to types.Object) (all []ast.Expr) {
	is := func(e ast.Expr) bool {
		if s, ok := e.(*ast.SelectorExpr); ok {
			e = s.Sel
		}
		id, ok := e.(*ast.Ident)
		return ok && (r.info.Uses[id] == to || r.info.Defs[id] == to)
	}
	r.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if is(n.Key) {
				all = append(all, n.Value)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if is(left) && len(n.Rhs) == len(n.Lhs) {
					all = append(all, n.Rhs[i])
				}
			}
		}
	})
	return all
}

// each calls f with every node of all files.
func (r *jsonReader) each(f func(ast.Node)) {
	for _, file := range r.files {
		ast.Inspect(file.ast, func(n ast.Node) bool {
			f(n)
			return true
		})
	}
}

// walk looks at a type at a path. Fields of embedded structs that a name hides are no part of the JSON.
func (r *jsonReader) walk(t types.Type, path string, hidden []string) {
	for _, method := range []string{"MarshalJSON", "MarshalText"} {
		if m, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, method); m != nil {
			return // text, or a form that its own test shows
		}
	}
	named, isNamed := types.Unalias(t).(*types.Named)
	if isNamed {
		if r.seen[t] {
			return
		}
		r.seen[t] = true
		defer delete(r.seen, t)
		if _, ok := t.Underlying().(*types.Struct); ok {
			path = named.Obj().Name()
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Int64, types.Uint64, types.Uintptr:
			r.report(path, u.Name())
		}
	case *types.Pointer:
		r.walk(u.Elem(), path, hidden)
	case *types.Slice:
		r.walk(u.Elem(), path, nil)
	case *types.Array:
		r.walk(u.Elem(), path, nil)
	case *types.Map:
		r.walk(u.Elem(), path, nil)
	case *types.Struct:
		r.fields(u, path, hidden)
	case *types.Interface:
		r.report(path, "an interface, of which it is not known what it holds")
	}
}

func (r *jsonReader) fields(s *types.Struct, path string, hidden []string) {
	names := slices.Clone(hidden)
	for i := range s.NumFields() {
		if name, _ := jsonTag(s.Tag(i)); name != "" {
			names = append(names, name)
		}
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		name, text := jsonTag(s.Tag(i))
		switch {
		case name == "-" || name == "" && !f.Exported() && !f.Embedded() || slices.Contains(hidden, name):
			continue
		case name == "" && f.Embedded():
			r.walk(f.Type(), path, names)
			continue
		}
		if b, ok := f.Type().Underlying().(*types.Basic); ok && text && b.Info()&types.IsInteger != 0 {
			continue // encoding/json passes over ",string" at arrays and others
		}
		at := path + "." + cmp.Or(name, f.Name())
		if jsonNumbers[at] != "" {
			continue
		}
		r.walk(f.Type(), at, nil)
	}
}

// jsonTag returns the name in a field's tag, and whether it asks for text.
func jsonTag(tag string) (name string, text bool) {
	all := strings.Split(reflect.StructTag(tag).Get("json"), ",")
	return all[0], slices.Contains(all[1:], "string")
}

func (r *jsonReader) report(path, what string) {
	p := r.fset.Position(r.at)
	text := fmt.Sprintf("%s: got %s, want text", strings.TrimPrefix(path, "."), what)
	if !slices.ContainsFunc(r.found, func(f finding) bool { return f.text == text && path != "" }) {
		r.found = append(r.found, finding{p.Filename, p.Line, "json", text})
	}
}

// Every JSON that we print or serve has numbers of 64 bits as text.
func TestJSON(t *testing.T) {
	needsGo(t)
	tr := ours(t)
	for _, path := range jsonPackages {
		p := newProgram()
		linux := build.Context{Compiler: "gc", GOOS: "linux", GOARCH: "amd64"}
		if err := p.load(tr, tr.find(path), linux, map[string]bool{}); err != nil {
			t.Fatal(err)
		}
		report(t, jsonFindings(p))
	}
}

func TestJSONControl(t *testing.T) {
	const source = `package p
import (
	"os"
	"encoding/json"
	"time"
)
type Text uint64
func (t Text) MarshalText() ([]byte, error) { return nil, nil }
type Wide int64
type Inner struct {
	A uint64 ¬json:"a"¬
	B []int64 ¬json:"b,string"¬
	Hidden uint64 ¬json:"hidden"¬
	Sum uint64 ¬json:"sum,string"¬
	Own Text
	When time.Time
	For time.Duration
}
type Outer struct {
	*Inner
	Hidden string ¬json:"hidden"¬
	Not uint64 ¬json:"-"¬
	small uint64
	Count int
	W map[string]Wide ¬json:"w"¬
	Any any
}
func print(v any) { again(1, v) }
func again(n int, v any) { json.NewEncoder(os.Stdout).Encode(v) }
func make(n int) any {
	if n > 0 { return struct{ F float64; U uint64 }{} }
	return "text"
}
type holder struct { value any }
func f(h holder) {
	h.value = uint64(7)
	print(&Outer{})
	print(make(1))
	print(h.value)
	print(map[string]any{"x": int64(1), "y": 1})
	var known any
	print(known)
	json.Marshal(uint64(1))
	_ = json.Unmarshal(nil, new(uint64))
}
`
	found := jsonFindings(loadSnippet(t, "p.go", strings.ReplaceAll(source, "¬", "`")))
	expect(t, sorted(found),
		"Inner.a: got uint64", "Inner.b: got int64", "Inner.For: got int64", "Outer.w: got int64", "Outer.Any: got an interface",
		"json: U: got uint64", "p.go:39: json: : got uint64", "p.go:40: json: : got int64", "p.go:42: json: : got an interface", "p.go:43: json: : got uint64")
}
