package weave

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
