package determinism

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// standardRoots has the first parts of the standard library's paths.
var standardRoots = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding
	errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp
	runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`)

// isStandard reports whether a path belongs to the standard library.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains(standardRoots, first)
}

// harmless has the packages of the standard library whose functions give the same results everywhere, except for names
// with rules of their own. Floats are found where they are passed or returned.
var harmless = strings.Fields(`bufio bytes cmp container/heap container/list container/ring context crypto/hmac crypto/md5
	crypto/sha1 crypto/sha256 crypto/sha3 crypto/sha512 crypto/subtle embed encoding encoding/ascii85 encoding/base32 encoding/base64
	encoding/binary encoding/csv encoding/hex encoding/json encoding/pem encoding/xml errors fmt hash hash/adler32
	hash/crc32 hash/crc64 hash/fnv html index/suffixarray io iter log log/slog maps math/big math/bits net/netip net/url
	path regexp regexp/syntax slices sort strconv strings structs sync text/scanner text/tabwriter text/template
	text/template/parse time unicode unicode/utf16 unicode/utf8 unique compress/flate compress/gzip compress/zlib
	compress/lzw compress/bzip2`)

// wholeRules has the packages whose every function and variable breaks a rule.
var wholeRules = map[string]string{
	"crypto/rand": "random", "hash/maphash": "maphash", "math": "float", "math/cmplx": "float", "sync/atomic": "atomic",
	"unsafe": "unsafe", "weak": "runtime", "runtime": "runtime",
}

// nameRules has single names. The name of a method includes its type.
var nameRules = map[string]string{
	"time.Now": "clock", "time.Since": "clock", "time.Until": "clock", "time.Sleep": "clock", "time.After": "clock",
	"time.AfterFunc": "clock", "time.Tick": "clock", "time.NewTimer": "clock", "time.NewTicker": "clock",
	"time.Local": "outside", "time.LoadLocation": "outside", "time.Time.Local": "outside",
	"context.WithTimeout": "clock", "context.WithDeadline": "clock", "context.WithTimeoutCause": "clock",
	"context.WithDeadlineCause": "clock", "context.AfterFunc": "goroutine",
	"sync.Map.Range": "syncmap", "sync.Pool.Get": "runtime", "sync.WaitGroup.Go": "goroutine",
	"reflect.Value.MapKeys": "reflectmap", "reflect.Value.MapRange": "reflectmap", "reflect.Value.Seq": "reflectmap",
	"reflect.Value.Seq2": "reflectmap", "reflect.Select": "select", "reflect.Value.Pointer": "pointer",
	"reflect.Value.UnsafePointer": "pointer", "reflect.Value.UnsafeAddr": "pointer",
	"reflect.Value.Send": "channel", "reflect.Value.Recv": "channel", "reflect.Value.TrySend": "channel", "reflect.Value.TryRecv": "channel",
	"math/bits.UintSize": "runtime", "strconv.IntSize": "runtime", "math/bits.LeadingZeros": "runtime", "math/bits.TrailingZeros": "runtime",
	"math/bits.RotateLeft": "runtime", "math/bits.Reverse": "runtime", "math/bits.ReverseBytes": "runtime", "math/bits.Add": "runtime",
	"math/bits.Sub": "runtime", "math/bits.Mul": "runtime", "math/bits.Div": "runtime", "math/bits.Rem": "runtime",
	"fmt.Scan": "outside", "fmt.Scanf": "outside", "fmt.Scanln": "outside",
	"runtime.KeepAlive": "", "runtime.Error": "",
}

// seeded has the names of math/rand and math/rand/v2 that draw only from a given seed.
var seeded = strings.Fields("New NewSource NewPCG NewChaCha8 NewZipf")

// standard examines a name of the standard library.
func (p *program) standard(n *node, id *ast.Ident, o types.Object) {
	path, name := o.Pkg().Path(), qualified(o)
	if rule := standardRule(path, name, o); rule != "" {
		n.report(rule, id, name)
		return
	}
	if path == "maps" {
		p.mapsCall(n, id, o.Name())
	}
	if slices.Contains(localTimes, name) {
		p.localTime(n, id, name)
	}
}

// qualified returns the name of an object with its package and, for a method, its type.
func qualified(o types.Object) string {
	name := o.Name()
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil {
		if t, ok := types.Unalias(deref(fn.Signature().Recv().Type())).(*types.Named); ok {
			name = t.Obj().Name() + "." + name
		}
	}
	return o.Pkg().Path() + "." + name
}

// standardRule returns the rule that a name of the standard library breaks, if any.
func standardRule(path, name string, o types.Object) string {
	if rule, ok := nameRules[name]; ok {
		return rule
	}
	_, isType := o.(*types.TypeName)
	_, isConst := o.(*types.Const)
	switch path {
	case "math/rand", "math/rand/v2":
		fn, isFunc := o.(*types.Func)
		if isType || isConst || isFunc && (fn.Signature().Recv() != nil || slices.Contains(seeded, o.Name())) {
			return ""
		}
		return "random"
	case "reflect":
		return ""
	case "math", "math/cmplx", "hash/maphash", "sync/atomic", "weak":
		if isConst || isType && path != "sync/atomic" {
			return ""
		}
		return wholeRules[path]
	case "runtime":
		if isType {
			return ""
		}
	}
	if rule, ok := wholeRules[path]; ok {
		return rule
	}
	if slices.Contains(harmless, path) || isType || isConst {
		return ""
	}
	if strings.HasPrefix(path, "runtime/") {
		return "runtime"
	}
	return "outside"
}

// localTimes are the functions whose results are in the time zone of the machine. That of Parse is, if the text has a zone.
var localTimes = strings.Fields("time.Unix time.UnixMilli time.UnixMicro time.Parse")

// zoneless are the methods of a time whose results do not depend on its zone, and shifting those whose results have the same zone.
var (
	zoneless = strings.Fields("UTC In Unix UnixMilli UnixMicro UnixNano Before After Equal Compare Sub IsZero")
	shifting = strings.Fields("Add Truncate Round")
)

// localTime examines the use of a function whose result is in the time zone of the machine.
func (p *program) localTime(n *node, id *ast.Ident, name string) {
	call := p.callOf(id)
	if call != nil && name == "time.Parse" {
		v := p.constant(call.Args[0])
		if v == nil || v.Kind() != constant.String {
			return
		}
		switch layout := constant.StringVal(v); {
		case strings.Contains(layout, "MST"):
			n.report("outside", id, name+" of a zone name depends on the time zone of the machine")
			return
		case !strings.Contains(layout, "07"):
			return // in UTC
		}
	}
	if call == nil || !p.isZoneless(call) {
		n.report("outside", id, name+" returns a time in the time zone of the machine")
	}
}

// isZoneless reports whether a time is only used in ways that do not depend on its zone: at once, or by a local variable.
func (p *source) isZoneless(e ast.Expr) bool {
	switch up := p.parents[e].(type) {
	case *ast.ParenExpr:
		return p.isZoneless(up)
	case *ast.SelectorExpr:
		call, ok := p.parents[up].(*ast.CallExpr)
		if !ok || call.Fun != up {
			return false
		}
		return slices.Contains(zoneless, up.Sel.Name) || slices.Contains(shifting, up.Sel.Name) && p.isZoneless(call)
	case *ast.CallExpr: // an argument of Before, Sub or such
		fn := p.namedFunc(up.Fun)
		return fn != nil && strings.HasPrefix(qualified(fn), "time.Time.") && slices.Contains(zoneless, fn.Name())
	case *ast.AssignStmt:
		for i, left := range up.Lhs {
			if left == e || len(up.Rhs) == len(up.Lhs) && up.Rhs[i] == e || len(up.Rhs) < len(up.Lhs) && i == 0 {
				return left == e || p.isZonelessVar(left)
			}
		}
	case *ast.ValueSpec:
		for i, name := range up.Names {
			if len(up.Values) < len(up.Names) || up.Values[i] == e {
				return p.isZonelessVar(name)
			}
		}
	}
	return false
}

// isZonelessVar is isZoneless for all uses of a local variable.
func (p *source) isZonelessVar(name ast.Expr) bool {
	v := p.variable(name)
	if isBlank(name) || p.busy[v] {
		return true
	}
	if v == nil || !isLocalVar(v) {
		return false
	}
	p.busy[v] = true
	defer delete(p.busy, v)
	for id, o := range p.TypesInfo.Uses {
		if o == types.Object(v) && !p.isZoneless(id) {
			return false
		}
	}
	return true
}

// isUTC reports whether a time is in a zone that the code names. time.Local has a rule of its own.
func (p *source) isUTC(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		fn := p.namedFunc(e.Fun)
		if fn == nil || fn.Pkg() == nil {
			return false
		}
		switch qualified(fn) {
		case "time.Time.UTC", "time.Time.In", "time.Date":
			return true
		case "time.Time.Add", "time.Time.AddDate", "time.Time.Truncate", "time.Time.Round":
			s, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
			return ok && p.isUTC(s.X)
		}
	case *ast.Ident:
		v := p.variable(e)
		if p.busy[v] {
			return true
		}
		for one := range p.follow(v) {
			if one.expr == nil || !p.isUTC(one.expr) {
				return false
			}
		}
		return len(p.values[v]) > 0
	}
	return false
}

// printers has the functions of fmt, and the index of their first printed argument. For names that end in "f", the
// format precedes it.
var printers = map[string]int{
	"Sprint": 0, "Sprintln": 0, "Sprintf": 1, "Errorf": 1, "Append": 1, "Appendln": 1, "Appendf": 2,
	"Fprint": 1, "Fprintln": 1, "Fprintf": 2, "Print": 0, "Println": 0, "Printf": 1,
}

// printed finds printed addresses.
func (p *program) printed(n *node, call *ast.CallExpr) {
	name := p.standardFunc(call, "fmt")
	first, ok := printers[name]
	if !ok {
		p.printedBy(n, call)
	}
	if !ok || len(call.Args) < first {
		return
	}
	verbs := ""
	if strings.HasSuffix(name, "f") {
		verbs = p.verbs(call.Args[first-1])
		if strings.Contains(verbs, "p") {
			n.report("pointer", call, "%p prints an address")
			return
		}
	}
	if call.Ellipsis != token.NoPos {
		return
	}
	for i, arg := range call.Args[first:] {
		if i < len(verbs) && verbs[i] == 'T' {
			continue
		}
		if prints(p.typeOf(arg), isAddress) {
			n.report("pointer", arg, "fmt."+name+" prints the address in "+types.ExprString(arg))
		}
		if prints(p.typeOf(arg), isTime) && !p.isUTC(arg) {
			n.report("outside", arg, "fmt."+name+" prints the time zone of "+types.ExprString(arg))
		}
	}
}

// printedBy finds addresses in calls of any other function with a format before a variadic list of values.
func (p *program) printedBy(n *node, call *ast.CallExpr) {
	s, ok := p.typeOf(call.Fun).(*types.Signature)
	if !ok || !s.Variadic() || s.Params().Len() < 2 || len(call.Args) < s.Params().Len() {
		return
	}
	last := s.Params().Len() - 1
	list, ok := s.Params().At(last).Type().(*types.Slice)
	if ok && types.IsInterface(list.Elem()) && strings.Contains(p.verbs(call.Args[last-1]), "p") {
		n.report("pointer", call, "%p prints an address")
	}
}

func (p *source) verbs(format ast.Expr) string {
	v := p.constant(format)
	if v == nil || v.Kind() != constant.String {
		return ""
	}
	return verbsOf(constant.StringVal(v))
}

// verbsOf returns the verbs of a format, one for each argument.
func verbsOf(format string) string {
	var verbs strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[i]) >= 0; i++ {
			if format[i] == '*' {
				verbs.WriteByte('*')
			}
		}
		if i < len(format) && format[i] != '%' {
			verbs.WriteByte(format[i])
		}
	}
	return verbs.String()
}

// prints reports whether fmt prints a value of a wanted type in a value of a type. fmt follows only the outermost pointer.
func prints(t types.Type, wanted func(t types.Type, depth int) bool) bool {
	var look func(t types.Type, depth int) bool
	look = func(t types.Type, depth int) bool {
		switch {
		case depth > 4:
			return false
		case wanted(t, depth):
			return true
		case hasText(t):
			return false
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			return depth == 0 && look(u.Elem(), depth+1)
		case *types.Array:
			return look(u.Elem(), depth+1)
		case *types.Slice:
			return look(u.Elem(), depth+1)
		case *types.Map:
			return look(u.Key(), depth+1) || look(u.Elem(), depth+1)
		case *types.Struct:
			for f := range u.Fields() {
				if look(f.Type(), depth+1) {
					return true
				}
			}
		}
		return false
	}
	return look(t, 0)
}

// isTime reports whether a type is time.Time, which is printed with its zone.
func isTime(t types.Type, _ int) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time"
}

// isAddress reports whether fmt prints a value of a type as an address. Of the outermost pointer to a composite it prints the value.
func isAddress(t types.Type, depth int) bool {
	if hasText(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			return depth > 0
		}
		return true
	case *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	}
	return false
}

// hasText reports whether a type prints itself.
func hasText(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if o, _, _ := types.LookupFieldOrMethod(t, false, nil, name); o != nil {
			if _, ok := o.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}

// binary examines an operation on addresses or fixed-point numbers.
func (p *program) binary(n *node, e *ast.BinaryExpr) {
	switch e.Op {
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if b, ok := p.typeOf(e.X).Underlying().(*types.Basic); ok && b.Kind() == types.Uintptr && isPlain(e.X) && isPlain(e.Y) && p.constant(e.Y) == nil {
			n.report("pointer", e, types.ExprString(e)+" compares addresses")
		}
	}
	scales{p.source}.fixedOperation(n, e, e.Op, e.X, e.Y)
}

// assign examines "x *= y" of fixed-point numbers.
func (p *program) assign(n *node, s *ast.AssignStmt) {
	ops := map[token.Token]token.Token{
		token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
		token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB,
	}
	if op, ok := ops[s.Tok]; ok {
		scales{p.source}.fixedOperation(n, s, op, s.Lhs[0], s.Rhs[0])
	}
}

// complement finds a constant such as ^uint(0), whose value depends on the size of a word. A mask of other bits does not.
func (p *program) complement(n *node, e *ast.UnaryExpr) {
	b, ok := p.typeOf(e).Underlying().(*types.Basic)
	if !ok || e.Op != token.XOR || p.constant(e) == nil || b.Kind() != types.Uint && b.Kind() != types.Uintptr {
		return
	}
	var at ast.Node = e
	for {
		paren, ok := p.parents[at].(*ast.ParenExpr)
		if !ok {
			break
		}
		at = paren
	}
	switch up := p.parents[at].(type) {
	case *ast.BinaryExpr:
		if up.Op == token.AND {
			return
		}
	case *ast.AssignStmt:
		if up.Tok == token.AND_ASSIGN {
			return
		}
	}
	n.report("runtime", e, types.ExprString(e)+" depends on the size of a word")
}

// capacity finds a question for the room of a list, which the runtime decides, unless the answer only decides what is allocated.
func (p *program) capacity(n *node, call *ast.CallExpr) {
	if isCore[*types.Slice](p.typeOf(call.Args[0])) && !p.allocates(call) {
		n.report("memory", call, types.ExprString(call)+" depends on how the runtime grows slices")
	}
}

// allocates reports whether an expression only decides how much a list has room for.
func (p *source) allocates(e ast.Expr) bool {
	for at := ast.Node(e); ; {
		up := p.parents[at]
		switch up := up.(type) {
		case *ast.CallExpr:
			if p.isAllocation(up) && !within(e, up.Fun) {
				return up.Args[len(up.Args)-1] == at
			}
		case *ast.SliceExpr:
			return up.Max == at
		case *ast.IfStmt:
			return up.Cond == at && up.Else == nil && len(up.Body.List) == 1 && p.onlyAllocates(up.Body.List[0])
		case ast.Expr:
		default:
			return false
		}
		at = up
	}
}

// onlyAllocates reports whether a statement only gives room to a list.
func (p *source) onlyAllocates(s ast.Stmt) bool {
	var list []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		list = s.Rhs
	case *ast.ReturnStmt:
		list = s.Results
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if ok && p.builtin(call) == "append" {
			made, isCall := ast.Unparen(call.Args[0]).(*ast.CallExpr)
			return !isCall || p.builtin(made) != "make"
		}
		return !ok || !p.isAllocation(call)
	})
}

// isAllocation reports whether a call gives room to a list by its last argument, a number.
func (p *source) isAllocation(call *ast.CallExpr) bool {
	return p.builtin(call) == "make" || p.standardFunc(call, "slices") == "Grow"
}
