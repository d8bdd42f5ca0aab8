package line

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A relic is a mistake of this repository's history that made two machines compute different states, or would have done so in
// a match. It is planted again in the code of today.
type relic struct {
	commit, subject string // that mended it
	game            string
	mode            Mode
	platform        string // the other one, of mode Platforms
	reach           []edit // rules in both versions that reach the place, because the example games do not
	mistake         []edit
	tick            lockstep.Tick // the first one that differs; 0 for any
	field           string        // one that differs after it
	panics          string        // or what side B panics with
	lines           []string      // texts of the lines that name the mistake
}

// An edit replaces a text that a file has once.
type edit struct{ file, old, new string }

var relics = []relic{
	{
		commit: "a65c2a3a", subject: "fixed: oracles for every operation, and what they found",
		game: "skirmish", mode: Versions,
		// Of 2^32 sines the table rounded that of this turn and of its opposite the wrong way.
		reach:   []edit{{"examples/skirmish/economy.go", "func (w *World) regrow() {\n", "func (w *World) regrow() {\n\tw.Match.Seed += uint64(fixed.Turn(306654577 - 90 + w.Match.Tick).Sin())\n"}},
		mistake: []edit{{"fixed/tables_data.go", "{3994585418144809575, ", "{3994585418144809576, "}},
		tick:    90, field: "Match.Seed", lines: []string{"fixed.Turn(306654577"},
	},
	{
		commit: "c5f8e594", subject: "fixed, fixed/grid, state, desync: mend what other platforms found",
		game: "skirmish", mode: Platforms, platform: "linux/386",
		// A cell beyond 2^31 passes the check of the bounds as a negative index where an int has 32 bits.
		reach: []edit{{"examples/skirmish/economy.go", "func (w *World) regrow() {\n",
			"func (w *World) regrow() {\n\tif w.Match.Tick == 80 && w.workspace.ground.Open(1<<31) {\n\t\tw.Match.Seed++\n\t}\n"}},
		mistake: []edit{{"fixed/grid/ground.go", "uint64(c) < uint64(len(g.open)) && g.open[c]", "int(c) < len(g.open) && g.open[c]"}},
		tick:    80, panics: "index out of range", lines: []string{"ground.Open(1<<31)"},
	},
	{
		commit: "ea864ecb", subject: "lockstep, locksteptest: find stale derived data in each tick, and refuse bad games early",
		game: "skirmish", mode: WarmCold,
		// A cache that is stale for one tick in many, and right in all others.
		mistake: []edit{{"examples/skirmish/world.go", "\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n",
			"\t\tif w.Match.Tick != 97 || s.seen[i].kind == NoUnit {\n\t\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n\t\t}\n"}},
		tick: 97, field: "Units[", lines: []string{"s.seen[i]", "seen[i].at", ".seen[", "w.Match.Tick != 97"},
	},
	{
		commit: "4ad6bb6c", subject: "fixed/grid: test the moves beside a changed row",
		game: "skirmish", mode: WarmCold,
		// Walls that rise in the match, and a ground that makes only the rows of them anew.
		reach: []edit{{"examples/skirmish/step.go", "\tderive(w)\n\tw.workspace.turn = t\n",
			"\tif t.Tick == 60 {\n\t\tfor x := 6; x < int(w.Map.Size)-6; x++ {\n\t\t\tw.Map.set(x, int(w.Map.Size)/2, x%3 != 0)\n\t\t}\n\t}\n\tderive(w)\n\tw.workspace.turn = t\n"}},
		mistake: []edit{{"fixed/grid/ground.go", "if g.changed[y] || y > 0 && g.changed[y-1] || y+1 < int(s.Rows) && g.changed[y+1] {", "if g.changed[y] {"}},
		tick:    61, field: "Units[ID=52].Pos", lines: []string{"w.waypoint(i)", "ground.sees(u.Pos"}, // where the rules first use it
	},
	{
		commit: "db468d2e", subject: "locksteptest: find rules that write into the configuration",
		game: "platforms", mode: WarmCold,
		mistake: []edit{{"examples/platforms/step.go", "\tall := w.obstacles(c)\n", "\tif w.Tick == 70 {\n\t\tc.MoveStep++\n\t}\n\tall := w.obstacles(c)\n"}},
		tick:    72, field: "Units[0].X", lines: []string{"func step("}, // it gets another configuration
	},
}

