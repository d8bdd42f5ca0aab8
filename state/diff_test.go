package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	c := MustCompile[world]()
	for _, test := range []struct {
		name   string
		change func(w *world)
		want   []string
	}{
		{"nothing", func(w *world) {}, nil},
		{"derived", func(w *world) { w.index = map[uint32]int{1: 2} }, nil},
		{"a leaf", func(w *world) { w.Tick++ }, []string{"Tick: 7 != 8"}},
		{"a fixed-point number", func(w *world) { w.Units[0].Pos.X = -3 << 30 }, []string{"Units[0].Pos.X: 12.5 != -0.75"}},
		{"a bool", func(w *world) { w.Units[1].Alive = true }, []string{"Units[1].Alive: false != true"}},
		{"a string of another length", func(w *world) { w.Units[0].Name = "ab" }, []string{`Units[0].Name: "a\"b" != "ab"`}},
		{"in an array", func(w *world) { w.Flags[1].Off = false }, []string{"Flags[1].Off: true != false"}},
		{"a longer slice", func(w *world) { w.Fog = append(w.Fog, 1, 2) }, []string{"Fog: 3 elements != 5 elements"}},
		{"a shorter slice with a difference", func(w *world) { w.Fog = []uint8{0, 9} }, []string{"Fog: 3 elements != 2 elements", "Fog[1]: 1 != 9"}},
		{"an element removed", func(w *world) { w.Units = w.Units[1:] }, []string{
			"Units: 2 elements != 1 element", "Units[0].ID: 1 != 2", "Units[0].Pos.X: 12.5 != 0.0000000002", "Units[0].Pos.Y: -1 != -0.0000000002",
			"Units[0].Turn: 0.5 != 0", "Units[0].Alive: true != false", `Units[0].Name: "a\"b" != ""`, "Units[0].Path: 1 element != 0 elements",
		}},
		{"many", func(w *world) { w.Tick, w.Winner, w.Message = 1, 1, "x" }, []string{"Tick: 7 != 1", "Winner: -1 != 1", `Message: "gg" != "x"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			test.change(w)
			b := c.Append(nil, w)
			for limit := range len(test.want) + 2 {
				d, err := c.Schema().Diff(goldenBytes(t), b, limit)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, difference := range d.List {
					got = append(got, difference.String())
				}
				if want := test.want[:min(limit, len(test.want))]; d.Total != len(test.want) || !slices.Equal(got, want) {
					t.Errorf("limit %d: %d differences, %q, want %d, %q", limit, d.Total, got, len(test.want), want)
				}
			}
		})
	}
}

func TestDiffRefuses(t *testing.T) {
	s := MustCompile[world]().Schema()
	golden := goldenBytes(t)
	for side, states := range map[string][2][]byte{"first": {golden[1:], golden}, "second": {golden, golden[1:]}} {
		_, err := s.Diff(states[0], states[1], 1)
		if !errors.As(err, new(*DecodeError)) || !strings.Contains(err.Error(), side) {
			t.Errorf("%s state malformed: error %v", side, err)
		}
	}
}

// TestDiffOfRandomStates compares with a naive walk over the Go values.
func TestDiffOfRandomStates(t *testing.T) {
	for seed := range uint64(300) {
		r, s, a := randomState(t, seed, 4)
		b := reflect.New(a.Type()).Elem()
		fill(r, b)
		if seed%2 == 0 {
			mix(r, b, a)
		}
		want := naiveDiff("", a, b, nil)
		d, err := s.Diff(naive(a), naive(b), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, difference := range d.List {
			got = append(got, difference.Path)
		}
		if !slices.Equal(got, want) || d.Total != len(want) {
			t.Errorf("seed %d: %d differences at %q, want %q", seed, d.Total, got, want)
		}
	}
}

// mix sets most parts of dst to those of src.
func mix(r *rand.Rand, dst, src reflect.Value) {
	switch {
	case r.IntN(4) > 0 && (dst.Kind() != reflect.Struct):
		dst.Set(src)
	case dst.Kind() == reflect.Struct:
		for i := range dst.NumField() {
			mix(r, dst.Field(i), src.Field(i))
		}
	}
}

func naiveDiff(path string, a, b reflect.Value, list []string) []string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.Tag.Get("state") != "derived" {
				list = naiveDiff(strings.TrimPrefix(path+"."+f.Name, "."), a.Field(i), b.Field(i), list)
			}
		}
		return list
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			list = append(list, path)
		}
		for i := range min(a.Len(), b.Len()) {
			list = naiveDiff(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), list)
		}
		return list
	}
	if !a.Equal(b) {
		list = append(list, path)
	}
	return list
}

// TestDiffOfManyUnits finds single differences among 10,000 elements, wherever they are.
func TestDiffOfManyUnits(t *testing.T) {
	c := MustCompile[benchWorld[flatUnit]]()
	a := c.Append(nil, newFlatWorld())
	for _, i := range []int{0, 1, 41, 42, 5461, 9998, 9999} {
		w := newFlatWorld()
		w.Units[i].Goal[1]--
		w.Units[i].Zone++
		d, err := c.Schema().Diff(a, c.Append(nil, w), 3)
		want := []Difference{{Path: fmt.Sprintf("Units[%d].Goal[1]", i), A: "0", B: "-1"}, {Path: fmt.Sprintf("Units[%d].Zone", i), A: "0", B: "1"}}
		if err != nil || d.Total != 2 || !slices.Equal(d.List, want) {
			t.Errorf("%v, error %v, want %v", d, err, want)
		}
	}
}

// Sets of bits are words in a list. Their differences are in hexadecimal, and other numbers stay as they are.
func TestDiffOfBits(t *testing.T) {
	type sets struct {
		Seed uint64
		Bits []uint64
		Rows [2][1]uint64
		Few  []uint8
	}
	c := MustCompile[sets]()
	a := c.Append(nil, &sets{Bits: []uint64{1 << 40}, Few: []uint8{1}})
	b := c.Append(nil, &sets{Seed: 12, Bits: []uint64{1<<40 | 1}, Rows: [2][1]uint64{{255}}, Few: []uint8{17}})
	d, err := c.Schema().Diff(a, b, 9)
	want := []Difference{{Path: "Seed", A: "0", B: "12"}, {Path: "Bits[0]", A: "0x10000000000", B: "0x10000000001"}, {Path: "Rows[0][0]", A: "0x0", B: "0xff"}, {Path: "Few[0]", A: "1", B: "17"}}
	if err != nil || !slices.Equal(d.List, want) {
		t.Errorf("got %v, error %v, want %v", d.List, err, want)
	}
}

func TestEqualPrefix(t *testing.T) {
	a := bytes.Repeat([]byte{1}, 1500)
	for n := range len(a) {
		b := bytes.Clone(a)
		b[n] = 2
		if got := equalPrefix(a, b); got != n {
			t.Errorf("%d equal bytes, want %d", got, n)
		}
	}
	if got := equalPrefix(a, a); got != len(a) {
		t.Errorf("%d equal bytes, want %d", got, len(a))
	}
}

// DiffNodes returns the places in the schema of what Diff lists, and all that is in a slice of another length.
func TestDiffNodes(t *testing.T) {
	c := MustCompile[world]()
	s := c.Schema()
	for name, change := range map[string]func(w *world){
		"nothing": func(*world) {}, "a leaf": func(w *world) { w.Tick++ }, "an element that is a number": func(w *world) { w.Fog[1]++ }, "in an array": func(w *world) { w.Flags[1].Off = false },
		"in elements": func(w *world) { w.Units[0].Turn, w.Units[1].Turn = 3, 4 }, "a longer slice": func(w *world) { w.Fog = append(w.Fog, 1) },
		"an element removed": func(w *world) { w.Units = w.Units[1:] }, "a slice in a slice": func(w *world) { w.Units[0].Path = nil },
	} {
		w := newWorld()
		change(w)
		b := c.Append(nil, w)
		d, err := s.Diff(goldenBytes(t), b, 1000)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, one := range d.List {
			path := anyElement.ReplaceAllString(one.Path, "[]")
			want[path] = true
			for i := range s.nodes {
				n := Node{s, int32(i)}
				if k := n.Kind(); strings.HasSuffix(one.A, "element") || strings.HasSuffix(one.A, "elements") {
					if strings.HasPrefix(n.Path(), path+"[]") && k != Struct && k != Array {
						want[n.Path()] = true
					}
				}
			}
		}
		nodes, err := s.DiffNodes(goldenBytes(t), b)
		for _, n := range nodes {
			if !want[n.Path()] {
				t.Errorf("%s: got %s too", name, n.Path())
			}
			delete(want, n.Path())
		}
		if err != nil || len(want) > 0 {
			t.Errorf("%s: want %v too, error %v", name, want, err)
		}
	}
	if _, err := s.DiffNodes(nil, goldenBytes(t)); err == nil {
		t.Error("got no error without a state")
	}
}

var anyElement = regexp.MustCompile(`\[\d+\]`)

func TestDiffPlaces(t *testing.T) {
	type depot struct {
		Gold   int32
		Stocks [2]int32
		Guards []struct{ Class, Level uint8 }
	}
	type camp struct {
		Weather struct{ Wind, Rain int8 }
		Depots  []depot
		Store   depot
		Moss    []uint8
	}
	c := MustCompile[camp]()
	fresh := func() *camp {
		return &camp{
			Depots: []depot{{Gold: 1}, {Gold: 2, Guards: make([]struct{ Class, Level uint8 }, 3)}, {Gold: 3}},
			Store:  depot{Guards: make([]struct{ Class, Level uint8 }, 2)}, Moss: make([]uint8, 4),
		}
	}
	for _, test := range []struct {
		name   string
		change func(w *camp)
		want   []string
	}{
		{"nothing", func(w *camp) {}, nil},
		{"a field", func(w *camp) { w.Weather.Rain = 1 }, []string{"Weather.Rain 0 → 1"}},
		{"a section", func(w *camp) { w.Weather.Wind, w.Weather.Rain = 1, 2 }, []string{"Weather.Wind 0 → 1 (+1 more field of Weather)"}},
		{"an element", func(w *camp) { w.Depots[1].Gold = 9 }, []string{"Depots[1].Gold 2 → 9"}},
		{"an element's fields", func(w *camp) {
			w.Depots[1].Gold, w.Depots[1].Stocks, w.Depots[1].Guards = 9, [2]int32{1, 1}, nil
		}, []string{"Depots[1].Gold 2 → 9 (+3 more fields of this depot)"}},
		{"elements", func(w *camp) { w.Depots[0].Gold, w.Depots[2].Gold = 5, 5 }, []string{"Depots[0].Gold 1 → 5 (+1 more depot)"}},
		{"fields and elements", func(w *camp) {
			for i := range w.Depots {
				w.Depots[i].Gold, w.Depots[i].Stocks[1] = -1, -1
			}
		}, []string{"Depots[0].Gold 1 → -1 (+1 more field of this depot, 2 more depots)"}},
		{"a list in a section, between its fields", func(w *camp) {
			w.Store.Gold, w.Store.Stocks[1] = 1, 2
			w.Store.Guards[1].Class, w.Store.Guards[1].Level = 3, 4
		}, []string{"Store.Gold 0 → 1", "Store.Stocks[1] 0 → 2", "Store.Guards[1].Class 0 → 3 (+1 more field of this guard)"}},
		{"lengths", func(w *camp) { w.Depots, w.Moss = w.Depots[:2], nil }, []string{"Depots 3 elements → 2 elements", "Moss 4 elements → 0 elements"}},
		{"a length and elements", func(w *camp) { w.Moss = []uint8{1, 0, 1} }, []string{"Moss 4 elements → 3 elements", "Moss[0] 0 → 1 (+1 more element)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := fresh()
			test.change(w)
			g, err := c.Schema().DiffPlacesAt("", c.Append(nil, fresh()), c.Append(nil, w))
			if got := g.Lines(99); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, error %v, want %q", got, err, test.want)
			}
		})
	}
}

// The places have every difference that Diff finds, each once.
func TestDiffPlacesOfRandomStates(t *testing.T) {
	places := 0
	for seed := range uint64(300) {
		r, s, a := randomState(t, seed, 4)
		_, _, b := randomState(t, seed, 4)
		fill(r, b)
		x, y := naive(a), naive(b)
		flat, err := s.Diff(x, y, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.DiffPlacesAt("", x, y)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, place := range g.List {
			total += place.Total
			places++
			if !slices.Contains(flat.List, place.First) || !strings.HasPrefix(place.First.Path, place.Path) {
				t.Errorf("seed %d: place of %s begins with %s", seed, place.Path, place.First)
			}
			fields := 0
			for _, d := range flat.List {
				if rest, ok := strings.CutPrefix(d.Path, place.Element); place.Element != "" && ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
					fields++
				}
			}
			if place.Element != "" && fields != place.Fields {
				t.Errorf("seed %d: %s: %d fields, want %d", seed, place.Element, place.Fields, fields)
			}
		}
		if total != flat.Total || g.Total != flat.Total {
			t.Errorf("seed %d: %d differences in places, %d in all, want %d", seed, total, g.Total, flat.Total)
		}
	}
	if places < 100 {
		t.Errorf("only %d places in all", places)
	}
}

func TestDiffPlacesLines(t *testing.T) {
	g := Places{Total: 9, List: []Place{
		{Path: "A", First: Difference{Path: "A", A: "1", B: "2"}, Fields: 1, Total: 1},
		{Path: "Bs", Element: "Bs[1]", First: Difference{Path: "Bs[1].C", A: "1", B: "2"}, Fields: 2, Elements: 1, Total: 2},
		{Path: "D", First: Difference{Path: "D", A: "1", B: "2"}, Fields: 1, Total: 6},
	}}
	for limit, last := range []string{"and 9 more fields in 3 more places", "and 8 more fields in 2 more places", "and 6 more fields in 1 more place", "D 1 → 2"} {
		lines := g.Lines(limit)
		if want := min(limit+1, 3); len(lines) != want || lines[want-1] != last {
			t.Errorf("limit %d: got %q, want %d lines and the last %q", limit, lines, want, last)
		}
	}
}

func TestDiffPlacesNouns(t *testing.T) {
	for path, want := range map[string]string{
		"Units": "unit units", "Store.Guards": "guard guards", "Moss": "element elements", "Fog": "element elements",
		"Bodies": "element elements", "Paths.Fields": "element elements", "S": "element elements", "": "element elements",
	} {
		one, many := (&Place{Path: path}).nouns()
		if got := one + " " + many; got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestDiffPlacesRefuses(t *testing.T) {
	s := MustCompile[world]().Schema()
	golden := goldenBytes(t)
	if _, err := s.DiffPlacesAt("", golden[1:], golden); !errors.As(err, new(*DecodeError)) {
		t.Errorf("malformed state: error %v", err)
	}
}

// A place is one line, whatever the number of differences.
func TestDiffPlacesOfManyUnits(t *testing.T) {
	c := MustCompile[benchWorld[flatUnit]]()
	w := newFlatWorld()
	for i := range w.Units {
		w.Units[i].Goal[1]--
		w.Units[i].Zone++
	}
	g, err := c.Schema().DiffPlacesAt("", c.Append(nil, newFlatWorld()), c.Append(nil, w))
	want := fmt.Sprintf("Units[0].Goal[1] 0 → -1 (+1 more field of this unit, %d more units)", len(w.Units)-1)
	if err != nil || len(g.List) != 1 || g.List[0].String() != want || g.Total != 2*len(w.Units) {
		t.Errorf("got %v, error %v, want %s", g.Lines(9), err, want)
	}
}

// A path limits the differences to what is at or below it. An element that one state lacks is a difference of its list.
func TestDiffPlacesAt(t *testing.T) {
	type unit struct {
		ID  uint32
		Pos struct{ X, Y int32 }
	}
	type field struct {
		Tick     uint32
		Units    []unit
		UnitsOld []unit
	}
	c := MustCompile[field]()
	w := &field{Units: []unit{{ID: 4}, {ID: 7}, {ID: 9}, {ID: 11}}, UnitsOld: make([]unit, 2)}
	a := c.Append(nil, w)
	w.Tick, w.Units[1].Pos.X, w.Units[1].Pos.Y, w.Units[2].Pos.X, w.UnitsOld[1].ID = 5, 1, 2, 3, 1
	w.Units = w.Units[:3]
	b := c.Append(nil, w)
	for _, test := range []struct {
		path  string
		total int
		want  string
	}{
		{"", 6, "Tick 0 → 5"},
		{"Tick", 1, "Tick 0 → 5"},
		{"Units", 4, "Units 4 elements → 3 elements"},
		{"Units[1]", 2, "Units[1].Pos.X 0 → 1 (+1 more field of this unit)"},
		{"Units[ID=7].Pos", 2, "Units[1].Pos.X 0 → 1 (+1 more field of this unit)"},
		{"Units[1].Pos.Y", 1, "Units[1].Pos.Y 0 → 2"},
		{"Units[0]", 0, ""},
		{"UnitsOld[0]", 0, ""},
		{"UnitsOld", 1, "UnitsOld[1].ID 0 → 1"},
		{"Units[ID=11].Pos.X", 1, "Units 4 elements → 3 elements"},
	} {
		for _, way := range []struct{ x, y []byte }{{a, b}, {b, a}} { // the path may be in either
			places, err := c.Schema().DiffPlacesAt(test.path, way.x, way.y)
			fields, ferr := c.Schema().DiffAt(test.path, way.x, way.y, 100)
			if err != nil || ferr != nil || places.Total != test.total || fields.Total != test.total {
				t.Errorf("%q: got %+v and %+v, errors %v and %v, want %d", test.path, places, fields, err, ferr, test.total)
			}
			if text := strings.Join(places.Lines(100), ""); &way.x[0] == &a[0] && !strings.HasPrefix(text, test.want) {
				t.Errorf("%q: got %q, want %q", test.path, text, test.want)
			}
		}
	}
	if _, err := c.Schema().DiffAt("Units[ID=12]", a, b, 1); !errors.Is(err, ErrPath) {
		t.Errorf("a path that neither state has: got %v, want %v", err, ErrPath)
	}
}
