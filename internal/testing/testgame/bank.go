// Package testgame has the games, logs and matches that the tests of the engine share: a
// bank with every kind of field and an event, and a row of lamps for Examples.
package testgame

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The bank: each seat has a pile of coins, which its player can earn and give away. A
// random pile gets a coin in each tick.
type (
	Bank struct {
		Tick  uint32
		Die   uint64
		Piles []Pile
		Log   []uint16 // kinds of system commands, in order
	}
	Pile struct {
		Coins  int64
		Seat   lockstep.Player
		Active bool
		Pad    [6]uint8
	}
	Earn struct{ Coins uint16 }
	Give struct {
		To    lockstep.Player
		Coins []uint16
	}
	Crash  struct{}
	Earned struct { // an event
		Player lockstep.Player
		Coins  uint16
	}
	BankConfig struct{ Start int64 }
)

// BankRules are the rules of the bank.
func BankRules() lockstep.Rules[Bank, BankConfig] {
	return lockstep.Rules[Bank, BankConfig]{
		Name: "bank", Build: "1",
		Commands: []lockstep.CommandType{
			lockstep.Type[Earn](1, "earn"),
			lockstep.Type[Give](2, "give"),
			lockstep.Type[Crash](9, "crash"),
		},
		New: func(w *Bank, s *lockstep.Settings, c *BankConfig) error {
			if c.Start < 0 {
				return errors.New("negative start")
			}
			w.Die = s.Seed
			for p := range s.Players {
				w.Piles = append(w.Piles, Pile{Coins: c.Start, Seat: lockstep.Player(p)})
			}
			return nil
		},
		Step: StepBank,
		Validate: func(w *Bank, _ *BankConfig, c *lockstep.Command) error {
			if g, ok := c.Value.(*Give); ok && int(g.To) >= len(w.Piles) {
				return fmt.Errorf("no seat %d", g.To)
			}
			return nil
		},
		Describe: func(c *lockstep.Command) string {
			if e, ok := c.Value.(*Earn); ok {
				return fmt.Sprintf("player %d earns %d coins", c.Player, e.Coins)
			}
			return ""
		},
	}
}

// FaultyBankRules are the rules of the bank in which one function panics.
func FaultyBankRules(where string) lockstep.Rules[Bank, BankConfig] {
	r := BankRules()
	switch where {
	case "New":
		r.New = func(*Bank, *lockstep.Settings, *BankConfig) error { panic("fault") }
	case "Validate":
		r.Validate = func(*Bank, *BankConfig, *lockstep.Command) error { panic("fault") }
	case "Derive":
		r.Derive = func(*Bank, *BankConfig) { panic("fault") }
	}
	return r
}

// StepBank is the step of the bank.
func StepBank(w *Bank, _ *BankConfig, t *lockstep.Turn) {
	w.Tick++
	w.Die = w.Die*6364136223846793005 + 1442695040888963407
	w.Piles[w.Die>>33%uint64(len(w.Piles))].Coins++
	for i := range t.Commands {
		c := &t.Commands[i]
		switch m := c.Value.(type) {
		case *Earn:
			w.Piles[c.Player].Coins += int64(m.Coins)
			lockstep.Emit(t, Earned{c.Player, m.Coins})
		case *Give:
			for _, n := range m.Coins {
				w.Piles[c.Player].Coins -= int64(n)
				w.Piles[int(m.To)%len(w.Piles)].Coins += int64(n)
			}
		case *Crash:
			panic("crash")
		case *lockstep.Joined:
			w.Piles[m.Player].Active = true
		case *lockstep.Left:
			w.Piles[m.Player].Active = false
		}
		if c.Player == lockstep.System {
			w.Log = append(w.Log, uint16(c.Kind))
		}
	}
}

// NewBankMatch returns the bank and the header of a match of it.
func NewBankMatch(tb testing.TB, seats uint8) (*lockstep.Game, *lockstep.Header) {
	tb.Helper()
	g, err := lockstep.NewGame(BankRules())
	if err != nil {
		tb.Fatal(err)
	}
	s := lockstep.DefaultSettings(seats)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 1, 5, 20
	h, err := g.NewHeader(lockstep.MatchID{1, 2, 3}, s, &BankConfig{Start: 100})
	if err != nil {
		tb.Fatal(err)
	}
	return g, h
}

// Encode returns the kind and the payload of a command.
func Encode(tb testing.TB, g *lockstep.Game, value any) (lockstep.Kind, []byte) {
	tb.Helper()
	kind, b, err := g.NewPayloads().Encode(value)
	if err != nil {
		tb.Fatal(err)
	}
	return kind, b
}
