package desync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

type (
	world = skirmish.World
	turn  = lockstep.Turn
	step  = func(*skirmish.World, *lockstep.Turn)
)

// drill orders player 0's first unit about at tick 150. The last command takes effect.
func drill(t lockstep.Tick, give func(p lockstep.Player, values ...any)) {
	if t == 150 {
		unit := skirmish.Who{Units: []skirmish.UnitID{6}}
		give(0, &skirmish.Move{Who: unit, To: skirmish.Point{X: 100, Y: 100}}, &skirmish.Move{Who: unit, To: skirmish.Point{X: 200, Y: 100}})
	}
}

// mine returns the index of the first of those commands in a turn, or -1.
func mine(t *turn) int {
	return slices.IndexFunc(t.Commands, func(c lockstep.Command) bool {
		m, ok := c.Value.(*skirmish.Move)
		return ok && c.Player == 0 && len(m.Who.Units) == 1 && m.Who.Units[0] == 6
	})
}

// inDrill limits a fault to the tick of the drill.
func inDrill(f func(w *world, t *turn, i int, step step)) fault {
	return func(w *world, t *turn, step step) bool {
		i := mine(t)
		if i < 0 {
			step(w, t)
			return false
		}
		f(w, t, i, step)
		return true
	}
}

// Each kind of fault that trials look for is injected and found: its command or field, and its player. No tick is excluded,
// because other faults lead to the same state.
func TestEachFaultIsNamed(t *testing.T) {
	var held []skirmish.Move
	var heldFor lockstep.Tick
	late := func(by lockstep.Tick) fault {
		return func(w *world, t *turn, step step) bool {
			if i := mine(t); i >= 0 {
				held, heldFor = append(held[:0], *t.Commands[i+1].Value.(*skirmish.Move)), t.Tick+by
				t.Commands = slices.Delete(t.Commands, i+1, i+2)
			} else if t.Tick == heldFor && len(held) > 0 {
				at := slices.IndexFunc(t.Commands, func(c lockstep.Command) bool { return c.Player > 0 && c.Player != lockstep.System })
				if at < 0 {
					at = len(t.Commands)
				}
				t.Commands = slices.Insert(t.Commands, at, lockstep.Command{Tick: t.Tick, Kind: skirmish.KindMove, Value: &held[0]})
				step(w, t)
				held = held[:0]
				return true
			}
			step(w, t)
			return false
		}
	}
	for _, test := range []struct {
		name      string
		fault     fault
		everyTick bool
		kind      desync.CauseKind
		text      string        // in the cause
		at        lockstep.Tick // among those of the cause
		field     string        // that differs
	}{
		{"lost", inDrill(func(w *world, t *turn, i int, step step) {
			t.Commands = slices.Delete(t.Commands, i+1, i+2)
			step(w, t)
		}), false, desync.LostCommand, "tick 152, player 0 moves", 152, "Units[ID=6]."},
		{"swapped", inDrill(func(w *world, t *turn, i int, step step) {
			t.Commands[i], t.Commands[i+1] = t.Commands[i+1], t.Commands[i]
			step(w, t) // which here is the same as if the second had been lost
		}), false, desync.LostCommand, "tick 152, player 0 moves unit 6 to 25,12.5", 152, "Units[ID=6]."},
		{"late", late(1), false, desync.MovedCommand, "one tick too late: tick 152, player 0 moves", 152, "Units[ID=6]."},
		{"late, and the states of all ticks are there", late(1), true, desync.MovedCommand, "one tick too late: tick 152, player 0 moves", 152, "Units[ID=6]."},
		{"very late", late(7), false, desync.MovedCommand, "7 ticks too late: tick 152, player 0 moves", 152, "Units[ID=6]."},
		{"doubled", func(w *world, t *turn, step step) bool {
			i := slices.IndexFunc(t.Commands, func(c lockstep.Command) bool { _, ok := c.Value.(*skirmish.Train); return ok })
			if i >= 0 {
				t.Commands = slices.Insert(t.Commands, i, t.Commands[i])
			}
			step(w, t)
			return i >= 0
		}, false, desync.DoubledCommand, "trains", 151, ""},
		{"misread", inDrill(func(w *world, t *turn, i int, step step) {
			t.Commands[i+1].Value.(*skirmish.Move).To.X ^= 8
			step(w, t)
		}), false, desync.AlteredPayload, "To.X 192 instead of 200: tick 152, player 0 moves unit 6", 152, "Units[ID=6].Goal.X"},
		{"of another player", inDrill(func(w *world, t *turn, i int, step step) {
			t.Commands[i+1].Player = 1
			step(w, t) // who does not have the unit
		}), false, desync.LostCommand, "tick 152, player 0 moves unit 6 to 25,12.5", 152, "Units[ID=6]."},
		{"extra draw", func(w *world, t *turn, step step) bool { step(w, t); w.Rand.Uint64(); return true },
			false, desync.OtherDraws, "Rand was drawn from too often (1 draw)", 150, "Rand."},
		{"many extra draws", func(w *world, t *turn, step step) bool {
			step(w, t)
			for range 50 {
				w.Rand.Uint64()
			}
			return true
		}, false, desync.OtherDraws, "Rand was drawn from too often (50 draws)", 150, "Rand."},
		{"another order", func(w *world, t *turn, step step) bool {
			step(w, t)
			w.Units[7], w.Units[9] = w.Units[9], w.Units[7]
			return true
		}, false, desync.PermutedList, "the order of Units differs from index 7 (Units[7].ID 9 → 12)", 150, "Units[7].ID"},
		{"lost unit", func(w *world, t *turn, step step) bool {
			step(w, t)
			w.Units = slices.Delete(w.Units, 5, 6)
			return true
		}, false, desync.LostElement, "Units[ID=6] was lost, in the memory or by the rules", 150, "Units[ID=6]"},
		{"altered", func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true },
			false, desync.AlteredField, "Units[ID=6].Health was 39 instead of 40", 150, "Units[ID=6].Health"},
		{"altered, and the states of all ticks are there", func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true },
			true, desync.AlteredField, "Units[ID=6].Health was 39 instead of 40", 150, "Units[ID=6].Health"},
		{"altered, and counted on from there", func(w *world, t *turn, step step) bool { step(w, t); w.Players[0].Gathered += 5; return true },
			false, desync.AlteredField, "Players[0].Gathered was", 150, "Players[0].Gathered"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if slices.Contains([]string{"late", "many extra draws", "another order", "lost unit", "altered, and the states of all ticks are there", "altered, and counted on from there"}, test.name) { // others show the same
				testenv.Long(t)
			}
			x := newTable(t, test.fault, false)
			x.orders, x.everyTick = drill, test.everyTick
			x.play(t, 400)
			o := withGame(t)
			if test.kind == desync.MovedCommand || test.kind == desync.AlteredPayload { // there are many of these
				o.Budget *= 6
			}
			e, err := desync.Explain(open(t, x.bundle(t)), o)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(e.Lines(), "\n")
			if v := e.Verdict; v.Party != desync.WrongPlayer || !slices.Equal(v.Players, []lockstep.Player{victim}) || !v.Simulated {
				t.Errorf("got verdict %+v", v)
			}
			if e.Cause == nil || e.Cause.Kind != test.kind || !strings.Contains(e.Cause.Text, test.text) || e.Cause.When.From > test.at || e.Cause.When.To < test.at {
				t.Errorf("got cause %+v\n%s", e.Cause, text)
			}
			first := desync.Span{From: 141, To: 160}
			if test.everyTick {
				first = desync.Span{From: test.at, To: test.at}
			}
			if e.First != first {
				t.Errorf("got first %v, want %v", e.First, first)
			}
			if !strings.Contains(text, "\ncause      consistent with: "+string(test.kind)+": ") || strings.Contains(e.Cause.String(), "proven") {
				t.Errorf("the cause is not hedged:\n%s", text)
			}
			if !slices.ContainsFunc(e.Fields.List, func(d state.Difference) bool { return strings.HasPrefix(d.Path, test.field) }) {
				t.Errorf("got fields %v, want %s among them", e.Fields.List, test.field)
			}
			if test.name == "swapped" && !slices.ContainsFunc(e.Cause.Others, func(c *desync.Cause) bool {
				return c.Kind == desync.SwappedOrder && strings.Contains(c.Text, "ran after the one that follows it: tick 152")
			}) {
				t.Errorf("got other causes %v, want the wrong order among them", e.Cause.Others)
			}
			if e.Tick != 160 || e.Agreed != 140 {
				t.Errorf("got a desync at tick %d, agreed at %d", e.Tick, e.Agreed)
			}
		})
	}
}

