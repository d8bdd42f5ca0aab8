package desync_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// idleWorkers makes workers idle that are on their way.
func idleWorkers(w *world, t *turn, step step) bool {
	step(w, t)
	if t.Tick < 157 { // soon before the check, so that few fields differ there
		return false
	}
	for i := range w.Units {
		if u := &w.Units[i]; u.Kind == skirmish.Worker && u.Task == skirmish.Gathering && u.Phase == 0 {
			u.Task = skirmish.Idle
		}
	}
	return true
}

// The field that leads to the others comes first, though it stands behind them in the schema, and with it the other fields
// of its unit.
func TestFieldsByCause(t *testing.T) {
	e := explained(t, idleWorkers, withGame(t))
	if len(e.Fields.List) < 3 || !strings.HasSuffix(e.Fields.List[0].Path, ".Task") {
		t.Fatalf("got %v, want a task first", e.Fields.List[:min(len(e.Fields.List), 8)])
	}
	if first := e.Places.List[0].First; first != e.Fields.List[0] {
		t.Errorf("got the first place %v", e.Places.List[0])
	}
	seen := map[string]bool{}
	last := ""
	for _, d := range e.Fields.List {
		element, _, _ := strings.Cut(d.Path, "].")
		if element != last && seen[element] {
			t.Errorf("the fields of %s] are not together: %v", element, e.Fields.List)
		}
		seen[element], last = true, element
	}
}

