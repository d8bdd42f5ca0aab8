// Package nullgame is a game without rules: its commands are opaque bytes, and its state
// is a hash of all commands in order. It can stand in for any game whose commands are
// known as bytes.
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

// Kinds is the number of kinds of commands of New: 0 to Kinds-1.
const Kinds = 256

type (
	// Opaque is a command of any kind.
	Opaque struct{ Data []uint8 }

	// World is the state: the number of commands, and the FNV-1a hash of their ticks,
	// players, sequences, kinds and data, in the order in which they ran. The seed of
	// the match is mixed into the first value of the hash.
	World struct {
		Tick  uint32
		Count uint64
		Hash  uint64
	}

	// Config is empty.
	Config struct{}
)

// New returns the game with the kinds 0 to 255. It is compiled once.
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

// Of returns the game with the given kinds of commands.
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

func step(w *World, _ *Config, t *lockstep.Turn) {
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