// A rule that is wrong from some tick on is not a single fault. The explanation says so and has everything else.
func TestWrongRule(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		for i := range w.Units {
			w.Units[i].Health -= min(w.Units[i].Health, 1)
		}
		return false
	}, withGame(t))
	if e.Cause != nil || e.First != (desync.Span{From: 141, To: 160}) || e.Verdict.Party != desync.WrongPlayer {
		t.Errorf("got cause %v, first %v, verdict %v", e.Cause, e.First, e.Verdict)
	}
	if text := strings.Join(e.Notes, "\n"); !strings.Contains(text, "no single fault") {
		t.Errorf("got notes %q", text)
	}
	for _, d := range e.Draws {
		if d.Known {
			t.Errorf("draws of the wrong side are said to be known: %v", d)
		}
		if d.Phase == "" || !strings.Contains(d.String(), d.Purpose+" in phase "+d.Phase+": ") {
			t.Errorf("got draws %v, want their phase", d)
		}
	}
	if len(e.Draws) == 0 {
		t.Error("got no draws")
	}
}

// A side that missed a change and went wrong elsewhere as well has a stale value, and the explanation reports it.
func TestStaleValue(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool {
		before := w.Units[5].Group
		step(w, t)
		if w.Units[5].Group != 3 {
			return false
		}
		w.Units[5].Group = before
		w.Match.Winner = 9
		return true
	}, false)
	x.orders = func(t lockstep.Tick, give func(p lockstep.Player, values ...any)) {
		if t == 150 {
			give(0, &skirmish.Assign{Group: 3, Units: []skirmish.UnitID{6}})
		}
	}
	x.play(t, 400)
	e, err := desync.Explain(open(t, x.bundle(t)), withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.Changes, func(c desync.Change) bool { return c.Field == "Units[ID=6].Group" })
	if e.Cause != nil || i < 0 || e.Changes[i].Tick != 152 || e.Changes[i].Stale != 151 || !strings.HasSuffix(e.Changes[i].String(), "; the wrong side has the value of tick 151") {
		t.Errorf("got cause %v, changes %v", e.Cause, e.Changes)
	}
}

