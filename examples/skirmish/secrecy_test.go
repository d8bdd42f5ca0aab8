package skirmish

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/module/guest"
	"github.com/seed-49bee653/samestep/state"
)

// No view and no answer to a command tells what a viewer must not know. Bots play, so that there is more to hide.
func TestViewsKeepSecrets(t *testing.T) {
	config := Sized(4, 60)
	config.Teams, config.Size, config.Crystals = 2, 128, 5000 // with rows of which nobody sees half
	bots := map[lockstep.Player]lockstep.Bot{}
	play := func(p lockstep.Player, s *lockstep.Simulation) []any {
		if bots[p] == nil {
			bots[p] = NewPlayer(p, 1)
		}
		return bots[p](s)
	}
	o := locksteptest.Options{Config: &config, Ticks: 400, Every: 80, Rate: 2, Play: play}
	locksteptest.CheckView(t, lockstep.MustGame(Rules()), o, locksteptest.Secrecy[World]{
		Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}, {As: lockstep.AsTeam}, {}},
		Hidden:  hiddenFrom,
		Felt:    felt,
	})
}

// felt reports whether a command may tell a hidden field by one of the view: units know the way through rock that nobody has
// seen, so their first step depends on it.
func felt(hidden, shown string) bool {
	return (strings.HasPrefix(hidden, "Map.Blocked[") || strings.HasPrefix(hidden, "Paths.")) && (strings.HasSuffix(shown, ".Pos.X") || strings.HasSuffix(shown, ".Pos.Y"))
}

// What a command does at once does not depend on what is hidden: the units go, and find out.
func TestCommandsTellNothing(t *testing.T) {
	for _, test := range []struct {
		name    string
		hide    func(w *World)
		command func(worker UnitID) any
	}{
		{"build on hidden rock", func(w *World) { wall(w, 10, 40, 10, 40) },
			func(id UnitID) any { return &Build{list(id), Tower, PointAt(cells(10, 40))} }},
		{"walk into rock without end", func(w *World) { wall(w, 1, 1, 40, 40) },
			func(id UnitID) any { return &Move{Who: list(id), To: PointAt(cells(8, 8))} }},
		{"mine what is empty", func(w *World) { w.Crystals[0].Amount = 0 },
			func(id UnitID) any { return &Gather{list(id), 0} }},
		{"mine elsewhere", func(w *World) { w.Crystals[0].Amount = 0 },
			func(id UnitID) any { return &Gather{list(id), 1} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := arena(t)
			clear(a.Map.Blocked)
			a.Crystals = append(a.Crystals, Crystal{Pos: cells(38, 50), Full: 9, Amount: 9}, Crystal{Pos: cells(50, 47), Full: 9})
			worker := put(a, Worker, 0, cells(50, 45)) // its base is at 50,50
			a.Fog[0].Look(a.Map.shape(), a.Crystals[0].Pos, 1)
			a.Fog[0].Remember()
			a.reveal(0) // knows the first crystal, and does not see it
			b := fork(a)
			test.hide(b)
			derive(b)
			view := func(w *World) (v View) {
				if err := see(w, nil, viewOf(w, 0), &v); err != nil {
					t.Fatal(err)
				}
				for i := range v.Units {
					v.Units[i].Pos = fixed.Vec2{} // see felt
				}
				return v
			}
			if !reflect.DeepEqual(view(a), view(b)) || hash(a) == hash(b) {
				t.Fatal("the difference shows, or there is none")
			}
			for _, w := range []*World{a, b} {
				advance(w, 1, by(0, test.command(worker)))
			}
			if got := unit(t, a, worker).Task; got == Idle {
				t.Errorf("the worker is %v", got)
			}
			if va, vb := view(a), view(b); !reflect.DeepEqual(va, vb) {
				t.Errorf("got other views:\n%+v\n%+v", va.Units, vb.Units)
			}
			until(t, b, 1500, func() bool { return unit(t, b, worker).Task == Idle || unit(t, b, worker).Cargo > 0 })
		})
	}
}

