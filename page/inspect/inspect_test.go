package inspect_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/inspect"
)

// A world has one of everything that a state may have.
type world struct {
	Tick  uint32
	Name  string
	Units []unit
	Decks [2][]card
	Marks []fixed.Vec2
	Many  []uint16
	Words []string
}

type unit struct {
	ID       uint32
	Owner    uint8
	Alive    bool
	Pos, Vel fixed.Vec2
	Load     []card
}

type card struct {
	Suit  int8
	Price fixed.Q
}

type config struct{ Many uint32 }

type play struct {
	Unit   uint32
	At     fixed.Vec2
	Hidden bool
	Deltas [2]int8
	Raw    []byte
	Text   string
	Price  fixed.Q
}

type pass struct{}

var game = lockstep.MustGame(lockstep.Rules[world, config]{
	Name: "everything", Build: "1",
	Commands: []lockstep.CommandType{lockstep.Type[play](3, "play"), lockstep.Type[pass](9, "pass")},
	New: func(w *world, _ *lockstep.Settings, c *config) error {
		w.Name = "<b>name</b>"
		for i := range uint32(3) {
			w.Units = append(w.Units, unit{ID: 100 + i, Owner: uint8(i), Pos: fixed.Vec2{X: fixed.FromInt(int64(i)), Y: fixed.Half}, Load: []card{{Suit: -1, Price: fixed.Half}}})
		}
		w.Decks[1] = []card{{Suit: 4}}
		w.Marks = []fixed.Vec2{{X: fixed.One}, {Y: -fixed.One}}
		w.Many = make([]uint16, c.Many)
		w.Words = []string{strings.Repeat("x", 5000), "\xff\x00"}
		return nil
	},
	Step: step,
})

func step(w *world, _ *config, turn *lockstep.Turn) {
	w.Tick = uint32(turn.Tick)
	w.Units[1].Pos.X += fixed.One
}