// TestMuseum plants the mistakes of the repository's history again: the tick, a field and the line are named.
func TestMuseum(t *testing.T) {
	if every == 0 {
		t.Skip("SAMESTEP_LINES is not set: builds and runs seven versions of games")
	}
	dir := t.TempDir()
	files := map[string]string{}
	for _, r := range relics {
		t.Run(r.commit, func(t *testing.T) {
			if r.mode == Platforms && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
				t.Skip("runs programs for linux/386, on linux/amd64 only")
			}
			if files[r.game] == "" {
				files[r.game] = playedGame(r.game).record(t, dir)
			}
			found := r.find(t, files[r.game])
			var text bytes.Buffer
			found.WriteText(&text)
			f := found.Finding
			if found.Mode != r.mode || f == nil || !r.names(f.Where[0]) && !r.names(f.Where[1]) && !r.names(f.Written) {
				t.Errorf("want a line with one of %q:\n%s", r.lines, &text)
			}
			if r.tick > 0 && found.Tick != r.tick || found.Tick == 0 {
				t.Errorf("got tick %d, want %d", found.Tick, r.tick)
			}
			if r.panics != "" && !strings.Contains(found.Panics[1], r.panics) {
				t.Errorf("got the panic %q, want %q", found.Panics[1], r.panics)
			}
			if r.panics == "" && !slices.ContainsFunc(found.Fields, func(x Field) bool { return strings.HasPrefix(x.Path, r.field) }) {
				t.Errorf("got fields %v, want %s", found.Fields, r.field)
			}
		})
	}
}

func (r *relic) names(p *Place) bool {
	return p != nil && slices.ContainsFunc(r.lines, func(l string) bool { return strings.Contains(p.Source, l) })
}

