package weave

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// fixture writes the module of a game outside of the engine's tree.
func fixture(tb testing.TB, files map[string]string) string {
	tb.Helper()
	_, err := exec.LookPath("go")
	testenv.Or(tb, "the go command", err)
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		tb.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		tb.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		tb.Fatal(err)
	}
	text := strings.Replace(string(mod), "module "+engine, "module example.com/hold", 1)
	text += "\nrequire " + engine + " v0.0.0\n\nreplace " + engine + " => " + root + "\n"
	dir := tb.TempDir()
	files["go.mod"], files["go.sum"] = text, string(sum)
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// rulesFile has what is hard to weave: generics, closures, methods of interfaces, labels, calls on the left side of
// assignments, shifts and comparisons whose type comes from their place, several packages, and files with build tags.
const rulesFile = `package rules

import (
	"slices"

	"example.com/hold/parts"
	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Tick  uint32
	Units []parts.Unit
	Total int64
}

type Config struct{ Speed int32 }

type flag bool

type names map[string]int

type mover interface{ Move(by int32) flag }

var table = map[string]func(*World) int64{
	"sum": func(w *World) int64 {
		var all int64
		for _, u := range w.Units {
			all += int64(u.X)
		}
		return all
	},
}

func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name: "hold", Build: "1",
		New: func(w *World, s *lockstep.Settings, c *Config) error {
			for i := range s.Players {
				w.Units = append(w.Units, parts.Unit{ID: uint32(i) + 1})
			}
			return nil
		},
		Step: step,
	}
}

func step(w *World, c *Config, t *lockstep.Turn) {
	w.Tick, w.Total = uint32(t.Tick), 0
outer:
	for i := range w.Units {
		u := &w.Units[i]
		for n := 0; n < 3; n++ {
			switch {
			case u.X > 1<<20 && n == 1:
				continue outer
			case n == 2:
				break outer
			}
			w.at(i).X += c.Speed + int32(1<<n)
			if m := mover(u); bool(m.Move(1)) {
				w.at(i).Hops++
			}
		}
	}
	var mask uint64 = 1 << (w.Tick % 64)
	var odd flag = w.Tick%2 == 1
	if odd {
		w.Total = largest(slices.Clone([]int64{int64(mask >> 60), table["sum"](w)}))
	}
	defer func() { w.Total++ }()
	func(n int64) { w.Total += n }(shift(w.Tick))
	switch v := any(w.Total).(type) {
	case int64:
		w.Total = v
	}
	tagged(w)
	for name := range table {
		if w.Total += int64(len(name)); w.Total > 1<<40 {
			return
		}
	}
	type pair struct{ a, b uint8 }
	for p, n := range (map[pair]names{{1, 2}: {"x": 3}}) {
		for range n {
			w.Total += int64(p.a)
		}
	}
	goto end
end:
}

func (w *World) at(i int) *parts.Unit { return &w.Units[i] }

func shift(n uint32) int64 { return 1 << (n % 8) }

func largest[T int32 | int64](list []T) (best T) {
	for _, v := range list {
		if v > best { best = v }
	}
	return
}
`

const partsFile = `package parts

type Unit struct {
	ID   uint32
	X    int32
	Hops uint32
}

func (u *Unit) Move(by int32) (moved bool2) {
	old := u.X
	u.X += by
	return u.X != old
}

type bool2 = flag

type flag bool
`

// A game in a module of its own, with all that is hard to weave, compiles and computes the same with probes.
func TestHardToWeave(t *testing.T) {
	rules := strings.Replace(rulesFile, "type mover interface{ Move(by int32) flag }", "type mover interface{ Move(by int32) parts.Flag }", 1)
	rules = strings.Replace(rules, "\ttagged(w)\n", "\ttagged(w)\n\tw.Total += outside(w.Total)\n", 1)
	calls, err := os.ReadFile(filepath.Join("..", "..", "testdata", "torture", "rules", "outside.go"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.NewReplacer("type bool2 = flag\n\ntype flag bool", "type Flag bool", "bool2", "Flag").Replace(partsFile)
	compiles(t, map[string]string{
		"rules/rules.go": rules, "parts/parts.go": parts, "rules/outside.go": string(calls),
		"rules/tagged.go":   "//go:build !hard\n\npackage rules\n\nfunc tagged(w *World) { w.Total += 2 }\n",
		"rules/untagged.go": "//go:build hard\n\npackage rules\n\nfunc tagged(w *World) { w.Total += 3 }\n",
	}, 4)
}

// programFiles is a game that is one package, a program.
var programFiles = map[string]string{"main.go": `package main

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Tick uint32 }

type Config struct{}

func rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{Name: "hold", Build: "1",
		New:  func(*World, *lockstep.Settings, *Config) error { return nil },
		Step: func(w *World, _ *Config, t *lockstep.Turn) { w.Tick = uint32(t.Tick) },
	}
}

func main() { lockstep.MustGame(rules()) }
`}

// The rules of a game that is one package, a program, get a main of their own.
func TestRulesInProgram(t *testing.T) { compiles(t, programFiles, 1) }

// A file that is replaced is also replaced in a package without probes.
func TestOverlayWithoutProbes(t *testing.T) {
	dir := fixture(t, programFiles)
	path := filepath.Join(dir, "other", "other.go")
	s, err := Read(Options{Dir: dir, Game: "hold", Overlay: map[string][]byte{path: []byte("package other\n")}, Packages: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(p.Overlay)
	if err != nil || !strings.Contains(string(b), "other.go") {
		t.Errorf("got the overlay %s, %v, want one with other.go", b, err)
	}
}

// compiles weaves the rules of a module, and builds the program.
func compiles(t *testing.T, files map[string]string, want int) {
	t.Helper()
	dir := fixture(t, files)
	s, err := Read(Options{Dir: dir, Game: "hold"})
	if err != nil {
		t.Fatal(err)
	}
	woven := t.TempDir()
	p, err := s.Write(woven)
	if err != nil {
		t.Fatal(err)
	}
	ordered := 0
	for _, path := range globbed(t, filepath.Join(woven, "*.go")) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ordered += strings.Count(string(b), ".Ordered(")
	}
	if want := 3 * strings.Count(files["rules/rules.go"], "range table {"); ordered != want {
		t.Errorf("got %d loops over maps that can be in order, want %d", ordered, want)
	}
	if n := len(s.files); n != want {
		t.Errorf("got %d woven files, want %d", n, want)
	}
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-overlay", p.Overlay, "-o", filepath.Join(woven, "rules.exe"), p.Package)
	c.Dir = p.Dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := globbed(t, filepath.Join(dir, "*", MainDir)); len(left) > 0 {
		t.Errorf("the tree of the game has changed: %v", left)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