// The referee is wrong if the re-simulation agrees with the players.
func TestWrongReferee(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); w.Players[1].Crystals += 1000; return true }, true)
	x.play(t, 400)
	e, err := desync.Explain(open(t, x.bundle(t)), withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Verdict; v.Party != desync.WrongReferee || len(v.Players) != 0 || !v.Simulated {
		t.Errorf("got verdict %+v", v)
	}
	if text := strings.Join(e.Lines(), "\n"); !strings.Contains(text, "verdict    THE REFEREE: the match simulated again agrees with players 0, 1 and 2") && !strings.Contains(text, "verdict    THE REFEREE: the match simulated again agrees with player 0, not with the referee") {
		t.Errorf("got the text\n%s", text)
	}
	if page := pageOf(t, e); !strings.Contains(page, "<strong>The referee computed it wrong</strong>") {
		t.Error("the page does not say that the referee is wrong")
	}
	if e.Cause == nil || e.Cause.Path != "Players[1].Crystals" || e.Fields.List[0].Path != "Players[1].Crystals" {
		t.Errorf("got cause %+v, fields %v", e.Cause, e.Fields)
	}
	for _, p := range e.Who {
		if p.Differs && e.Verdict.Party != desync.WrongReferee {
			t.Errorf("player %d is said to differ", p.Player)
		}
	}
}

// A build with other rules blames no one, and the explanation says so.
func TestWrongBuild(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }, false)
	x.play(t, 400)
	for name, from := range map[string]lockstep.Tick{"before the check": 105, "after it": 145} {
		other := lockstep.MustGame(fault(func(w *world, t *turn, step step) bool { step(w, t); return true }).rules())
		rules := skirmish.Rules()
		right := rules.Step
		rules.Step = func(w *world, config *skirmish.Config, t *turn) {
			right(w, config, t)
			if t.Tick >= from {
				w.Match.Winner = 9
			}
		}
		other = lockstep.MustGame(rules)
		e, err := desync.Explain(open(t, x.bundle(t)), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return other, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if early := strings.Contains(e.Verdict.Text, "before anybody differed"); early != (from == 105) {
			t.Errorf("%s: got the text %q", name, e.Verdict.Text)
		}
		if e.Verdict.Party != desync.WrongBuild || e.Cause != nil || e.Fields.Total != 1 {
			t.Errorf("%s: got verdict %+v, cause %v, %d fields", name, e.Verdict, e.Cause, e.Fields.Total)
		}
		if !strings.Contains(strings.Join(e.Lines(), "\n"), "verdict    THE BUILD: ") || !strings.Contains(pageOf(t, e), "<strong>This build computes something else</strong>") {
			t.Errorf("%s: got the text %q", name, e.Lines())
		}
	}
}