// hiddenFrom returns the fields that a viewer must not learn. It says it field by field, and see asks for the units.
func hiddenFrom(w *World, viewer lockstep.Viewer) (paths []string) {
	team := viewer.Number
	switch viewer.As {
	case lockstep.AsPlayer:
		team = w.Players[viewer.Number].Team
	case lockstep.AsSpectator:
		team = Observers
	}
	all := team == Observers && w.Open()
	knows := func(at fixed.Vec2) bool { return all || w.Knows(team, at) }
	sees := func(at fixed.Vec2) bool { return all || w.Sees(team, at) }
	hide := func(format string, at int, fields ...string) {
		for _, f := range fields {
			paths = append(paths, fmt.Sprintf(format, at)+f)
		}
	}
	paths = append(paths, "Match.Seed", "Match.NextID", "Rand", "Paths")
	if w.Match.Ended == 0 {
		paths = append(paths, "Samples")
	}
	for _, f := range []string{"Units", "Size", "Crystals", "Obstacles", "Workers", "Zones", "Observers", "Map"} {
		paths = append(paths, "Config."+f)
	}
	for p := range w.Players {
		hide("Players[%d].", p, "Gathered", "Buildings")
		if w.Players[p].Team != team {
			hide("Players[%d].", p, "Settled", "Resigns")
		}
		if !w.shares(team, w.Players[p].Team) {
			hide("Players[%d].", p, "Crystals", "Kills", "Losses", "Units")
		}
	}
	known := map[int]bool{} // words of the map of which a cell is explored
	for f := range w.Fog {
		if !w.shares(team, uint8(f)) {
			hide("Fog[%d]", f, "")
			continue
		}
		for i, word := range w.Fog[f].Explored {
			known[i] = known[i] || word != 0
		}
	}
	for i := range w.Map.Blocked {
		if !known[i] && !all {
			hide("Map.Blocked[%d]", i, "")
		}
	}
	for i := range w.Units {
		u := &w.Units[i]
		if w.shares(team, u.Team) {
			continue
		}
		hide("Units[%d].", i, "Goal", "Home", "Target", "Via", "Work", "Source", "Kills", "Then", "Task", "Phase", "Next", "Group", "Cargo", "Stuck", "Zone", "Slot", "Direct", "Making", "Queue", "Cooldown")
		if !sees(u.Pos) {
			hide("Units[%d].", i, "ID", "Health", "Kind", "Owner", "Built")
		}
	}
	for i := range w.Crystals {
		switch pos := w.Crystals[i].Pos; {
		case !knows(pos):
			hide("Crystals[%d].", i, "Amount", "Full")
		case !sees(pos):
			hide("Crystals[%d].", i, "Amount")
		}
	}
	for i := range w.Zones {
		hide("Zones[%d].", i, "Exit")
		if pos := w.Zones[i].Pos; !knows(pos) {
			hide("Zones[%d].", i, "Radius", "Kind", "Ready", "Holder")
		} else if !sees(pos) {
			hide("Zones[%d].", i, "Ready", "Holder")
		}
	}
	return paths
}

// A rulesMachine runs rules as a module does, without WebAssembly.
type rulesMachine struct {
	rules  lockstep.Rules[World, Config]
	config Config
}

// New implements abi.Machine.
func (m rulesMachine) New() (abi.Caller, error) {
	return guest.New(m.rules, func(int) Config { return m.config })
}

var configs = state.MustCompile[Config]()

// botsElsewhere returns bots for rules that run elsewhere.
func botsElsewhere(t *testing.T) func(lockstep.Player, *lockstep.Simulation) []any {
	payloads := lockstep.MustGame(Rules()).NewPayloads()
	bots := map[lockstep.Player]*Bot{}
	return func(p lockstep.Player, s *lockstep.Simulation) (values []any) {
		if bots[p] == nil {
			bots[p] = NewBot(p, 1)
		}
		w := new(World)
		if err := codec.Decode(s.AppendState(nil), w); err != nil {
			t.Fatal(err)
		}
		derive(w)
		for _, o := range bots[p].Think(w) {
			_, payload, err := payloads.Encode(o.Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, &record.Untyped{Kind: o.Kind, Canonical: bytes.Clone(payload)})
		}
		return values
	}
}

// Answers that tell what is hidden are found. Rules in Go cannot give them; a module can.
func TestOraclesAreFound(t *testing.T) {
	config := Sized(4, 20)
	config.Teams = 2
	others := []string{"cold twin", "restore", "late join", "copy", "redo", "refused", "derived", "fields", "round trip", "machine", "reading", "views"}
	told := func(w *World, p lockstep.Player, id UnitID) error {
		if i := w.find(id); i < 0 {
			return ErrUnknown
		} else if w.Units[i].Owner != uint8(p) {
			return ErrNotYours
		}
		return nil
	}
	for name, tell := range map[string]func(w *World, c *lockstep.Command) error{
		"nothing": func(w *World, c *lockstep.Command) error { return Judge(w, c.Player)(c.Value) },
		"stop": func(w *World, c *lockstep.Command) error {
			if v, ok := c.Value.(*Stop); ok && len(v.Who.Units) > 0 {
				return told(w, c.Player, v.Who.Units[0])
			}
			return nil
		},
		"train": func(w *World, c *lockstep.Command) error {
			if v, ok := c.Value.(*Train); ok {
				return told(w, c.Player, v.Building)
			}
			return nil
		},
		"build": func(w *World, c *lockstep.Command) error {
			if v, ok := c.Value.(*Build); ok && v.Kind.Building() && !w.fits(v.Kind, v.At.Vec2()) {
				return ErrNoRoom
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules := Rules()
			rules.View, rules.ViewOf = lockstep.ViewType{}, nil
			rules.Validate = func(w *World, _ *Config, c *lockstep.Command) error { return tell(w, c) }
			g, err := lockstep.NewGameElsewhere(testgame.Telling{Views: rulesMachine{Rules(), config}, Judge: rulesMachine{rules, config}})
			if err != nil {
				t.Fatal(err)
			}
			o := locksteptest.Options{Config: &record.Untyped{Canonical: configs.Append(nil, &config)}, Ticks: 100, Rate: 2, Skip: others, AllowThin: "it is short"}
			last := uint64(8)
			if name == "nothing" {
				last, o.Ticks, o.Every = 4, 20, 5
			}
			for o.Seed = 4; err == nil && o.Seed <= last; o.Seed++ {
				o.Play = botsElsewhere(t)
				_, err = locksteptest.Run(g, o)
			}
			if found := err != nil && strings.Contains(err.Error(), "the answer to a command reveals what is hidden: player "); found == (name == "nothing") || err != nil && !found {
				t.Errorf("got %v up to seed %d", err, o.Seed-1)
			}
		})
	}
}
