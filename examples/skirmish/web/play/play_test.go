package play_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
)

// newMatch returns the first state of a match of two players.
func newMatch(t testing.TB) *lockstep.Simulation {
	t.Helper()
	game := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(2, 40)
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	h, err := game.NewHeader(lockstep.MatchID{1}, settings, &config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A table is a player in a match that advances only when the script advances it.
type table struct {
	t      *testing.T
	sim    *lockstep.Simulation
	world  *skirmish.World
	player *play.Player
	rules  lockstep.Rules[skirmish.World, skirmish.Config]
	seq    lockstep.Sequence
}

func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter {
		sim := newMatch(t)
		b := &table{t: t, sim: sim, world: lockstep.World[skirmish.World](sim), player: play.New(0), rules: skirmish.Rules()}
		b.player.Resize(800, 600)
		b.player.Look(b.world)
		return b.run
	})
}

// run does a step. Places are x and y, or at, the ID of a unit, or crystal, an index.
func (b *table) run(s *script.Step) string {
	p, w := b.player, b.world
	switch s.Verb {
	case "seat":
		b.player = play.New(lockstep.Player(s.Uint("number", 8)))
		b.player.Resize(800, 600)
		b.player.Look(w)
		return ""
	case "put":
		scene.Find(w, skirmish.UnitID(s.Uint("unit", 32))).Pos = b.place(s)
		return ""
	case "set":
		return b.set(s)
	case "wait": // a match goes on
		for range s.Uint("ticks", 16) {
			if err := b.sim.Step(&lockstep.Frame{Tick: b.sim.Tick() + 1}); err != nil {
				b.t.Fatal(err)
			}
		}
		p.Look(w)
		return ""
	case "look":
		p.LookAt(b.place(s))
		return ""
	case "click":
		x, y := b.pixel(s)
		if mode, _ := p.Mode(); mode != play.Select {
			return b.orders(p.Target(w, x, y, s.Has("shift")))
		}
		p.Click(w, x, y, s.Has("shift"), s.Has("twice"))
		return b.selected()
	case "tap":
		x, y := b.pixel(s)
		if orders := p.Tap(w, x, y); len(orders) > 0 {
			return b.orders(orders)
		}
		return b.selected()
	case "drag":
		p.Drag(w, int64(s.Uint("x0", 16)), int64(s.Uint("y0", 16)), int64(s.Uint("x1", 16)), int64(s.Uint("y1", 16)), s.Has("shift"))
		return b.selected()
	case "act":
		x, y := b.pixel(s)
		return b.orders(p.Act(w, x, y, s.Has("shift")))
	case "aim":
		x, y := b.pixel(s)
		return fmt.Sprintf("%q", p.Aim(w, x, y))
	case "ally": // the players are one team
		w.Players[1].Team = w.Players[0].Team
		return ""
	case "do":
		return b.orders(p.Do(w, s.String("action", "")))
	case "key":
		orders, known := p.Key(w, s.String("code", ""), s.Has("shift"), s.Has("control"))
		if !known {
			return "for nothing"
		}
		if len(orders) > 0 {
			return b.orders(orders)
		}
		return strings.TrimPrefix(b.orders(nil)+"\n"+b.selected(), "\n")
	case "ghost":
		x, y := b.pixel(s)
		kind, at, fits := p.Ghost(w, x, y)
		return fmt.Sprintf("%v at %v,%v, fits %v", kind, at.X, at.Y, fits)
	case "buttons":
		var lines []string
		for _, x := range p.Panel(w).Buttons {
			lines = append(lines, fmt.Sprintf("%s %s (%s) able %v on %v", x.Key, x.Label, x.Action, x.Able, x.On))
		}
		return strings.Join(lines, "\n")
	case "panel":
		return b.panel()
	}
	b.t.Fatalf("no such step: %s", s.Verb)
	return ""
}

// set changes the account, or a unit.
func (b *table) set(s *script.Step) string {
	if s.Has("crystals") {
		b.world.Players[0].Crystals = uint32(s.Uint("crystals", 32))
	}
	if s.Has("unit") {
		u := scene.Find(b.world, skirmish.UnitID(s.Uint("unit", 32)))
		u.Built = u.Built && !s.Has("unbuilt")
		if s.Has("idle") {
			u.Task = skirmish.Idle
		}
	}
	return ""
}

func (b *table) place(s *script.Step) fixed.Vec2 {
	switch {
	case s.Has("at"):
		return scene.Find(b.world, skirmish.UnitID(s.Uint("at", 32))).Pos
	case s.Has("crystal"):
		return b.world.Crystals[s.Uint("crystal", 16)].Pos
	}
	return fixed.Vec2{X: fixed.Q(s.Uint("x", 16)) * fixed.One, Y: fixed.Q(s.Uint("y", 16)) * fixed.One}
}

func (b *table) pixel(s *script.Step) (x, y int64) {
	if s.Has("at") || s.Has("crystal") {
		x, y = b.player.Pixel(b.place(s))
		if s.Has("right") {
			x += int64(s.Uint("right", 16))
		}
		return x, y
	}
	return int64(s.Uint("x", 16)), int64(s.Uint("y", 16))
}

func (b *table) selected() string {
	var names []string
	for _, id := range b.player.Selected() {
		names = append(names, fmt.Sprintf("%v %d", scene.Find(b.world, id).Kind, id))
	}
	if len(names) > 6 {
		names = append(names[:5], fmt.Sprintf("and %d more", len(names)-5))
	}
	return "selected: " + strings.Join(names, ", ")
}

// orders gives commands to the match, and returns them as text.
func (b *table) orders(commands []any) string {
	var lines []string
	frame := &lockstep.Frame{Tick: b.sim.Tick() + 1}
	payloads := lockstep.MustGame(skirmish.Rules()).NewPayloads()
	for _, c := range commands {
		b.seq++
		kind, payload, err := payloads.Encode(c)
		if err != nil {
			b.t.Fatal(err)
		}
		lines = append(lines, b.rules.Describe(&lockstep.Command{Player: b.player.Seat, Value: c}))
		frame.Commands = append(frame.Commands, lockstep.Command{
			Tick: frame.Tick, Player: b.player.Seat, Sequence: b.seq, Kind: kind, Payload: append([]byte(nil), payload...),
		})
	}
	if len(commands) > 0 {
		if err := b.sim.Step(frame); err != nil {
			b.t.Fatal(err)
		}
	}
	if text := b.player.Problem(); text != "" {
		lines = append(lines, "problem: "+text)
	}
	return strings.Join(lines, "\n")
}

func (b *table) panel() string {
	p := b.player.Panel(b.world)
	var lines []string
	if a := p.Account; a != nil {
		lines = append(lines, fmt.Sprintf("%d crystals, %d of %d units, army %d, workers %d, idle %d", a.Crystals, a.Units, a.Cap, a.Army, a.Workers, a.Idle))
	}
	for _, s := range p.Players {
		lines = append(lines, fmt.Sprintf("player %d %s, %d units", s.Player, s.Status, s.Units))
	}
	for _, k := range p.Selected {
		lines = append(lines, fmt.Sprintf("%d × %s, health %d", k.Number, k.Kind, k.Health))
	}
	if o := p.One; o != nil {
		lines = append(lines, fmt.Sprintf("unit %d, a %s of player %d, %d of %d, task %q, making %d × %s", o.ID, o.Kind, o.Owner, o.Health, o.Full, o.Task, o.Queue, o.Making))
	}
	return strings.Join(append(lines, fmt.Sprintf("groups %v, mode %q", p.Groups, p.Mode)), "\n")
}