// start returns simulations at two ticks.
func start(t testing.TB, many uint32) (before, now *lockstep.Simulation) {
	t.Helper()
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config{many})
	if err != nil {
		t.Fatal(err)
	}
	var sims [2]*lockstep.Simulation
	for i := range sims {
		if sims[i], err = game.NewSimulation(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := sims[1].Step(&lockstep.Frame{Tick: 1}); err != nil {
		t.Fatal(err)
	}
	return sims[0], sims[1]
}

func take(t testing.TB, many uint32) *inspect.Snapshot {
	before, now := start(t, many)
	var s inspect.Snapshot
	s.Take(game.StateSchema(), before, now)
	return &s
}

func ExampleSnapshot() {
	var t testing.T
	before, now := start(&t, 0)
	var s inspect.Snapshot
	s.Take(game.StateSchema(), before, now)
	var open inspect.Open
	open.Set("Units", true)
	rows, total := s.Rows(&open, 0, 4)
	fmt.Println(total, "rows")
	for _, r := range rows {
		fmt.Println(strings.Repeat("  ", r.Depth)+r.Name, r.Value)
	}
	for _, d := range s.Changes().List {
		fmt.Println(d)
	}
	var found inspect.Found = s.Search("units suit -1")
	for _, hit := range found.Hits {
		fmt.Println(hit.Path, hit.Value)
	}
	// Output:
	// 10 rows
	// Tick 1
	// Name "<b>name</b>"
	// Units 3 elements
	//   [0] ID: 100, Owner: 0, Alive: false, Pos: {X: 0, Y: 0.5}, Vel: {X: 0, Y: 0}, Load: 1 element
	// Tick: 0 != 1
	// Units[ID=101].Pos.X: 1 != 2
	// Units[ID=100].Load[0].Suit -1
	// Units[ID=101].Load[0].Suit -1
	// Units[ID=102].Load[0].Suit -1
}

// A page asks for the rows of its window, the layers of its map, and the results of a search.
func ExampleRow() {
	var t testing.T
	s := take(&t, 1)
	rows, _ := s.Rows(&inspect.Open{}, 0, 1)
	var row inspect.Row = rows[0]
	var layer inspect.Layer = s.Layers()[0]
	var hit inspect.Hit = s.Search("alive").Hits[0]
	fmt.Println(row.Path, row.Value, layer.Path, layer.Role, hit.Path, hit.Value)
	// Output: Tick 1 Units[].Pos place Units[ID=100].Alive false
}

func ExampleForm() {
	var t testing.T
	before, _ := start(&t, 0)
	forms, err := inspect.Forms(before.Header())
	if err != nil {
		panic(err)
	}
	var form inspect.Form = forms[0]
	var field inspect.Field = form.Root.Fields[0]
	fmt.Println(form.Name, field.Name, field.Type, field.Min, field.Max)
	var config inspect.Field = inspect.FieldOf(game.ConfigSchema())
	fmt.Println(config.Fields[0].Name, config.Fields[0].Max)
	// Output:
	// play Unit number 0 4294967295
	// Many 4294967295
}

// Open rows show their parts, and changed fields mark everything around them. Each row has the value that Lookup finds.
func TestRows(t *testing.T) {
	before, now := start(t, 3000)
	var s inspect.Snapshot
	s.Take(game.StateSchema(), before, now)
	state := now.AppendState(nil)
	var open inspect.Open
	for _, path := range []string{"Units", "Units[1]", "Units[1].Pos", "Units[1].Load", "Units[1].Load[0]", "Decks", "Decks[1]", "Decks[1][0]", "Marks", "Marks[1]", "Words", "Tick", "Nothing"} {
		if !open.Set(path, true) {
			t.Fatalf("%s does not open", path)
		}
	}
	rows, total := s.Rows(&open, 0, 1000)
	if len(rows) != total || total < 30 {
		t.Fatalf("got %d rows of %d", len(rows), total)
	}
	changed := []string{}
	for i, r := range rows {
		v, err := game.StateSchema().Lookup(state, r.Path)
		if err != nil {
			t.Errorf("%s: %v", r.Path, err)
			continue
		}
		if r.Leaf && len(r.Value) < 100 && r.Value != strings.ToValidUTF8(v.String(), "\uFFFD") {
			t.Errorf("%s: got %s, want %s", r.Path, r.Value, v)
		}
		if len(r.Value) > 260 {
			t.Errorf("%s: the value has %d bytes", r.Path, len(r.Value))
		}
		if r.Changed {
			changed = append(changed, r.Path)
		}
		for _, part := range [][2]int{{i, 1}, {i, 7}} {
			if some, all := s.Rows(&open, part[0], part[1]); all != total || !reflect.DeepEqual(some, rows[i:min(i+part[1], total)]) {
				t.Errorf("rows from %d: got %v", i, some)
			}
		}
		if at := s.Reveal(&open, r.Path); at != i {
			t.Errorf("%s: got row %d, want %d", r.Path, at, i)
		}
	}
	if at := s.Reveal(&open, "Units[ID=101].Pos.X"); at < 0 || rows[at].Path != "Units[1].Pos.X" {
		t.Errorf("the field of a unit by its ID: got row %d", at)
	}
	if want := []string{"Tick", "Units", "Units[1]", "Units[1].Pos", "Units[1].Pos.X"}; !reflect.DeepEqual(changed, want) {
		t.Errorf("changed: got %v, want %v", changed, want)
	}
}

// At first, a tree is open as far as it has few rows: a long list stays closed, and what stands after it opens.
func TestUnfold(t *testing.T) {
	s := take(t, 900)
	var open inspect.Open
	_, closed := s.Rows(&open, 0, 0)
	s.Unfold(&open)
	rows, total := s.Rows(&open, 0, 1000)
	if total <= closed || total > 40 {
		t.Fatalf("got %d rows, and %d without", total, closed)
	}
	var opened []string
	for _, r := range rows {
		if r.Open {
			opened = append(opened, r.Path)
		}
	}
	if slices.Contains(opened, "Many") || !slices.Contains(opened, "Units") || !slices.Contains(opened, "Units[0]") {
		t.Errorf("got %v open", opened)
	}
	var none inspect.Snapshot
	none.Unfold(&open) // there is nothing to open
}

// A long list has rows for ranges. A row is found at any depth of ranges, and the rows of one call are bounded.
func TestLongList(t *testing.T) {
	s := take(t, 1_234_567)
	var open inspect.Open
	_, closed := s.Rows(&open, 0, 1)
	if at := s.Reveal(&open, "Many[1234001]"); at < 0 {
		t.Fatal("the element has no row")
	} else if rows, total := s.Rows(&open, at, 1); len(rows) != 1 || rows[0].Path != "Many[1234001]" || total > closed+2+1000+567 {
		t.Errorf("got %+v of %d", rows, total)
	}
	if rows, _ := s.Rows(&open, 0, 1<<30); len(rows) > 400 {
		t.Errorf("got %d rows", len(rows))
	}
	for _, path := range []string{"Many[1234567]", "Many[-1]", "Many[x]", "None", "", "Many[0…999]", "Units[", "["} {
		if at := s.Reveal(&open, path); at >= 0 {
			t.Errorf("%q has row %d", path, at)
		}
	}
	opened := 0
	for i := range 5000 {
		if open.Set(fmt.Sprint(i), true) {
			opened++
		}
	}
	if opened > 200 {
		t.Errorf("%d rows are open", opened)
	}
	if open.Clear(); !open.Set("Units", true) {
		t.Error("nothing opens after Clear")
	}
}

func TestSearch(t *testing.T) {
	s := take(t, 500_000)
	for _, row := range []struct {
		query string
		first string
		hits  int
		more  bool
	}{
		{"UNITS[2].ID", "Units[ID=102].ID 102", 1, true},
		{"alive FALSE", "Units[ID=100].Alive false", 3, true},
		{"= 0.5", "Units[ID=100].Pos.Y 0.5", 6, true},
		{"many", "Many[0] 0", 200, true},
		{"nothing like that", "", 0, true},
		{" ", "", 0, false},
	} {
		f := s.Search(row.query)
		first := ""
		if len(f.Hits) > 0 {
			first = f.Hits[0].Path + " " + f.Hits[0].Value
		}
		if first != row.first || len(f.Hits) != row.hits || f.More != row.more || f.Hits == nil {
			t.Errorf("%q: got %d hits, more %v, the first %q", row.query, len(f.Hits), f.More, first)
		}
	}
	if f := take(t, 1).Search("words"); len(f.Hits) != 2 || f.More {
		t.Errorf("of a small state: got %d hits, more %v", len(f.Hits), f.More)
	}
}

func TestPlaces(t *testing.T) {
	s := take(t, 1)
	if got, want := fmt.Sprint(s.Layers()), "[{Units[].Pos place} {Units[].Vel vector} {Marks[] place}]"; got != want {
		t.Errorf("got layers %s, want %s", got, want)
	}
	var got [][]float64
	b := s.Places(nil, 2)
	for at := 0; at < len(b); at += 8 * inspect.PlaceWords {
		var place []float64
		for i := range inspect.PlaceWords {
			place = append(place, math.Float64frombits(binary.LittleEndian.Uint64(b[at+8*i:])))
		}
		got = append(got, place)
	}
	want := [][]float64{ // layer, x, y, player, id, element
		{0, 0, .5, 0, 100, 1}, {1, 0, 0, 0, 100, 1},
		{0, 2, .5, 1, 101, 2}, {1, 0, 0, 1, 101, 2},
		{0, 2, .5, 2, 102, 3}, {1, 0, 0, 2, 102, 3},
		{2, 1, 0, 0, 0, 4}, {2, 0, -1, 1, 1, 5}, // as many as players
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for i, want := range []string{"Units[0]", "Units[0]", "Units[1]", "Units[1]", "Units[2]", "Units[2]", "Marks[0]", "Marks[1]", "", ""} {
		if got := s.ElementAt(i); got != want {
			t.Errorf("place %d: got %q, want %q", i, got, want)
		}
	}
}

// A form has all fields of a command, with their limits.
func TestForms(t *testing.T) {
	before, _ := start(t, 1)
	forms, err := inspect.Forms(before.Header())
	if err != nil || len(forms) != 2 || forms[0].Name != "play" || len(forms[0].Root.Fields) != 7 || !forms[0].Root.Fields[1].Place || forms[0].Root.Fields[3].Fixed != 2 {
		t.Fatalf("got %+v, %v", forms, err)
	}
	if f := forms[0].Root.Fields[0]; f.Min != "0" || f.Max != "4294967295" || !f.Whole {
		t.Errorf("got %+v", f)
	}
}

// Before there is a state, everything is empty.
func TestEmpty(t *testing.T) {
	var s inspect.Snapshot
	rows, total := s.Rows(&inspect.Open{}, 0, 10)
	if len(rows) != 0 || total != 0 || len(s.Places(nil, 2)) != 0 || s.ElementAt(0) != "" || len(s.Search("a").Hits) != 0 || s.Changes().Total != 0 || len(s.Layers()) != 0 || s.Reveal(&inspect.Open{}, "a") >= 0 {
		t.Error("there is something")
	}
	_, now := start(t, 1)
	if s.Take(game.StateSchema(), nil, now); s.Changes().Total != 0 || s.Tick() != 1 || s.SizeBytes() == 0 {
		t.Errorf("without a tick before: got %+v", s.Changes())
	}
}
