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
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
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

// If one side lacks a unit, the difference is that unit and not all units after it. Other differences are named by
// their place on the right side.
func TestMissingUnit(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		w.Units = slices.Delete(w.Units, 5, 6)
		w.Units[40].Kills += 3
		return true
	}, withGame(t))
	first := state.Difference{Path: "Units[ID=6]", A: "present", B: "absent"}
	if len(e.Fields.List) < 2 || e.Fields.List[0] != first || !slices.ContainsFunc(e.Fields.List, func(d state.Difference) bool { return strings.HasSuffix(d.Path, ".Kills") && d.B == "3" }) {
		t.Errorf("got %v, want %v and the kills of a unit behind it", e.Fields, first)
	}
	if e.Fields.Total > 40 || e.Fields.Total != e.Places.Total {
		t.Errorf("got %d fields, and %d by place", e.Fields.Total, e.Places.Total)
	}
	if g := e.Places.List[0]; g.First != first || g.Elements != 1 || !strings.Contains(strings.Join(e.Lines(), "\n"), " Units[ID=6] present → absent\n") {
		t.Errorf("got the place %+v\n%s", g, strings.Join(e.Lines(), "\n"))
	}
	if !slices.ContainsFunc(e.Changes, func(c desync.Change) bool { return strings.HasPrefix(c.Field, "Units[ID=") }) {
		t.Errorf("got changes %v, want one of a unit", e.Changes)
	}
	if page := pageOf(t, e); !strings.Contains(page, `<td class="mono">[ID=6]</td><td class="mono right">present</td>`) {
		t.Error("the page lacks the unit that is missing")
	}
}

// Units that only the wrong side has, and units in another order, none of which is missing.
func TestUnitsOfTheOtherSide(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		for range 2 {
			w.Match.NextID++
			unit := w.Units[len(w.Units)-1]
			unit.ID = w.Match.NextID
			w.Units = append(w.Units, unit)
		}
		return true
	}, withGame(t))
	text := strings.Join(e.Lines(), "\n")
	if !slices.ContainsFunc(e.Places.List, func(p state.Place) bool { return p.Elements == 2 && p.First.A == "absent" }) || !strings.Contains(text, " absent → present (+1 more unit)") {
		t.Errorf("got places %+v\n%s", e.Places.List, text)
	}
	e = explained(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		if t.Tick < 160 {
			return false
		}
		w.Units[5], w.Units[6] = w.Units[6], w.Units[5]
		w.Units = w.Units[:len(w.Units)-1]
		return true
	}, desync.Options{})
	if e.Fields.Total != 2 || !slices.ContainsFunc(e.Fields.List, func(d state.Difference) bool { return d.A == "present" && d.B == "absent" }) || e.Places.List[0].String() != "the order of Units differs from index 5 (Units[5].ID 6 → 8)" {
		t.Errorf("in another order: got %v, %v", e.Fields, e.Places.List)
	}
}

// A path limits the fields to a part of the state, as the whole list names it, also behind a missing unit.
func TestPartOfAlignedStates(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		w.Units = slices.Delete(w.Units, 5, 6)
		w.Units[40].Kills = 3
		return true
	}, false)
	x.play(t, 400)
	bundle := x.bundle(t)
	part := func(path string) *desync.Explanation {
		e, err := desync.Explain(open(t, bundle), desync.Options{Game: findGame, Path: path, Budget: time.Millisecond}) // the cause does not matter
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	all := part("").Fields
	missing := state.Difference{Path: "Units[ID=6]", A: "present", B: "absent"}
	if !slices.Contains(all.List, missing) || !slices.ContainsFunc(all.List, func(d state.Difference) bool { return strings.HasSuffix(d.Path, ".Kills") }) {
		t.Fatalf("got %v, want a missing unit and the kills of another", all)
	}
	check := func(path string, want state.Difference) {
		e := part(path)
		if !slices.Equal(e.Fields.List, []state.Difference{want}) || e.Fields.Total != 1 || e.Places.Total != 1 || e.Places.List[0].First != want {
			t.Errorf("%s: got %v and %v, want %v", path, e.Fields, e.Places, want)
		}
	}
	for _, d := range all.List {
		check(d.Path, d)
	}
	check("Units[5].Kills", missing) // of the right side
}

// A garden has lists in lists, and no positions.
type (
	garden struct {
		Hives []hive
		Meals uint32
	}
	hive struct {
		ID   uint32
		Bees []bee
	}
	bee struct {
		Name  string
		Meals []int16
	}
	feed struct{ Amount int16 }
)

