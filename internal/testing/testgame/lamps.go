package testgame

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The lamps: a row of lamps with switches, which all players may press.
type (
	Lamps struct {
		On      [4]bool
		Presses uint32
		Seats   uint8
	}
	Press  struct{ Lamp uint8 }
	Nobody struct{} // the configuration
)

// LampRules are the rules of the lamps.
var LampRules = lockstep.Rules[Lamps, Nobody]{
	Name:     "lamps",
	Build:    "1",
	Commands: []lockstep.CommandType{lockstep.Type[Press](1, "press")},
	New:      func(*Lamps, *lockstep.Settings, *Nobody) error { return nil },
	Step: func(w *Lamps, _ *Nobody, turn *lockstep.Turn) {
		for _, c := range turn.Commands {
			switch m := c.Value.(type) {
			case *Press:
				w.On[m.Lamp%4] = !w.On[m.Lamp%4]
				w.Presses++
				lockstep.Emit(turn, fmt.Sprintf("player %d presses %d", c.Player, m.Lamp))
			case *lockstep.Joined:
				w.Seats++
			case *lockstep.Left:
				w.Seats--
			}
		}
	},
	Validate: func(w *Lamps, _ *Nobody, c *lockstep.Command) error {
		if m, ok := c.Value.(*Press); ok && m.Lamp >= 4 {
			return errors.New("there are four lamps")
		}
		return nil
	},
}

// NewLamps starts a match of two players that writes its records to log.
func NewLamps(log lockstep.Log, o coordinator.Options) (*lockstep.Game, *coordinator.Coordinator) {
	game := lockstep.MustGame(LampRules)
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.CheckEvery, settings.KeyframeEvery = 1, 2, 4
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &Nobody{})
	if err != nil {
		panic(err)
	}
	header.Platform, header.Sources = "any", ""
	c, err := coordinator.New(game, header, log, o)
	if err != nil {
		panic(err)
	}
	for p := range lockstep.Player(2) {
		c.Join(p)
	}
	return game, c
}

// Ticks seals n ticks and prints errors.
func Ticks(c *coordinator.Coordinator, n int) {
	for range n {
		if _, err := c.Tick(); err != nil {
			fmt.Println(err)
		}
	}
}

// NewLampHost hosts a match of lamps. Without Authorize, all players are named Ann.
func NewLampHost(o host.Options) *host.Host {
	game := lockstep.MustGame(LampRules)
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.CheckEvery = 1, 2
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &Nobody{})
	if err != nil {
		panic(err)
	}
	header.Platform, header.Sources = "any", ""
	o.Random = func(b []byte) { b[0] = 1 } // a server uses crypto/rand.Read
	if o.Authorize == nil {
		o.Authorize = func(string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: "Ann"}, nil
		}
	}
	h, err := host.New(game, header, o)
	if err != nil {
		panic(err)
	}
	return h
}
