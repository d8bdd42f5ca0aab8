package desync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/state"
)

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
