package program

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/state"
)

type soldier struct {
	ID    uint32
	Pos   fixed.Vec2
	Name  string
	Alive bool
	Path  []int16
}

type field struct {
	Tick  uint32
	seen  []int `state:"derived"`
	Units []soldier
	Grid  [2][2]uint8
}

// Each kind of field is found in memory.
func TestWatched(t *testing.T) {
	w := &field{seen: []int{1}, Units: []soldier{{ID: 7}, {ID: 9, Pos: fixed.Vec2{X: fixed.One * 3 / 2}, Name: "ann", Alive: true, Path: []int16{4, -5}}}}
	codec, err := state.Compile[field]()
	if err != nil {
		t.Fatal(err)
	}
	b := codec.Append(nil, w)
	u := &w.Units[1]
	address := func(p any) uintptr { return reflect.ValueOf(p).Pointer() }
	for path, want := range map[string]struct {
		field   Field
		address uintptr
	}{
		"Tick":             {Field{"Tick", "0", "uint32", 0}, address(&w.Tick)},
		"Units[1].ID":      {Field{"Units[1].ID", "9", "uint32", 0}, address(&u.ID)},
		"Units[ID=9].ID":   {Field{"Units[ID=9].ID", "9", "uint32", 0}, address(&u.ID)},
		"Units[1].Pos.X":   {Field{"Units[1].Pos.X", "1.5", "int64", 32}, address(&u.Pos.X)},
		"Units[1].Name":    {Field{"Units[1].Name", `"ann"`, "string", 0}, address(&u.Name)},
		"Units[1].Alive":   {Field{"Units[1].Alive", "true", "bool", 0}, address(&u.Alive)},
		"Units[1].Path[1]": {Field{"Units[1].Path[1]", "-5", "int16", 0}, address(&u.Path[1])},
		"Units[1].Path":    {Field{"Units[1].Path", "2 elements", "int", 0}, address(&u.Path) + reflect.TypeFor[uintptr]().Size()},
		"Units":            {Field{"Units", "2 elements", "int", 0}, address(&w.Units) + reflect.TypeFor[uintptr]().Size()},
		"Grid[1][0]":       {Field{"Grid[1][0]", "0", "uint8", 0}, address(&w.Grid[1][0])},
	} {
		got, at, err := watched(codec.Schema(), b, w, path)
		if err != nil || got != want.field || at != want.address {
			t.Errorf("%s: got %+v at %#x, %v, want %+v at %#x", path, got, at, err, want.field, want.address)
		}
	}
	for path, want := range map[string]string{
		"Units[1].Pos": "Units[1].Pos is struct: want the path of one field, such as Units[1].Pos.X",
		"Grid":         "such as Grid[0][0]",
		"Units[0]":     "such as Units[0].ID",
	} {
		if _, _, err := watched(codec.Schema(), b, w, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	for _, path := range []string{"Units[2].ID", "seen", "Units[ID=8].ID"} {
		if _, _, err := watched(codec.Schema(), b, w, path); !errors.Is(err, state.ErrPath) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func (w *world) method(*config) {}

func generic[T any](*T) {}

// A debugger takes functions by name, except for those with type parameters.
func TestFunction(t *testing.T) {
	const own = "github.com/seed-49bee653/samestep/desync/probe/program."
	var w world
	for _, c := range []struct {
		f    any
		want string
	}{{step, own + "step"}, {(*world).method, own + "(*world).method"}, {w.method, own + "(*world).method"}} {
		if got := functionOf(c.f).Place(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if got := functionOf(generic[world]).Place(); !strings.Contains(got, "stand_test.go:") {
		t.Errorf("got %s, want a line", got)
	}
}

func step(w *world) { w.Tick++ }

// A job to stand tells where, and changes nothing.
func TestStand(t *testing.T) {
	j := Job{Kind: Stand, Log: played(t), Folder: t.TempDir(), Tick: 6, Path: "Count"}
	r := j.do([]Maker{Of(rules(false))})
	if r.Error != "" || r.Last != 5 || r.Field == nil || r.Field.Path != "Count" || !strings.Contains(r.Step.Name, "rules") {
		t.Fatalf("got %+v", r)
	}
	j.Kind = Debug
	if again := j.do([]Maker{Of(rules(false))}); again.Error != "" || *again.Field != *r.Field {
		t.Errorf("got %+v", again)
	}
	j.Path = "Number"
	if r := j.do([]Maker{Of(rules(false))}); !strings.Contains(r.Error, "no such field") {
		t.Errorf("got %q", r.Error)
	}
	j.Path, j.Tick = "", 100
	if r := j.do([]Maker{Of(rules(false))}); !strings.Contains(r.Error, "the log ends") {
		t.Errorf("got %q", r.Error)
	}
}
