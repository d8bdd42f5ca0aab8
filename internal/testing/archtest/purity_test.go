package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// pure are the packages in which everything must come out the same on every
// machine: the core and the simulations (not the tests, and not what lies in
// folders below).
var pure = slices.Concat(machines, []string{
	"fixed", "fixed/bodies", "fixed/grid", "fixed/ids", "state", "checksum", "lockstep", "lockstep/record", "lockstep/disclosure", "lockstep/feed", "lockstep/coordinator", "lockstep/protocol", "lockstep/host", "lockstep/player", "lockstep/local", "cluster/ownership", "cluster/audience", "internal/decimal", "internal/pack", "internal/ring",
	"examples/skirmish", "examples/minimal", "internal/nullgame",
})

// machines are the parts of a match that one package composes.
var machines = []string{
	"lockstep/host/internal/bans",
	"lockstep/host/internal/budget",
	"lockstep/host/internal/ending",
	"lockstep/host/internal/evidence",
	"lockstep/host/internal/syncing",
	"lockstep/host/internal/idle",
	"lockstep/host/internal/link",
	"lockstep/host/internal/lobby",
	"lockstep/host/internal/pace",
	"lockstep/host/internal/talk",
	"lockstep/host/internal/views",
	"lockstep/host/internal/vote",
	"lockstep/player/internal/answers",
	"lockstep/player/internal/commands",
	"lockstep/player/internal/dialing",
	"lockstep/player/internal/follow",
	"lockstep/player/internal/outbox",
	"lockstep/player/internal/playout",
	"lockstep/player/internal/predict",
	"lockstep/player/internal/quiet",
	"lockstep/player/internal/stream",
	"lockstep/player/internal/views",
}

// pureImports is what pure packages may import of the standard library. What is
// not here could bring in a clock, an address, global randomness, another
// goroutine or the order of a map; allowances has the exceptions.
var pureImports = []string{
	"bytes", "cmp", "crypto/sha256", "crypto/subtle", "encoding/binary", "encoding/hex", "encoding/json", "errors", "fmt", "hash", "io", "iter",
	"math", "math/bits", "slices", "sort", "strconv", "strings", "unicode", "unicode/utf8",
}

// An allowance lets one rule be broken in one place, for a reason.
type allowance struct {
	file   string // from the root; "a/*" for every file of a folder
	within string // the function, or nothing for the whole file
	rule   string
	reason string
}

var allowances = []allowance{
	{"fixed/seed.go", "", "float", "first guesses; the integer test of each caller makes the result independent of how they were rounded"},
	{"fixed/seed.go", "", "math", "as above"},
	{"fixed/mul_wasm.go", "Mul", "float", "tells whether a product wrapped, by a margin of 2^20 that no rounding crosses; quicker there than integers"},
	{"fixed/float.go", "", "float", "for renderers; no float comes back into a simulation, and the analyzer refuses the results there"},
	{"state/float.go", "", "float", "texts and distances of floats in states of other engines; no float comes back into a simulation"},
	{"state/float.go", "", "math", "as above; only their bits"},
	{"state/unsafe.go", "", "import unsafe", "block moves; its portable twin gives the same bytes, which a test shows"},
	{"state/*", "", "import reflect", "compiles Go types, and moves values by reflection where memory cannot be moved"},
	{"lockstep/record/command.go", "", "import reflect", "finds a registered command by its Go type"},
	{"lockstep/game.go", "", "import reflect", "compares the Go type of a configuration"},
	{"lockstep/feed/sender.go", "choose", "unstable sort", "changes with the same score are compared by their place"},
	{"lockstep/rules.go", "", "import reflect", "names the Go type of views, whose tags say how they are sent"},
	{"lockstep/elsewhere.go", "", "import reflect", "names the one Go type of values whose own type is elsewhere"},
	{"lockstep/game.go", "", "import runtime", "the recorder's platform in the header, which no simulation reads"},
	{"lockstep/game.go", "", "import runtime/debug", "the recorder's sources in the header, which no simulation reads"},
	{"lockstep/simulation.go", "", "import runtime/debug", "the stack of a game's panic, for people"},
	{"lockstep/each.go", "", "import runtime/debug", "the stack of a panic in Turn.Each, for people"},
	{"lockstep/host/seats.go", "", "import runtime/debug", "the stack of a bot's panic, for people"},
	{"lockstep/record/command.go", "CompileKinds", "unstable sort", "kinds are unique, which it checks afterwards"},
	{"internal/nullgame/nullgame.go", "", "import sync", "compiles the game once"},
	{"lockstep/coordinator/coordinator.go", "seal", "unstable sort", "Compare is zero only for the same command"},
}

// forgive takes away the findings that an allowance covers, and adds one for
// each allowance that covers nothing.
func forgive(found []impurity, allowed []allowance) []finding {
	used := make([]bool, len(allowed))
	var rest []finding
	for _, f := range found {
		at := slices.IndexFunc(allowed, func(a allowance) bool { return a.covers(f) })
		if at < 0 {
			rest = append(rest, f.finding)
			continue
		}
		used[at] = true
	}
	for i, a := range allowed {
		if !used[i] {
			rest = append(rest, finding{a.file, 0, a.rule, "an allowance that nothing needs any more (" + a.reason + ")"})
		}
	}
	return rest
}

