//go:build !js

package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/internal/testing/logbench"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A webPage is the page of a game.
type webPage struct {
	files    func() fs.FS
	programs map[string]string // import paths by name; NAME.wasm is built from each
	made     map[string][]byte // files that depend on the games, of program.Files
}

// A playable is a game that this program can simulate, host and play.
type playable struct {
	*lockstep.Game

	usual func(players uint8) any               // returns a pointer to the configuration of a usual match
	sized func(players uint8, units uint16) any // the same, of a match with some units; or nil
	maker func(p lockstep.Player, seed uint64) lockstep.Bot

	floor locksteptest.Floor

	scenarios, opponents []choice // by name

	faulty func(*faultinjection.Change) *lockstep.Game // for drill
	loop   func() logbench.Loop                        // for bench log
	world  reflect.Type                                // of the state

	configType reflect.Type // of pointers to configurations

	page   *webPage            // to play in a browser, or nil
	compat *otherWire          // of other clients, or nil
	source locksteptest.Source // names the game in Go tests

	module *rulesModule // with the rules, or nil
}

// A choice is a scenario or a kind of bots.
type choice struct {
	name  string
	seats int                                        // of a scenario, at most; 0: as many as the game allows
	usual func(players uint8) any                    // of a scenario
	maker func(lockstep.Player, uint64) lockstep.Bot // of bots
}

// wants returns an error unless config has the type of the game's configurations.
func (g *playable) wants(config any) error {
	if got, want := reflect.TypeOf(config), g.configType; got != want {
		return fmt.Errorf("got a configuration of type %v, want %v", got.Elem(), want.Elem())
	}
	return nil
}

// config returns a pointer to the game's configuration of a match with some units, if the game knows units. A game need not
// expect any number of seats: a panic is its refusal.
func (g *playable) config(players uint8, units uint16) (config any, err error) {
	defer func() {
		if v := recover(); v != nil {
			config, err = nil, fmt.Errorf("game %s has no configuration of a match of %s: its function panicked: %v", g.Name(), console.Count(int(players), "seat"), v)
		}
	}()
	if g.sized != nil && units > 0 {
		return g.sized(players, units), nil
	}
	return g.usual(players), nil
}

// unitsField is the field of a configuration that sizes the others, see [Units].
const unitsField = "Units"

// unitsIn returns the units in a configuration in JSON, or 0.
func (g *playable) unitsIn(override []byte) uint16 {
	var c struct{ Units uint16 }
	if g.sized == nil || json.Unmarshal(override, &c) != nil { // ReadConfig tells what is wrong
		return 0
	}
	return c.Units
}

// withUnits returns a configuration in JSON with a number of units, unless it says one or the game knows none.
func (g *playable) withUnits(override []byte, units uint16) []byte {
	fields := map[string]json.RawMessage{}
	if g.sized == nil || len(override) > 0 && json.Unmarshal(override, &fields) != nil || fields[unitsField] != nil {
		return override
	}
	fields[unitsField] = json.RawMessage(strconv.Itoa(int(units)))
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it is a map of JSON
	}
	return b
}

// configure returns a pointer to the configuration of a match with some units (0: as many as override says, or usual), in which the fields
// of override have its values. override is JSON, or empty.
func (g *playable) configure(players uint8, units uint16, override []byte) (any, error) {
	if units > 0 && g.sized == nil {
		return nil, fmt.Errorf("game %s has no number of units: change its configuration instead", g.Name())
	}
	usual, err := g.config(players, cmp.Or(units, g.unitsIn(override)))
	if err != nil || len(override) == 0 {
		return usual, err
	}
	return g.ReadConfig(override, usual)
}

// accepts returns an error if the game refuses a match with these options.
func (g *playable) accepts(players uint8, seed uint64, config any) error {
	settings := lockstep.DefaultSettings(players)
	settings.Seed = seed
	h, err := g.NewHeader(lockstep.MatchID{}, settings, config)
	if err == nil {
		_, err = g.NewSimulation(h)
	}
	return err
}

// botRate is how many commands a random bot gives in 16 samples: about one in a second.
const botRate = 1

// bot returns a bot for a seat: the game's own, or one that gives random commands.
func (g *playable) bot(p lockstep.Player, seed uint64) lockstep.Bot {
	if g.maker != nil {
		return g.maker(p, seed)
	}
	return locksteptest.RandomBot(g.Game, botRate, nil)(p, seed)
}

// length returns the number of ticks of a match of bots, which its rules end, and most if they do not.
func (g *playable) length(players uint8, seed uint64, config any, most lockstep.Tick) (lockstep.Tick, error) {
	var bots []lockstep.Bot
	return locksteptest.Length(g.Game, locksteptest.Options{Config: config, Players: players, Seed: seed, Ticks: most, Play: func(p lockstep.Player, s *lockstep.Simulation) []any {
		for len(bots) <= int(p) {
			bots = append(bots, g.bot(lockstep.Player(len(bots)), seed))
		}
		return bots[p](s)
	}})
}

// anyCommand returns a command that player 0 may give at the beginning of a match, if a random one is allowed.
func (g *playable) anyCommand(players uint8, override []byte) (*lockstep.Command, error) {
	config, err := g.configure(players, 0, override)
	if err != nil {
		return nil, err
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(players), config)
	if err != nil {
		return nil, err
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		return nil, err
	}
	random, payloads := locksteptest.RandomBot(g.Game, 16, nil)(0, 1), g.NewPayloads()
	var c *lockstep.Command
	for range 1000 {
		values := random(sim)
		if len(values) == 0 {
			continue
		}
		kind, payload, err := payloads.Encode(values[0])
		if err != nil {
			return nil, err
		}
		c = &lockstep.Command{Tick: 1, Sequence: 1, Kind: kind, Payload: slices.Clone(payload), Value: values[0]}
		if sim.Validate(c) == nil {
			return c, nil
		}
	}
	if c == nil {
		return nil, fmt.Errorf("game %s has no commands", g.Name())
	}
	return c, nil // the server refuses it, which is an answer too
}

// bots returns a maker of bots for all seats of a match, or nil without the game's own: then random commands carry the match.
func (g *playable) bots() func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
	if g.maker == nil {
		return nil
	}
	return func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
		var bots []lockstep.Bot
		return func(p lockstep.Player, s *lockstep.Simulation) []any {
			for len(bots) <= int(p) {
				bots = append(bots, g.maker(lockstep.Player(len(bots)), seed))
			}
			return bots[p](s)
		}
	}
}

// CompatOptions are what serve gives to the handler of [Compat], from its flags.
type CompatOptions struct {
	Match         string       // of connections that name none
	Strangers     bool         // clients whose token is unknown may watch
	Origins       []string     // hosts whose pages may connect from a browser
	MaxPerAddress int          // connections of one address
	Log           *slog.Logger // of the server
}

// An otherWire is the wire of other clients of a game.
type otherWire struct {
	usual  lockstep.Settings
	bridge func(*server.Server, CompatOptions) http.Handler
}