// find looks for the line.
func (r *relic) find(t *testing.T, path string) *Result {
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := searchIn(t, f)
	s.result.Mode = r.mode
	root := filepath.Join("..", "..")
	s.dir, s.Last = root, 400
	whole := editing(t, root, editing(t, root, nil, r.reach), r.mistake)
	switch s.Edits = whole; r.mode {
	case Versions:
		a, b := s.side("A", s.dir), s.side("B", s.dir)
		a.edits, b.edits = editing(t, root, nil, r.reach), whole
		if err = s.build(context.Background(), a, b); err == nil {
			err = s.two(context.Background(), [2]*side{a, b})
		}
	case Platforms:
		s.Platform = r.platform
		err = s.platforms(context.Background())
	default:
		err = s.alone(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.result
}

// editing returns edits of files in a folder, and some more.
func editing(t *testing.T, dir string, before map[string][]byte, more []edit) map[string][]byte {
	t.Helper()
	all := maps.Clone(before)
	if all == nil {
		all = map[string][]byte{}
	}
	for _, e := range more {
		path, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(e.file)))
		if err != nil {
			t.Fatal(err)
		}
		src, ok := all[path]
		if !ok {
			if src, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(src, []byte(e.old)); n != 1 {
			t.Fatalf("%s: has %d times %q, want once", e.file, n, e.old)
		}
		all[path] = bytes.Replace(src, []byte(e.old), []byte(e.new), 1)
	}
	return all
}

// Each mistake of the tables can be planted in the code of today. A table takes minutes, and this a moment.
func TestMistakesCanBePlanted(t *testing.T) {
	for _, r := range relics {
		t.Run(r.commit, func(t *testing.T) { editing(t, filepath.Join("..", ".."), nil, slices.Concat(r.reach, r.mistake)) })
	}
	for _, b := range selfishBugs {
		t.Run(b.name, func(t *testing.T) { bug{name: b.name, file: b.file, old: b.old, new: b.new}.plant(t, "skirmish") })
	}
	for game, list := range bugs {
		for _, b := range list {
			t.Run(game+"/"+b.name, func(t *testing.T) { b.plant(t, game) })
		}
	}
}

// The museum quotes commits of this repository.
func TestMuseumQuotesCommits(t *testing.T) {
	for _, r := range relics {
		out, err := exec.Command("git", "show", "-s", "--format=%s", r.commit).Output()
		if err != nil {
			t.Skipf("no git, or only the latest commits: %v", err)
		}
		if got := strings.TrimSpace(string(out)); got != r.subject {
			t.Errorf("%s: got the subject %q, want %q", r.commit, got, r.subject)
		}
	}
}

// A bug is a mistake in the rules of a game, planted in one of two versions.
type bug struct {
	name     string
	file     string // in examples
	old, new string // source, which is in the file once
	// also has further lines that name the bug, besides those of old and new: of the first expression that uses a changed
	// constant, or of the statement that two swapped lines stand around.
	also string
	not  string // is in a line of new that is no bug
}

// bugs are of the kinds that people make: a wrong operator, constant or variable, a forgotten or doubled statement, another
// order, a missing condition, an early return.
var bugs = map[string][]bug{
	"skirmish": {
		{name: "a wrong constant is assigned", file: "combat.go", old: "u.Cooldown = t.Cooldown\n", new: "u.Cooldown = t.Cooldown + 1\n"},
		{name: "a reset is forgotten", file: "combat.go", old: "\tu.Stuck = 0\n\tif u.Cooldown > 0 {", new: "\tif u.Cooldown > 0 {"},
		{name: "a comparison is off by one", file: "combat.go", old: "if u.Cooldown > 0 {\n\t\treturn", new: "if u.Cooldown > 1 {\n\t\treturn"},
		{name: "an argument of a draw is off by one", file: "combat.go", old: "uint32(t.Damage)/4+1)", new: "uint32(t.Damage)/4+2)"},
		{name: "assigned instead of added", file: "combat.go", old: "w.workspace.damage[j] += damage", new: "w.workspace.damage[j] = damage"},
		{name: "a count is forgotten", file: "combat.go", old: "\t\tby.Kills++\n", new: ""},
		{name: "a wrong variable", file: "combat.go", old: "w.player(u.Owner).Losses++", new: "w.player(by.Owner).Losses++"},
		{name: "a condition is missing", file: "combat.go", old: "if u.fights() && u.Target == 0 && (", new: "if u.fights() && ("},
		{name: "another constant in a sum", file: "combat.go", old: "u.Kind.Traits().Sight+3)", new: "u.Kind.Traits().Sight+1)"},
		{name: "a condition of a loop in a helper", file: "combat.go", old: "if v.team == team {", new: "if v.team <= team {"},
		{name: "statements are swapped", file: "step.go", old: "\tw.strike()\n\tw.cross()\n\tw.bury()\n", new: "\tw.bury()\n\tw.strike()\n\tw.cross()\n"},
		{name: "a statement is forgotten", file: "step.go", old: "\tw.regrow()\n", new: ""},
		{name: "a loop runs backwards", file: "step.go", old: "for i := range w.Units {", new: "for i := len(w.Units) - 1; i >= 0; i-- {"},
		{name: "a wrong sign", file: "survey.go", old: "by.X += d.X * overlap / 2", new: "by.X -= d.X * overlap / 2"},
		{name: "a wrong divisor", file: "move.go", old: "square(speed/4)", new: "square(speed/2)"},
		{name: "an early return", file: "survey.go", old: "\ts := &w.workspace\n\there := s.seen[i].at\n", new: "\ts := &w.workspace\n\tif w.Units[i].Kind == Worker {\n\t\treturn\n\t}\n\there := s.seen[i].at\n"},
		{name: "a wrong constant in a call", file: "survey.go", old: "fixed.Clamp(by.X, -shove, shove)", new: "fixed.Clamp(by.X, -shove, shove-1)"},
		{name: "a sum is forgotten", file: "economy.go", old: "\tp.Gathered += uint32(u.Cargo)\n", new: ""},
		{name: "a reset comes too early", file: "economy.go", old: "\tp.Crystals += uint32(u.Cargo)\n\tp.Gathered += uint32(u.Cargo)\n\tu.Cargo = 0\n", new: "\tp.Gathered += uint32(u.Cargo)\n\tu.Cargo = 0\n\tp.Crystals += uint32(u.Cargo)\n"},
		{name: "a comparison lets zero through", file: "economy.go", old: "if u.Queue > 0 {\n\t\tu.Work", new: "if u.Queue >= 0 {\n\t\tu.Work"},
		{name: "a comparison is off by one in a countdown", file: "economy.go", old: "if u.Work > 1 {", new: "if u.Work > 0 {"},
		{name: "a wrong limit in min", file: "economy.go", old: "taken := min(load, c.Amount)", new: "taken := min(load+1, c.Amount)"},
		{name: "a wrong value in a multiple assignment", file: "economy.go", old: "u.Phase, u.Source, u.Target = phaseHome, source", new: "u.Phase, u.Source, u.Target = phaseOut, source"},
		{name: "the start of a loop is off by one", file: "economy.go", old: "for i := int(w.Match.Tick % growTicks);", new: "for i := int((w.Match.Tick + 1) % growTicks);"},
		{name: "a wrong key", file: "economy.go", old: "p.Crystals < Worker.Traits().Cost", new: "p.Crystals < Soldier.Traits().Cost"},
		{name: "a price is paid once for many", file: "obey.go", old: "player.Crystals -= n * t.Cost", new: "player.Crystals -= t.Cost"},
		{name: "a counter is forgotten", file: "obey.go", old: "\t\tspot++\n\t\tw.send(", new: "\t\tw.send("},
		{name: "a field is left out of a multiple assignment", file: "obey.go", old: "w.send(u, task, at, via)\n\t\tu.Next, u.Target, u.Source = Idle, 0, 0", new: "w.send(u, task, at, via)\n\t\tu.Next, u.Source = Idle, 0"},
		{name: "a wrong field is copied", file: "unit.go", old: "u.Home, u.Goal, u.Via = u.Pos, goal, via", new: "u.Home, u.Goal, u.Via = goal, goal, via"},
		{name: "all do it in the same tick", file: "survey.go", old: "(tick+uint32(u.ID))%lookout == 0 }", new: "tick%lookout == 0 }"},
		{name: "a call without a result is forgotten", file: "fog.go", old: "\tfog.Clear()\n", new: ""},
		{name: "a constant of the package", file: "economy.go", old: "mineTicks = 40 ", new: "mineTicks = 41 ", also: "mineTicks"},
		{name: "a number in a table", file: "kinds.go", old: "Health: 100, Damage: 7,", new: "Health: 100, Damage: 8,", also: "&traits[k]"},
		{name: "a test is turned around", file: "combat.go", old: "if w.inReach(i, j) {\n\t\tw.hit(i, j)\n\t\tif !u.stays() {", new: "if w.inReach(i, j) {\n\t\tw.hit(i, j)\n\t\tif u.stays() {"},
		{name: "break instead of continue", file: "survey.go", old: "if overlap <= 0 || int(j) == i {\n\t\t\t\tcontinue", new: "if overlap <= 0 || int(j) == i {\n\t\t\t\tbreak"},

		{name: "beside a statement that was moved to a function of its own", file: "combat.go", old: "\tu.Stuck = 0\n\tif u.Cooldown > 0 {\n\t\treturn", new: "\tfunc() { u.Stuck = 0 }()\n\tif u.Cooldown > 1 {\n\t\treturn", not: "Stuck"},

		// These were written after the code that they test.
		{name: "a digit of a limit is missing", file: "unit.go", old: "patience  = 40 ", new: "patience  = 4 ", also: "patience"},
		{name: "a list is cut short", file: "combat.go", old: "w.Units = w.Units[:alive]", new: "w.Units = w.Units[:max(alive, 1)-1]"},
		{name: "a unit too many is made", file: "economy.go", old: "u.Queue--\n", new: "u.Queue -= min(u.Queue, 2)\n"},
		{name: "a half is forgotten", file: "survey.go", old: "by.Y += d.Y * overlap / 2", new: "by.Y += d.Y * overlap"},
		{name: "a wrong place is sensed", file: "world.go", old: "s.seen[i] = outside{u.Pos,", new: "s.seen[i] = outside{u.Goal,"},
		{name: "a comparison is turned around", file: "economy.go", old: "b.Owner == u.Owner && d < nearest", new: "b.Owner == u.Owner && d > nearest"},
		{name: "a loop ends too early", file: "world.go", old: "for i := range w.Units {\n\t\tu := &w.Units[i]\n\t\ts.seen[i]", new: "for i := range len(w.Units) - 1 {\n\t\tu := &w.Units[i]\n\t\ts.seen[i]"},
		{name: "two arguments are swapped", file: "move.go", old: "u.Pos.MoveToward(goal, u.Kind", new: "goal.MoveToward(u.Pos, u.Kind"},
		{name: "parentheses are forgotten", file: "survey.go", old: "(tick+uint32(u.ID))%lookout == 0 }", new: "tick+uint32(u.ID)%lookout == 0 }"},
		{name: "a return gives the wrong thing", file: "combat.go", old: "\treturn w.Units[best].ID\n", new: "\treturn w.Units[max(best, 1)-1].ID\n"},
		{name: "an else is forgotten", file: "economy.go", old: "\t\t\tu.Phase, u.Work = phaseWork, mineTicks\n\t\t} else {\n\t\t\tw.advance(i)\n", new: "\t\t\tu.Phase, u.Work = phaseWork, mineTicks\n"},
		{name: "a function is called twice", file: "step.go", old: "\tw.regrow()\n", new: "\tw.regrow()\n\tw.regrow()\n"},
	},
	"platforms": {
		{name: "a wrong sign", file: "commands.go", old: "u.MoveX = o.X\n", new: "u.MoveX = -o.X\n"},
		{name: "a reset is forgotten", file: "step.go", old: "\tu.MoveY = 0\n", new: ""},
		{name: "a default case is forgotten", file: "step.go", old: "\tdefault:\n\t\tu.VY = 0\n", new: ""},
		{name: "a limit is forgotten", file: "step.go", old: "u.VY = max(-c.FallSpeed, u.VY-c.JumpGravity)", new: "u.VY = u.VY - c.JumpGravity"},
		{name: "a comparison lets zero through", file: "step.go", old: "case u.VY > 0:", new: "case u.VY >= 0:"},
		{name: "a condition is missing", file: "step.go", old: "if u.MoveY == 1 && grounded {", new: "if u.MoveY == 1 {"},
		{name: "off by one", file: "step.go", old: "w.Tick = uint32(turn.Tick) - 1 //", new: "w.Tick = uint32(turn.Tick) //"},
		{name: "a wrong limit in a function literal", file: "step.go", old: "o.top-at.bottom <= 1 &&", new: "o.top-at.bottom <= -1 &&"},
		{name: "a wrong divisor", file: "step.go", old: "u.VY = max(0, u.VY-c.JumpGravity)", new: "u.VY = max(0, u.VY-c.JumpGravity/2)"},
		{name: "loops are swapped", file: "step.go", old: "\tfor i := range w.Units {\n\t\tw.move(i, c, all)\n\t}\n\tfor i := range w.Units {\n\t\tw.trigger(i, c)\n\t}\n", new: "\tfor i := range w.Units {\n\t\tw.trigger(i, c)\n\t}\n\tfor i := range w.Units {\n\t\tw.move(i, c, all)\n\t}\n"},
		{name: "a field is not stored", file: "step.go", old: "\tu.Inside = inside\n", new: ""},
		{name: "a wrong string", file: "step.go", old: "u.X, u.Y = 0, 0", new: "u.X, u.Y = 1, 0"},
		{name: "a factor", file: "step.go", old: "int64(u.MoveX)*int64(c.MoveStep)", new: "2*int64(u.MoveX)*int64(c.MoveStep)"},
	},
}

// A hardLine is a bug in a construct that is hard to give probes. line is in the text of the line that names it; "" means the
// new one.
type hardLine struct{ file, old, new, line string }

var hardLines = map[string]hardLine{
	"a method of a generic type":   {"rules/generics.go", "t.left = t.left.put(k, v)", "t.left = t.left.put(k, t.value)", ""},
	"a generic function":           {"rules/generics.go", "total += v * scale", "total += v * (scale + 1)", ""},
	"a swap of generic values":     {"rules/generics.go", "*p, *other = *other, *p", "*p, *other = *other, *other", ""},
	"a function given to another":  {"rules/generics.go", "wide = append(wide, int64(v)+int64(k))", "wide = append(wide, int64(v)-int64(k))", ""},
	"a closure of a closure":       {"rules/flow.go", "return n * 2", "return n * 3", ""},
	"a method value":               {"rules/flow.go", "return int64(u.X) + int64(by)", "return int64(u.X) - int64(by)", ""},
	"a method expression":          {"rules/flow.go", "u.X += by\n", "u.X += by + 1\n", ""},
	"a select":                     {"rules/flow.go", "total *= 3", "total *= 4", ""},
	"a received value":             {"rules/flow.go", "in <- int64(w.Tick) % 5", "in <- int64(w.Tick) % 4", ""},
	"a deferred function":          {"rules/flow.go", "total = total*3 + n", "total = total*2 + n", ""},
	"after a recovered panic":      {"rules/flow.go", "total += int64(r.(int)) + 7", "total += int64(r.(int)) + 8", ""},
	"a loop made of goto":          {"rules/flow.go", "n += int64(i)\nouter:", "n += int64(i) * 2\nouter:", "n += int64(i) * 2"},
	"a label that is continued":    {"rules/flow.go", "if k == int(w.Tick)%3 {", "if k == int(w.Tick)%2 {", ""},
	"an iterator":                  {"rules/flow.go", "if !yield(i * i) {", "if !yield(i * (i + 1)) {", ""},
	"the body of a range over one": {"rules/flow.go", "if square > 3 {", "if square > 4 {", ""},
	"a function in such a body":    {"rules/flow.go", "defer func() { n++ }()", "defer func() { n += 2 }()", ""},
	"an iterator that is pulled":   {"rules/flow.go", "if v == 9 {", "if v == 16 {", ""},
	"a file with a build tag":      {"rules/tagged.go", "int64(w.Tick) + 2", "int64(w.Tick) + 3", ""},
	"a method by two interfaces":   {"rules/shapes.go", "return b.legs.walk(by) + 1", "return b.legs.walk(by) + 2", ""},
	"an embedded interface":        {"rules/shapes.go", "l.n += by\n", "l.n -= by\n", ""},
	"a shadowed variable":          {"rules/shapes.go", "any += nil", "any -= nil", ""},
	"a function that init made":    {"rules/shapes.go", "n := first * int64(w.Tick)", "n := first - int64(w.Tick)", ""},
	"the order of initialization":  {"rules/shapes.go", "second = third()", "second = third() + 1", ""},
	"a shift":                      {"rules/shapes.go", "1 << (w.Tick % 60)", "2 << (w.Tick % 60)", ""},
	"a constant of iota":           {"rules/shapes.go", "small = 1 << iota", "small = 3 << iota", "small"},
	"what the call returns":        {"rules/orders.go", "c.n++\n\treturn c.n", "c.n += 2\n\treturn c.n", "c.n += 2"},
	"a list that is turned around": {"rules/orders.go", "n = n*3 + p.value", "n = n*2 + p.value", ""},
	"a module of a workspace":      {"sky/sky.go", "c := x * 3", "c := x * 5", ""},
	"a module that replace names":  {"ground/ground.go", "if x%7 == 3 {", "if x%7 == 4 {", ""},
	"a package below internal":     {"rules/internal/kinds/kinds.go", "return k == 1", "return k == 0", ""},
	"a field of a call's result":   {"rules/rules.go", "w.at(int(u.ID) - 1).Hops += uint32(len(w.Units)) / 3", "w.at(int(u.ID) - 1).Hops += uint32(len(w.Units)) * 2", ""},
}

// names reports whether a result names the bug.
func (l *hardLine) names(r *Result) bool {
	if r.Finding == nil || r.Finding.Place() == nil {
		return false
	}
	want := l.line
	if want == "" {
		want = strings.TrimSpace(l.new)
	}
	return slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(r.Finding.Place().Source, w) })
}