// Without the game's code, the states and the log still explain part of the desync.
func TestWithoutTheGame(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool { step(w, t); w.Rand.Uint64(); w.Units[5].Health--; return true }, desync.Options{})
	if v := e.Verdict; v.Party != desync.WrongPlayer || v.Simulated || !slices.Equal(v.Players, []lockstep.Player{victim}) {
		t.Errorf("got verdict %+v", v)
	}
	if e.Fields.Total != 3 || e.First != (desync.Span{From: 141, To: 160}) || e.Cause != nil || len(e.Changes) > 0 {
		t.Errorf("got %d fields, first %v, cause %v, changes %v", e.Fields.Total, e.First, e.Cause, e.Changes)
	}
	if want := []desync.Stream{{Path: "Rand", Right: 0, Wrong: 1, Known: true}}; !slices.Equal(e.Streams, want) {
		t.Errorf("got streams %v, want %v", e.Streams, want)
	}
	if text := strings.Join(e.Notes, "\n"); !strings.Contains(text, "no game code") {
		t.Errorf("got notes %q", text)
	}
}

// Traits that only the desynced client has are marked.
func TestTraits(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }, desync.Options{})
	for _, trait := range e.Traits {
		if trait.Telling() != (trait.Name == "platform") {
			t.Errorf("%s: telling is %v", trait, trait.Telling())
		}
	}
	if len(e.Traits) != 4 {
		t.Errorf("got %v", e.Traits)
	}
}

// The last change of a field is found before the kept states by going back from keyframe to keyframe, together with its
// command.
func TestChangeLongAgo(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		if t.Tick < 730 {
			return false
		}
		w.Units[5].Group = 7
		return true
	}, false)
	x.orders = func(t lockstep.Tick, give func(p lockstep.Player, values ...any)) {
		if t == 60 {
			give(0, &skirmish.Assign{Group: 3, Units: []skirmish.UnitID{6}})
		}
	}
	x.play(t, 800)
	for _, memory := range []int{0, 800 << 10} { // that of 40 to 60 states
		e, err := desync.Explain(open(t, x.bundle(t)), desync.Options{Game: findGame, MaxMemory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Changes) == 0 || e.Changes[0].Field != "Units[ID=6].Group" || e.Changes[0].Tick != 62 || e.Changes[0].Command == nil || e.Changes[0].Command.Tick != 62 {
			t.Errorf("got changes %v, want group 3 in tick 62\n%s", e.Changes, strings.Join(e.Lines(), "\n"))
		}
		if e.Cause == nil || e.Cause.Path != "Units[ID=6].Group" {
			t.Errorf("got cause %+v", e.Cause)
		}
	}
	e, err := desync.Explain(open(t, x.bundle(t)), desync.Options{Game: findGame, Budget: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(e.Notes, "\n"); !strings.Contains(text, "was searched for only back to tick") {
		t.Errorf("with a small budget: got notes %q", text)
	}
}

// A player who never agreed may have gone wrong at any time since the match began. If the budget ends before the search
// does, no tick is ruled out.
func TestNeverAgreed(t *testing.T) {
	archive := packed(t, unpacked(t, plain()), func(m *replay.Manifest) { m.Agreed, m.Exhibits = 0, m.Exhibits[1:] })
	told, budget := time.Duration(0), 10*time.Second
	if testenv.Small(t) {
		budget = time.Second
	}
	e, err := explain(archive, desync.Options{Game: findGame, Budget: budget, Progress: func(spent, all time.Duration) {
		if spent <= told || all != budget {
			t.Errorf("the progress went from %v to %v of %v", told, spent, all)
		}
		told = spent
	}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Cause == nil || e.Cause.Kind != desync.AlteredField || e.First != (desync.Span{From: 1, To: 160}) || len(e.Notes) > 0 {
		t.Errorf("got cause %+v, first %v, notes %q", e.Cause, e.First, e.Notes)
	}
	if told == 0 {
		t.Error("there was no progress")
	}
	e, err = explain(archive, desync.Options{Game: findGame, Budget: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if e.First != (desync.Span{From: 1, To: 160}) || !slices.ContainsFunc(e.Tried, func(f desync.Tried) bool { return !f.All }) {
		t.Errorf("with a small budget: got first %v, tried %v", e.First, e.Tried)
	}
}

// A viewer shows the difference at the first tick of which the player has sent another state, at the field that comes first.
func TestShown(t *testing.T) {
	for name, o := range map[string]desync.Options{"with the game": withGame(t), "without it": {}} {
		e := explained(t, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }, o)
		if want := (desync.Shown{Tick: 160, Field: "Units[ID=6].Health"}); e.Shown == nil || *e.Shown != want {
			t.Errorf("%s: got %+v, want %+v", name, e.Shown, want)
		}
	}
	e, err := explain(packed(t, unpacked(t, plain()), func(m *replay.Manifest) { m.Exhibits = nil }), withGame(t))
	if err != nil || e.Shown != nil {
		t.Errorf("without states: got %+v, %v", e.Shown, err)
	}
}
