package weave

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const callsFile = `package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Tick uint32
	List []int
	Lock sync.Mutex
}

type Config struct{}

type Part struct {
	ID   int
	Cash [2]int
}

func swap(a, b *int) { *a, *b = *b, *a }

func rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{Name: "hold", Build: "1", New: func(*World, *lockstep.Settings, *Config) error { return nil }, Step: step}
}

func own(list []int) int { return list[0] }

func step(w *World, _ *Config, t *lockstep.Turn) {
	slices.Reverse(w.List[1:])
	n := slices.Index(w.List, 3)
	n += own(w.List)
	copy(w.List, w.List[n:])
	w.List = append(w.List[:1], n)
	tail := append(w.List[:1], n)
	var b strings.Builder
	b.WriteString("a")
	t.Phase(b.String())
	w.Lock.Lock()
	defer clear(tail)
	fmt.Sscan(b.String(), &n)
	fmt.Println(n, own(tail))
	part, c := &Part{ID: n}, make(chan int, 9)
	swap(&w.List[n], &tail[0])
	swap(&part.Cash[n], &n)
	c <- n
	c <- 1
	select {
	case c <- own(tail) + n:
	case <-c:
	}
	select {
	case c <- n + 1:
	case c <- own(tail):
	}
	rest := tail[:1]
	n += own(rest[:n])
	switch {
	case n > 3:
		n++
		fallthrough
	case n > 2:
		n++
	}
}

func main() { lockstep.MustGame(rules()) }
`

// Code without probes has its arguments told, and what it leaves in them; functions with probes, and the engine's match, do not.
// A channel has told what it is sent, unless a call comes after it in the same statement. A function with probes has told of which
// elements its arguments are parts.
func TestOutsideCalls(t *testing.T) {
	s, err := Read(Options{Dir: fixture(t, map[string]string{"main.go": callsFile}), Game: "hold"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Replace map[string]string }
	b, err := os.ReadFile(p.Overlay)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(all.Replace)) {
		if filepath.Base(path) == "main.go" {
			b, err := os.ReadFile(all.Replace[path])
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(b), "\n")...)
		}
	}
	for source, want := range map[string]string{
		"slices.Reverse(":         "slices.Reverse(K(w.List[1:], w.List)); P(1)",
		"slices.Index(":           "C(1, slices.Index(A(w.List), 3))",
		"n += ":                   "own(w.List)",
		"copy(":                   "C(1, copy(A(w.List), w.List[n:]))",
		"w.List = ":               "append(w.List[:1], n)",
		"tail := ":                "C(1, append(K(w.List[:1], w.List), n))",
		"b.WriteString(":          `A(&b).WriteString("a"); P(1)`,
		"t.Phase(":                "t.Phase(V(C(1, A(&b).String())))",
		"w.Lock.Lock(":            "w.Lock.Lock()",
		"defer clear(":            "defer clear(V(tail))",
		"fmt.Sscan(":              "fmt.Sscan(V(C(1, A(&b).String())), A(&n)); P(1)",
		"fmt.Println(":            "fmt.Println(n, V(own(tail)))",
		"(&w.List[n]":             "swap(Of(&w.List[n], n), Of(&tail[0], 0))",
		"(&part.Cash":             "swap(Of(&part.Cash[n], part), &n)",
		"c <- n\n":                "c <- V(n)",
		"c <- 1":                  "c <- 1",
		"case c <- own(tail) + n": "case c <- V(own(tail) + n):",
		"case c <- n + 1":         "case c <- n + 1:",
		"own(rest[:n]":            "own(V(rest[:n]))",
		"case c <- own(tail):":    "case c <- V(own(tail)):",
	} {
		if i := slices.IndexFunc(strings.SplitAfter(callsFile, "\n"), func(l string) bool { return strings.Contains(l, source) }); i < 0 || !strings.Contains(plain(lines[i]), want) {
			t.Errorf("%s: got %s, want %s", source, plain(lines[max(i, 0)]), want)
		}
	}
	if all := strings.Join(lines, "\n"); strings.Count(all, probeName+".L(") != 1 {
		t.Error("a part of a list does not tell its room")
	}
	if !slices.ContainsFunc(s.Sites, func(s Site) bool { return s.Kind == Branch && s.Text == "fallthrough" }) {
		t.Error("fallthrough has no probe")
	}
}

// plain returns a line without the numbers of its probes, and without those of other kinds.
func plain(line string) string {
	for {
		at := strings.Index(line, "if "+probeName+".On { ")
		if at < 0 {
			break
		}
		end := at + strings.Index(line[at:], "}")
		inner := strings.TrimSpace(line[at+len("if "+probeName+".On { ") : end])
		if !strings.HasPrefix(inner, probeName+".P(") {
			inner = ""
		}
		line = line[:at] + inner + line[end+1:]
	}
	var out strings.Builder
	for rest := line; ; {
		before, after, ok := strings.Cut(rest, probeName+".")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, _ := strings.Cut(after, "(")
		_, after, _ = strings.Cut(after, ", ") // the number
		out.WriteString(name + "(")
		rest = after
	}
}

