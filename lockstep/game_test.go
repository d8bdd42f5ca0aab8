package lockstep_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The game of this package's tests: every seat has a pile of coins, which its
// player can raise, and give away; a hidden die decides small gifts.
type (
	bank struct {
		Tick  uint32
		Die   uint64
		Piles []pile
		Log   []uint16 // kinds of system commands, in order
	}
	pile struct {
		Coins  int64
		Seat   lockstep.Player
		Active bool
		Pad    [6]uint8
	}
	earn struct{ Coins uint16 }
	give struct {
		To    lockstep.Player
		Coins []uint16
	}
	crash  struct{}
	earned struct { // an event
		Player lockstep.Player
		Coins  uint16
	}
	bankConfig struct{ Start int64 }
)

func bankRules() lockstep.Rules[bank, bankConfig] {
	return lockstep.Rules[bank, bankConfig]{
		Name: "bank", Build: "1",
		Commands: []lockstep.CommandType{
			lockstep.Type[earn](1, "earn"),
			lockstep.Type[give](2, "give"),
			lockstep.Type[crash](9, "crash"),
		},
		New: func(w *bank, s *lockstep.Settings, c *bankConfig) error {
			if c.Start < 0 {
				return errors.New("negative start")
			}
			w.Die = s.Seed
			for p := range s.Players {
				w.Piles = append(w.Piles, pile{Coins: c.Start, Seat: lockstep.Player(p)})
			}
			return nil
		},
		Step: stepBank,
		Validate: func(w *bank, c *lockstep.Command) error {
			if g, ok := c.Value.(*give); ok && int(g.To) >= len(w.Piles) {
				return fmt.Errorf("no seat %d", g.To)
			}
			return nil
		},
		Describe: func(c *lockstep.Command) string {
			if e, ok := c.Value.(*earn); ok {
				return fmt.Sprintf("player %d earns %d coins", c.Player, e.Coins)
			}
			return ""
		},
	}
}

// faultyBankRules are bankRules of which one function panics.
func faultyBankRules(where string) lockstep.Rules[bank, bankConfig] {
	r := bankRules()
	switch where {
	case "New":
		r.New = func(*bank, *lockstep.Settings, *bankConfig) error { panic("fault") }
	case "Validate":
		r.Validate = func(*bank, *lockstep.Command) error { panic("fault") }
	case "Derive":
		r.Derive = func(*bank) { panic("fault") }
	}
	return r
}

func stepBank(w *bank, t *lockstep.Turn) {
	w.Tick++
	w.Die = w.Die*6364136223846793005 + 1442695040888963407
	w.Piles[w.Die>>33%uint64(len(w.Piles))].Coins++
	for i := range t.Commands {
		c := &t.Commands[i]
		switch m := c.Value.(type) {
		case *earn:
			w.Piles[c.Player].Coins += int64(m.Coins)
			lockstep.Emit(t, earned{c.Player, m.Coins})
		case *give:
			for _, n := range m.Coins {
				w.Piles[c.Player].Coins -= int64(n)
				w.Piles[int(m.To)%len(w.Piles)].Coins += int64(n)
			}
		case *crash:
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

func newBankMatch(tb testing.TB, seats uint8) (*lockstep.Game, *lockstep.Header) {
	tb.Helper()
	g, err := lockstep.NewGame(bankRules())
	if err != nil {
		tb.Fatal(err)
	}
	s := lockstep.DefaultSettings(seats)
	s.CheckEvery, s.KeyframeEvery = 5, 20
	h, err := g.NewHeader(lockstep.MatchID{1, 2, 3}, s, &bankConfig{Start: 100})
	if err != nil {
		tb.Fatal(err)
	}
	return g, h
}

func encode(tb testing.TB, g *lockstep.Game, value any) (lockstep.Kind, []byte) {
	tb.Helper()
	kind, b, err := g.NewPayloads().Encode(value)
	if err != nil {
		tb.Fatal(err)
	}
	return kind, b
}
