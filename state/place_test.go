package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
