// Package minimal is the smallest complete game on the engine: every player sends a dot across a map, and the dot
// collects the coins on its way.
package minimal

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A World is the state of a match: plain data, without maps, pointers and floats.
type World struct {
	Rand  fixed.Rand
	Dots  []Dot // by player
	Coins []fixed.Vec2
}

// A Dot is the one unit of a player.
type Dot struct {
	At, To fixed.Vec2
	Coins  uint32
}

// A Config has the options of a match.
type Config struct {
	Size  uint16 // of the square map, in cells
	Coins uint16
}

// Go is the command that sends the player's dot to a cell.
type Go struct{ X, Y uint16 }

// Collected is an event: a player's dot took a coin.
type Collected struct{ Player, Coin int }

// Rules returns the rules of the game.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name:     "minimal",
		Build:    "1",
		Commands: []lockstep.CommandType{lockstep.Type[Go](1, "go")},
		New:      start,
		Step:     step,
		Describe: describe,
		SelfTest: fixed.SelfTest,
	}
}

func start(w *World, settings *lockstep.Settings, config *Config) error {
	if config.Size == 0 {
		return errors.New("minimal: the map has no size")
	}
	w.Rand = fixed.NewRand(settings.Seed)
	w.Dots = make([]Dot, settings.Players)
	size := fixed.FromInt(int64(config.Size))
	for range config.Coins {
		w.Coins = append(w.Coins, fixed.Vec2{X: w.Rand.Range(0, size), Y: w.Rand.Range(0, size)})
	}
	return nil
}

// step advances the world by one tick.
func step(w *World, _ *Config, turn *lockstep.Turn) {
	for _, c := range turn.Commands {
		if order, ok := c.Value.(*Go); ok && int(c.Player) < len(w.Dots) {
			w.Dots[c.Player].To = fixed.Vec2{X: fixed.FromInt(int64(order.X)), Y: fixed.FromInt(int64(order.Y))}
		}
	}
	for p := range w.Dots {
		dot := &w.Dots[p]
		dot.At = dot.At.MoveToward(dot.To, fixed.One/4)
		for i, coin := range w.Coins {
			if dot.At.InRange(coin, fixed.One) {
				dot.Coins++
				lockstep.Emit(turn, Collected{Player: p, Coin: i})
				w.Coins = append(w.Coins[:i], w.Coins[i+1:]...)
				break // one a tick
			}
		}
	}
}

func describe(c *lockstep.Command) string {
	order, ok := c.Value.(*Go)
	if !ok {
		return ""
	}
	return fmt.Sprintf("player %d goes to %d,%d", c.Player, order.X, order.Y)
}
