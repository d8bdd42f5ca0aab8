package determinism

import (
	"go/ast"
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
