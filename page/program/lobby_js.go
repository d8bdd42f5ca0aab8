package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/page/inspect"
)

// A usual is the configuration of a usual match, and the form in which it is changed.
type usual struct {
	Form  inspect.Field   `json:"form"`
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"` // why there is none, or ""
}

// Lobby adds the functions of the lobby. The first of several builds of a game counts.
func (f Functions) Lobby(games ...Game) { f.lobby(func() stock { return stockOf(games) }) }

// lobby is Lobby for games to which others are added.
func (f Functions) lobby(of func() stock) {
	f["games"] = func(Arguments) any { return string(List(of().games()...)) } // JSON
	f["configuration"] = func(a Arguments) any {                              // game, players, units (0: as usual), scenario, build, sum of its module (the last three may be left out); JSON
		scenario := a.text(3)
		g, problem := of().of(a[0].String(), a.text(4), a.text(5))
		if g == nil {
			return Text(usual{Error: problem})
		}
		u, err := g.usual(scenario, clamped[uint8](a.Int(1)), clamped[uint16](a.Int(2)))
		if err != nil {
			u.Error = err.Error()
		}
		return Text(u)
	}
}

// clamped returns the nearest value of a small unsigned type.
func clamped[T uint8 | uint16](v int64) T { return T(min(max(v, 0), int64(^T(0)))) }

// usual returns the configuration of a usual match or a scenario of some players, and with some units if that is not 0.
func (g *Game) usual(scenario string, players uint8, units uint16) (u usual, err error) {
	defer func() {
		if v := recover(); v != nil { // a game need not expect any number
			err = fmt.Errorf("the game's configuration panicked: %v", v)
		}
	}()
	var text bytes.Buffer
	at := slices.IndexFunc(g.Scenarios, func(s Scenario) bool { return s.Name == scenario })
	switch {
	case scenario != "" && at < 0:
		err = fmt.Errorf("unknown scenario %q", scenario)
	case at >= 0:
		err = g.WriteConfig(&text, g.Scenarios[at].Config(players))
	case units > 0 && g.Sized != nil:
		err = g.WriteConfig(&text, g.Sized(players, units))
	case g.Config != nil:
		err = g.WriteConfig(&text, g.Config(players))
	default:
		var zero any
		if zero, err = g.ReadConfig([]byte("{}"), nil); err == nil {
			err = g.WriteConfig(&text, zero)
		}
	}
	return usual{Form: inspect.FieldOf(g.ConfigSchema()), Value: text.Bytes()}, err
}
