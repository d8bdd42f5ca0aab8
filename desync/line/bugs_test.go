package line

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
		{name: "a wrong sign", file: "move.go", old: "by.X += d.X * overlap / 2", new: "by.X -= d.X * overlap / 2"},
		{name: "a wrong divisor", file: "move.go", old: "square(speed/4)", new: "square(speed/2)"},
		{name: "an early return", file: "move.go", old: "\ts := &w.workspace\n\there := s.seen[i].at\n", new: "\ts := &w.workspace\n\tif w.Units[i].Kind == Worker {\n\t\treturn\n\t}\n\there := s.seen[i].at\n"},
		{name: "a wrong constant in a call", file: "move.go", old: "fixed.Clamp(by.X, -shove, shove)", new: "fixed.Clamp(by.X, -shove, shove-1)"},
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
		{name: "all do it in the same tick", file: "flow.go", old: "(tick+uint32(u.ID))%lookout == 0 {\n\t\tu.Direct", new: "tick%lookout == 0 {\n\t\tu.Direct"},
		{name: "a call without a result is forgotten", file: "fog.go", old: "\tfog.Clear()\n", new: ""},
		{name: "a constant of the package", file: "economy.go", old: "mineTicks = 40 ", new: "mineTicks = 41 ", also: "mineTicks"},
		{name: "a number in a table", file: "kinds.go", old: "Health: 100, Damage: 7,", new: "Health: 100, Damage: 8,", also: "&traits[k]"},
		{name: "a test is turned around", file: "combat.go", old: "if w.inReach(i, j) {\n\t\tw.hit(i, j)\n\t\tif !u.stays() {", new: "if w.inReach(i, j) {\n\t\tw.hit(i, j)\n\t\tif u.stays() {"},
		{name: "break instead of continue", file: "move.go", old: "if overlap <= 0 || int(j) == i {\n\t\t\t\tcontinue", new: "if overlap <= 0 || int(j) == i {\n\t\t\t\tbreak"},

		{name: "beside a statement that was moved to a function of its own", file: "combat.go", old: "\tu.Stuck = 0\n\tif u.Cooldown > 0 {\n\t\treturn", new: "\tfunc() { u.Stuck = 0 }()\n\tif u.Cooldown > 1 {\n\t\treturn", not: "Stuck"},

		// These were written after the code that they test.
		{name: "a digit of a limit is missing", file: "unit.go", old: "patience  = 40 ", new: "patience  = 4 ", also: "patience"},
		{name: "a list is cut short", file: "combat.go", old: "w.Units = w.Units[:alive]", new: "w.Units = w.Units[:max(alive, 1)-1]"},
		{name: "a unit too many is made", file: "economy.go", old: "u.Queue--\n", new: "u.Queue -= min(u.Queue, 2)\n"},
		{name: "a half is forgotten", file: "move.go", old: "by.Y += d.Y * overlap / 2", new: "by.Y += d.Y * overlap"},
		{name: "a wrong place is sensed", file: "world.go", old: "s.seen[i] = outside{u.Pos,", new: "s.seen[i] = outside{u.Goal,"},
		{name: "a comparison is turned around", file: "economy.go", old: "b.Owner == u.Owner && d < nearest", new: "b.Owner == u.Owner && d > nearest"},
		{name: "a loop ends too early", file: "world.go", old: "for i := range w.Units {\n\t\tu := &w.Units[i]\n\t\ts.seen[i]", new: "for i := range len(w.Units) - 1 {\n\t\tu := &w.Units[i]\n\t\ts.seen[i]"},
		{name: "two arguments are swapped", file: "move.go", old: "u.Pos.MoveToward(goal, u.Kind", new: "goal.MoveToward(u.Pos, u.Kind"},
		{name: "parentheses are forgotten", file: "combat.go", old: "(w.Match.Tick+uint32(u.ID))%lookout == 0 {\n\t\tu.Target", new: "w.Match.Tick+uint32(u.ID)%lookout == 0 {\n\t\tu.Target"},
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