// A bisection orders the fields as the explanation does, whichever side is wrong, and so does a comparison of two states.
func TestBisectByCause(t *testing.T) {
	x := newTable(t, idleWorkers, false)
	x.play(t, 400)
	bundle := x.bundle(t)
	e, err := desync.Explain(open(t, bundle), withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	schema := x.game.StateSchema()
	right, wrong := x.match.Referee().State(160), x.copies[victim].State(160)
	_, plain, err := desync.DiffStates(schema, right, wrong, "")
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(plain, e.Places) {
		t.Fatalf("want another order than that of the schema: %v", plain.List)
	}
	path := filepath.Join(t.TempDir(), "bundle.zip")
	if err := os.WriteFile(path, bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := bisect.Player(f, victim, replay.Games{x.game}, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.Places, found.Fields); diff != "" {
		t.Errorf("bisect and explain have other orders (-explain +bisect):\n%s", diff)
	}
	past := desync.Past{Replay: openReplay(t, x.log.Bytes()), Game: x.game, Agreed: 140, Tick: 160}
	for name, sides := range map[string][2][]byte{"right": {right, wrong}, "wrong": {wrong, right}} {
		_, got, err := past.DiffStates(sides[0], sides[1], desync.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := e.Places.List[0].First
		if name == "wrong" {
			want.A, want.B = want.B, want.A
		}
		if got.List[0].First != want || got.Total != e.Places.Total {
			t.Errorf("the %s state first: got %v, want %v", name, got.List[0].First, want)
		}
	}
	past.Agreed = 160 // nothing is known of the ticks before
	if _, got, err := past.DiffStates(right, wrong, desync.Options{}); err != nil || !cmp.Equal(got, plain) {
		t.Errorf("without ticks: got %v, %v, want the order of the schema", got.List, err)
	}
}

type scale struct{ Left, Right, Sum uint32 }

// scaleGame is a game in which the left number follows the right one, too, if both is true, and else only the right one the left.
func scaleGame(both bool, drift uint32) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[scale, purseConfig]{
		Name: "scale", Build: "1",
		New: func(*scale, *lockstep.Settings, *purseConfig) error { return nil },
		Step: func(w *scale, _ *purseConfig, _ *lockstep.Turn) {
			w.Left += 1 + drift
			if both {
				w.Left = max(w.Left, w.Right)
			}
			w.Right = w.Left
			w.Sum += w.Right
		},
	})
}

// Where as much follows from two fields, which of them was first is unknown, and the explanation says so.
func TestRivals(t *testing.T) {
	for _, row := range []struct {
		both   bool
		rivals []string
		text   string
	}{
		{true, []string{"Right"}, "it is unknown which differed first: maybe Right instead, from which about as much follows"},
		{false, nil, ""},
	} {
		game := scaleGame(row.both, 0)
		e, err := desync.Explain(twoSides(t, game, scaleGame(row.both, 1), &purseConfig{}, func(lockstep.Tick) []any { return nil }), desync.Options{Game: replay.Games{game}.Of})
		if err != nil {
			t.Fatal(err)
		}
		if e.Cause != nil || e.Places.List[0].First.Path != "Left" || !slices.Equal(e.Rivals, row.rivals) || !strings.Contains(strings.Join(e.Lines(), "\n"), row.text) {
			t.Errorf("both %v: got %v first, or %v; cause %v", row.both, e.Places.List[0].First.Path, e.Rivals, e.Cause)
		}
	}
}

// Trials end when the time is over, by the clock of the options, and the explanation says how much was tried.
func TestTimeOfTrials(t *testing.T) {
	var now time.Time
	slow := func() time.Time { now = now.Add(time.Millisecond); return now }
	f := func(w *world, t *turn, step step) bool {
		step(w, t)
		for i := range w.Units {
			w.Units[i].Health -= min(w.Units[i].Health, 1)
		}
		return false
	}
	e := explained(t, f, desync.Options{Game: findGame, Budget: 500 * time.Millisecond, Now: slow})
	cut := 0
	for _, x := range e.Tried {
		if !x.All {
			cut++
			if !strings.HasSuffix(x.String(), ", but not all") {
				t.Errorf("got %q", x)
			}
		}
	}
	if cut == 0 || e.Trials > 1000 || e.Cause != nil {
		t.Errorf("got %d families that were cut, %d ticks, cause %v", cut, e.Trials, e.Cause)
	}
	if text := strings.Join(e.Lines(), "\n"); !strings.Contains(text, "\ntried      ") || !strings.Contains(text, "but not all") {
		t.Errorf("the text does not say how much was tried:\n%s", text)
	}
}

// Two states whose lists have another order or other elements are compared by the elements' IDs.
func TestDiffStates(t *testing.T) {
	x := newTable(t, nil, false)
	x.play(t, 20)
	a := x.match.Referee().Simulation().AppendState(nil)
	change := func(f func(w *world)) []byte {
		sim, err := x.game.NewSimulation(x.header)
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Restore(20, a); err != nil {
			t.Fatal(err)
		}
		f(lockstep.World[skirmish.World](sim))
		return sim.AppendState(nil)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"the same", a, ""},
		{"order", change(func(w *world) { w.Units[2], w.Units[7] = w.Units[7], w.Units[2] }), "the order of Units differs from index 2 (Units[2].ID 3 → 8)"},
		{"order and a field", change(func(w *world) { w.Units[2], w.Units[7] = w.Units[7], w.Units[2]; w.Units[7].Kills = 9 }),
			"the order of Units differs from index 2 (Units[2].ID 3 → 8)\nUnits[ID=3].Kills 0 → 9"},
		{"order without a unit", change(func(w *world) { w.Units[2], w.Units[7] = w.Units[7], w.Units[2]; w.Units = w.Units[1:] }),
			"the order of Units differs from index 2 (Units[2].ID 3 → 8)\nUnits[ID=1] present → absent"},
		{"an ID twice", change(func(w *world) { w.Units[2].ID = 8 }), "Units[ID=3].ID 3 → 8"},
	} {
		_, p, err := desync.DiffStates(x.game.StateSchema(), a, c.b, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Lines(9), "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	twice := change(func(w *world) { w.Units[2].ID = 8 })
	if d, _, err := desync.DiffStates(x.game.StateSchema(), twice, change(func(w *world) { w.Units[2].ID = 8; w.Units[2].Kills = 9 }), ""); err != nil || d.Total != 1 || d.List[0].Path != "Units[2].Kills" {
		t.Errorf("an ID twice on both sides: got %v, %v", d, err)
	}
	if _, _, err := desync.DiffStates(x.game.StateSchema(), a, bytes.Clone(a[1:]), ""); err == nil || !strings.Contains(err.Error(), "second: ") {
		t.Errorf("an invalid state: error %v", err)
	}
}

// A negative ID is named as the number that it is, in elements that one side lacks and in another order.
func TestNegativeIDs(t *testing.T) {
	type goat struct {
		ID   int16
		Milk uint8
	}
	c, err := state.Compile[struct{ Goats []goat }]()
	if err != nil {
		t.Fatal(err)
	}
	herd := func(goats ...goat) []byte { return c.Append(nil, &struct{ Goats []goat }{goats}) }
	for want, wrong := range map[string][]byte{
		"Goats[ID=-1] present → absent":                                herd(goat{ID: 2}, goat{ID: -300}),
		"the order of Goats differs from index 0 (Goats[0].ID -1 → 2)": herd(goat{ID: 2}, goat{ID: -1}, goat{ID: -300}),
		"Goats[ID=-1].Milk 0 → 7":                                      herd(goat{-1, 7}, goat{ID: 2}, goat{ID: -300}),
	} {
		_, p, err := desync.DiffStates(c.Schema(), herd(goat{ID: -1}, goat{ID: 2}, goat{ID: -300}), wrong, "")
		if got := strings.Join(p.Lines(9), "\n"); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