// gardenGame is a game in which feed gives each bee a meal. From a tick on, a hive has one bee more.
func gardenGame(more lockstep.Tick) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[garden, struct{}]{
		Name: "garden", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[feed](1, "feed")},
		New: func(w *garden, _ *lockstep.Settings, _ *struct{}) error {
			for id := range uint32(3) {
				w.Hives = append(w.Hives, hive{ID: 7 + id, Bees: []bee{{Name: `b]="`}, {Name: "c"}}})
			}
			return nil
		},
		Step: func(w *garden, _ *struct{}, t *lockstep.Turn) {
			for i := range t.Commands {
				m, ok := t.Commands[i].Value.(*feed)
				for h := range w.Hives {
					for b := range w.Hives[h].Bees {
						if ok {
							w.Hives[h].Bees[b].Meals = append(w.Hives[h].Bees[b].Meals, m.Amount)
							w.Meals++
						}
					}
				}
			}
			if t.Tick == more {
				w.Hives[1].Bees = append(w.Hives[1].Bees, bee{Name: "new"})
			}
		},
	})
}

// gardenBundle plays ten ticks in which player 1 has one bee more from tick 6 on. It returns the bundle, and the states
// of both sides at the end.
func gardenBundle(t *testing.T) (bundle *replay.Bundle, right, wrong []byte) {
	t.Helper()
	game, settings := gardenGame(0), lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.Seed = 10, 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	kept := lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}
	other := gardenGame(6).NewFollower(kept)
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	match, err := coordinator.New(game, header, record.Tee(file, stubborn{other}), coordinator.Options{Referee: kept})
	if err != nil {
		t.Fatal(err)
	}
	match.Join(0)
	match.Join(1)
	for n := range lockstep.Sequence(10) {
		kind, payload, err := game.NewPayloads().Encode(&feed{Amount: -int16(n)})
		if err != nil {
			t.Fatal(err)
		}
		if n == 2 || n == 4 || n == 7 {
			match.Submit(0, n, kind, payload)
		}
		if _, err := match.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	sum, _ := other.Sum(10)
	if err := match.Report(1, 10, sum); err != nil {
		t.Fatal(err)
	}
	right, wrong = match.Referee().State(10), other.State(10)
	evidence := &host.Evidence{Report: *match.Desyncs()[0], Exhibits: []host.Exhibit{{Tick: 10, Referee: right, Player: wrong}}}
	if err := file.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteBundle(&archive, header, evidence, &log); err != nil {
		t.Fatal(err)
	}
	if bundle, err = replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len())); err != nil {
		t.Fatal(err)
	}
	return bundle, right, wrong
}

// Of a list whose length differs, the last change of its length is searched, and not that of a field in it.
func TestChangeOfLength(t *testing.T) {
	bundle, _, _ := gardenBundle(t)
	e, err := desync.Explain(bundle, desync.Options{Game: replay.Games{gardenGame(0)}.Of})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(e.Lines(), "\n")
	if !strings.Contains(text, "Hives[ID=8].Bees 2 elements → 3 elements") || !strings.Contains(text, "Hives[ID=8].Bees is 2 elements, not changed since tick 0") {
		t.Errorf("got\n%s", text)
	}
}

// Every path that an explanation or a comparison prints is one that Lookup takes, and so the verbs.
func TestPrintedPaths(t *testing.T) {
	bundle, right, wrong := gardenBundle(t)
	game := gardenGame(0)
	e, err := desync.Explain(bundle, desync.Options{Game: replay.Games{game}.Of})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{e.Section}
	for _, p := range e.Places.List {
		paths = append(paths, p.Path, p.Element, p.First.Path)
	}
	for _, d := range e.Fields.List {
		paths = append(paths, d.Path)
	}
	for _, c := range e.Changes {
		paths = append(paths, c.Field)
	}
	for _, c := range e.Commands {
		paths = append(append(paths, c.Changes...), c.Names...)
	}
	schema := game.StateSchema()
	leaves, err := schema.Leaves(wrong)
	if err != nil {
		t.Fatal(err)
	}
	for v := range leaves {
		paths = append(paths, v.Path)
	}
	if len(paths) < 20 {
		t.Errorf("got %d paths", len(paths))
	}
	for _, path := range paths {
		if _, err := schema.Lookup(wrong, path); err != nil {
			if _, err := schema.Lookup(right, path); err != nil { // an element that only one side has
				t.Error(err)
			}
		}
	}
}
