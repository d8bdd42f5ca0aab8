// Package rules has the rules of the game: every player sends a digger to gold, and the match ends when all gold is found.
package rules

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A World is the state of a match: plain data, without maps, pointers and floats.
type World struct {
	Diggers []Digger // by player
	Gold    []fixed.Vec2
}

// A Digger is the one unit of a player.
type Digger struct {
	At, To fixed.Vec2
	Found  uint32
	Owner  lockstep.Player
	Tired  uint8 // ticks until it can walk again
}

// A Config has the options of a match. Rules only read it.
type Config struct {
	Gold  uint16  // places with gold, 1 to 1000
	Speed fixed.Q // cells in a tick
}

// Walk is the command that sends the player's digger to a cell. The map has 256×256 cells.
type Walk struct{ X, Y uint8 }

func (c *Walk) at() fixed.Vec2 {
	return fixed.Vec2{X: fixed.FromInt(int64(c.X)), Y: fixed.FromInt(int64(c.Y))}
}

// A Score is the result of a match.
type Score struct{ Found []uint32 } // by player

// A Struck is an event, such as for a sound: a digger has found gold.
type Struck struct{ Player lockstep.Player }

// Usual returns the options of a usual match.
func Usual(players int) Config { return Config{Gold: uint16(8 * players), Speed: fixed.One} }

// Rules returns the rules of the game. Raise Build whenever the same commands may lead to another state.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name:     "goldrush",
		Build:    "1",
		Commands: []lockstep.CommandType{lockstep.Type[Walk](1, "walk")},
		Result:   lockstep.Result[Score](),
		New:      start,
		Step:     step,
		View:     lockstep.View(see, refuse),
		Describe: describe,
		SelfTest: fixed.SelfTest,
	}
}

func start(w *World, settings *lockstep.Settings, config *Config) error {
	if config.Gold == 0 || config.Gold > 1000 {
		return fmt.Errorf("gold: got %d, want 1 to 1000", config.Gold)
	}
	if config.Speed <= 0 {
		return errors.New("speed: want more than 0")
	}
	chance := fixed.NewRand(settings.Seed)
	size := fixed.FromInt(256)
	place := func() fixed.Vec2 { return fixed.Vec2{X: chance.Range(0, size), Y: chance.Range(0, size)} }
	for p := range settings.Players {
		at := place()
		w.Diggers = append(w.Diggers, Digger{At: at, To: at, Owner: lockstep.Player(p)})
	}
	for range config.Gold {
		w.Gold = append(w.Gold, place())
	}
	return nil
}

// step advances the world by one tick.
func step(w *World, config *Config, turn *lockstep.Turn) {
	for _, c := range turn.Commands {
		if order, ok := c.Value.(*Walk); ok && int(c.Player) < len(w.Diggers) {
			w.Diggers[c.Player].To = order.at()
		}
	}
	for p := range w.Diggers {
		w.dig(&w.Diggers[p], config, turn)
	}
	if len(w.Gold) == 0 {
		turn.End(w.score())
	}
}

// dig lets a digger walk, and take the gold that it has reached.
func (w *World) dig(d *Digger, config *Config, turn *lockstep.Turn) {
	if d.Tired > 0 {
		d.Tired--
		return
	}
	d.At = d.At.MoveToward(d.To, config.Speed)
	for i, gold := range w.Gold {
		if d.At.InRange(gold, fixed.One) {
			d.Found++
			d.Tired = 20
			lockstep.Emit(turn, Struck{d.Owner})
			w.Gold = append(w.Gold[:i], w.Gold[i+1:]...)
			return
		}
	}
}

func (w *World) score() *Score {
	s := &Score{}
	for i := range w.Diggers {
		s.Found = append(s.Found, w.Diggers[i].Found)
	}
	return s
}

// describe tells people what a command does.
func describe(c *lockstep.Command) string {
	order, ok := c.Value.(*Walk)
	if !ok {
		return ""
	}
	return fmt.Sprintf("player %d walks to %d,%d", c.Player, order.X, order.Y)
}