// sites makes the sites of one function: a kind and a text each.
func sites(fn string, list ...Site) (all []Site) {
	all = append(all, Site{Func: fn, Kind: Enter, Text: fn})
	for _, s := range list {
		s.Func = fn
		all = append(all, s)
	}
	return all
}

func TestAlign(t *testing.T) {
	test := func(text string) Site { return Site{Kind: Test, Text: text} }
	set := func(name, text string) Site { return Site{Kind: Write, Name: name, Text: text} }
	call := func(text string) Site { return Site{Kind: Call, Text: text} }
	for _, c := range []struct {
		name string
		a, b []Site
		want []int
	}{
		{"equal", sites("f", test("a"), set("x", "x = 1")), sites("f", test("a"), set("x", "x = 1")), []int{0, 1, 2}},
		{"an edited test", sites("f", test("a > 0"), set("x", "x = 1")), sites("f", test("a > 1"), set("x", "x = 1")), []int{0, 1, 2}},
		{"an edited assignment among others", sites("f", set("x", "x = 1"), set("y", "y = 1")), sites("f", set("y", "y = 2"), set("x", "x = 2")), []int{0, 2, 1}},
		{"an inserted statement", sites("f", test("a"), test("b")), sites("f", test("a"), call("g()"), test("b")), []int{0, 1, None, 2}},
		{"a forgotten statement", sites("f", test("a"), call("g()"), test("b")), sites("f", test("a"), test("b")), []int{0, 1, 3}},
		{"swapped statements", sites("f", call("g()"), call("h()")), sites("f", call("h()"), call("g()")), []int{0, 2, None}},
		{"a renamed function", sites("f", test("a"), set("x", "x = 1")), sites("g", test("a"), set("x", "x = 1")), []int{0, 1, 2}},
		{"another function", sites("f", test("a")), sites("g", test("b")), []int{None, None}},
	} {
		if got := Align(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

const tableFile = `package table

import _ "embed"

// costs are read once.
//
//go:embed costs.txt
var costs string

var first = scaled(3)

func scaled(n int) int { return n * 2 }

func init() { first++ }

// Cost is called in a tick.
func Cost(n int) int {
	return n + first + len(costs)
}
`

// What differs between two versions: lines with code, with their functions and whether they run before the match; and embedded files.
func TestChanged(t *testing.T) {
	files := map[string]string{
		"main.go":        strings.Replace(programFiles["main.go"], "w.Tick = uint32(t.Tick)", "w.Tick = uint32(table.Cost(int(t.Tick)))", 1),
		"table/table.go": tableFile, "table/costs.txt": "1\n2\n",
	}
	files["main.go"] = strings.Replace(files["main.go"], "import \"", "import (\n\t\"example.com/hold/table\"\n\t\"", 1)
	files["main.go"] = strings.Replace(files["main.go"], "lockstep\"\n", "lockstep\"\n)\n", 1)
	dir := fixture(t, files)
	a, err := Read(Options{Dir: dir, Game: "hold"})
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer("// costs are read once.\n", "", "return n * 2 }", "return n * 3 } // A comment.", "return n + first + len(costs)", "n--\n\treturn n+first  + len(costs)").Replace(tableFile)
	path := filepath.Join(dir, "table")
	b, err := Read(Options{Dir: dir, Game: "hold", Packages: a.Packages(), Overlay: map[string][]byte{
		filepath.Join(path, "table.go"): []byte(edited), filepath.Join(path, "costs.txt"): []byte("1\n3\n"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const pkg, file = "example.com/hold/table", "table/table.go"
	want := []Change{
		{file, pkg, [2]int{12, 11}, [2]string{"func scaled(n int) int { return n * 2 }", "func scaled(n int) int { return n * 3 }"}, [2]string{pkg + ".scaled", pkg + ".scaled"}, true},
		{file, pkg, [2]int{18, 17}, [2]string{"return n + first + len(costs)", "n--"}, [2]string{pkg + ".Cost", pkg + ".Cost"}, false},
		{file, pkg, [2]int{0, 18}, [2]string{"", "return n+first + len(costs)"}, [2]string{"", pkg + ".Cost"}, false},
	}
	if got := Changed(a, b); !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := Changed(a, a); got != nil {
		t.Errorf("one version: got %+v", got)
	}
	e, err := b.Embedded()
	if err != nil || len(e) != 1 || e[0].File != "table/costs.txt" || e[0].Package != pkg || string(e[0].Content) != "1\n3\n" {
		t.Errorf("got %+v, %v", e, err)
	}
	compiles(t, files, 2)
}