func (a allowance) covers(f impurity) bool {
	folder, all := strings.CutSuffix(a.file, "/*")
	return (a.file == f.file || all && path.Dir(f.file) == folder) && a.rule == f.rule && (a.within == "" || a.within == f.within)
}

func TestPurity(t *testing.T) {
	p := loadOurs(t)
	report(t, forgive(p.impurities(), allowances))
}

// Each row breaks one rule, and only that one.
func TestPurityControl(t *testing.T) {
	needsGo(t)
	const head = "package p\n"
	for _, row := range []struct {
		name, source string
		want         []string
	}{
		{"nothing", head + "func f(a []int32) (s int32) { for _, v := range a { s += v }; return s }", nil},
		{"float type", head + "type t struct {\n\tx float32\n}", []string{"p.go:3: float"}},
		{"float conversion", head + "func f(a int64) int64 {\n\treturn int64(float64(a))\n}", []string{"p.go:3: float"}},
		{"float literal", head + "const c int = 1e3", []string{"p.go:2: float"}},
		{"float without a name", head + "import \"strconv\"\nfunc f(s string) bool {\n\t_, err := strconv.ParseFloat(s, 64)\n\treturn err == nil\n}", []string{"p.go:4: float"}},
		{"complex", head + "var c complex128", []string{"p.go:2: float"}},
		{"constraint", head + "func f[T ~float64 | ~int]() {}", []string{"p.go:2: float"}},
		{"math function", head + "import \"math\"\nfunc f() bool {\n\treturn math.Signbit(0)\n}", []string{"p.go:4: float", "p.go:4: math"}},
		{"math constant", head + "import \"math\"\nvar c uint32 = math.MaxUint32", nil},
		{"range over a map", head + "func f(m map[int]int) {\n\tfor range m {\n\t}\n}", []string{"p.go:3: map range"}},
		{"range over a named map", head + "type t map[int]int\nfunc f(m t) {\n\tfor k := range m {\n\t\t_ = k\n\t}\n}", []string{"p.go:4: map range"}},
		{"range over a type parameter", head + "func f[M ~map[int]int](m M) {\n\tfor k := range m {\n\t\t_ = k\n\t}\n}", []string{"p.go:3: map range"}},
		{"maps.Keys", head + "import \"maps\"\nfunc f(m map[int]int) {\n\tfor k := range maps.Keys(m) {\n\t\t_ = k\n\t}\n}", []string{"p.go:2: import maps"}},
		{"map by reflection", head + "import \"reflect\"\nfunc f(v reflect.Value) int {\n\treturn len(v.MapKeys())\n}", []string{"p.go:2: import reflect", "p.go:4: map range"}},
		{"go", head + "func f() {\n\tgo f()\n}", []string{"p.go:3: goroutine"}},
		{"select", head + "func f() {\n\tselect {}\n}", []string{"p.go:3: channel"}},
		{"channel type", head + "var c chan int", []string{"p.go:2: channel"}},
		{"send", head + "func f[C ~chan int](c C) {\n\n\tc <- 1\n}", []string{"p.go:2: channel", "p.go:4: channel"}},
		{"range over a channel", head + "type t struct {\n\tc chan int\n}\nfunc f(v t) {\n\tfor range v.c {\n\t}\n}", []string{"p.go:3: channel", "p.go:6: channel"}},
		{"clock", head + "import \"time\"\nvar t = time.Second", []string{"p.go:2: import time"}},
		{"file", head + "import \"os\"\nvar a = os.Args", []string{"p.go:2: import os"}},
		{"randomness", head + "import \"math/rand/v2\"\nvar r = rand.Int()", []string{"p.go:2: import math/rand/v2"}},
		{"unsafe", head + "import \"unsafe\"\nvar p unsafe.Pointer", []string{"p.go:2: import unsafe"}},
		{"printed address", head + "import \"fmt\"\nfunc f(p *int) string {\n\treturn fmt.Sprintf(\"at %p\", p)\n}", []string{"p.go:4: address"}},
		{"unstable sort", head + "import \"slices\"\nfunc f(a []int) {\n\tslices.SortFunc(a, func(x, y int) int { return x%10 - y%10 })\n}", []string{"p.go:4: unstable sort"}},
		{"sort.Slice", head + "import \"sort\"\nfunc f(a []int) {\n\tsort.Slice(a, func(i, j int) bool { return a[i]%10 < a[j]%10 })\n}", []string{"p.go:4: unstable sort"}},
		{"total sort", head + "import \"slices\"\nfunc f(a []int) {\n\tslices.Sort(a)\n}", nil},
		{"stable sort", head + "import \"slices\"\nfunc f(a []int) {\n\tslices.SortStableFunc(a, func(x, y int) int { return x%10 - y%10 })\n}", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := loadSnippet(t, "p.go", row.source)
			expect(t, forgive(p.impurities(), nil), row.want...)
		})
	}
}

// An allowance is for one place, and has to be needed.
func TestAllowances(t *testing.T) {
	p := loadSnippet(t, "a.go", "package p\nimport \"time\"\ntype d = time.Duration\nvar x float64\nfunc f() {\n\t_ = 0.5\n}\nfunc g() {\n\t_ = 0.5\n}")
	expect(t, forgive(p.impurities(), []allowance{
		{"a.go", "", "import time", "a test"},
		{"a.go", "f", "float", "a test"},
		{"b.go", "", "float", "a test"},
	}),
		"a.go:4: float", "a.go:9: float", "b.go:0: float: an allowance that nothing needs",
	)
}
