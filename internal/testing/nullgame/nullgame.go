// Package nullgame is a game without rules, for tests: its commands are bytes
// that nobody understands, and its state is a hash of all that it has seen, in
// order. With it a real match of any game goes through the engine.
//
//	game := nullgame.New()
//	header, err := game.NewHeader(id, lockstep.DefaultSettings(10), &nullgame.Config{})
//	payload, err := game.NewPayloads().EncodeAs(kind, &nullgame.Opaque{Data: data})
package nullgame

import (
	"fmt"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Kinds is how many kinds of commands the game of New has: 0 to Kinds-1.
const Kinds = 256

type (
	// Opaque is a command of any kind.
	Opaque struct{ Data []uint8 }

	// World is the state: how many commands there were, and the FNV-1a hash of
	// their ticks, players, sequences, kinds and data, in the order in which
	// they ran. It begins with the match's seed.
	World struct {
		Tick  uint32
		Count uint64
		Hash  uint64
	}

	// Config is empty.
	Config struct{}
)

// New returns the game with kinds 0 to 255. It is compiled once.
func New() *lockstep.Game { return game() }

var game = sync.OnceValue(func() *lockstep.Game {
	var kinds []lockstep.Kind
	for kind := range lockstep.Kind(Kinds) {
		kinds = append(kinds, kind)
	}
	g, err := Of(kinds)
	if err != nil {
		panic(err) // the kinds are constants
	}
	return g
})

// Of returns the game with some kinds of commands.
func Of(kinds []lockstep.Kind) (*lockstep.Game, error) {
	rules := lockstep.Rules[World, Config]{
		Name: "null", Build: "1",
		New: func(w *World, s *lockstep.Settings, _ *Config) error {
			w.Hash = 0xcbf29ce484222325 ^ s.Seed
			return nil
		},
		Step: step,
	}
	for _, kind := range kinds {
		rules.Commands = append(rules.Commands, lockstep.Type[Opaque](kind, fmt.Sprintf("kind %d", kind)))
	}
	return lockstep.NewGame(rules)
}

func step(w *World, t *lockstep.Turn) {
	w.Tick++
	for i := range t.Commands {
		c := &t.Commands[i]
		w.Count++
		for _, v := range [...]uint32{uint32(c.Tick), uint32(c.Player), uint32(c.Sequence), uint32(c.Kind)} {
			w.add(byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		if m, ok := c.Value.(*Opaque); ok {
			w.add(m.Data...)
		}
	}
}

func (w *World) add(data ...byte) {
	for _, b := range data {
		w.Hash = (w.Hash ^ uint64(b)) * 0x100000001b3
	}
}
