//go:build !js

package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/internal/testing/logbench"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Game is a game that a program can host, play and verify. [New] makes one.
type Game struct {
	game *playable
	err  error // of the rules or the options
}

// An Option is a part of a game that its rules don't have.
type Option func(*playable) error

// New returns the game of some rules. [Main] reports an error of the rules or the options.
//
// Without [Bot], seats without a person give random commands. Without [Config], a match has the zero configuration, or that
// of --config.
func New[S, C any](rules lockstep.Rules[S, C], options ...Option) Game {
	g, err := lockstep.NewGame(rules)
	if err != nil {
		return Game{err: err}
	}
	p := &playable{
		Game:  g,
		usual: func(uint8) any { return new(C) },
		world: reflect.TypeFor[S](),

		configType: reflect.TypeFor[*C](),
		faulty:     faultinjection.Faulty(rules),
		loop:       logbench.NewLoop(rules),
		source:     sourceOf(reflect.TypeFor[S](), rules.Step),
	}
	for _, o := range options {
		if err := o(p); err != nil {
			return Game{err: fmt.Errorf("game %s: %w", g.Name(), err)}
		}
	}
	return Game{game: p}
}

// Bot lets bots of maker play in seats without a person. A bot looks at the state of its match and returns commands as
// pointers to their registered types, valid until the next call. Equal seeds must give equal bots.
func Bot(maker func(p lockstep.Player, seed uint64) lockstep.Bot) Option {
	return func(p *playable) error {
		p.maker = maker
		return nil
	}
}

// Config sets the configuration of a usual match of some players. The flag --config overrides fields of it. C is the type
// of the game's configuration.
func Config[C any](usual func(players int) C) Option {
	return func(p *playable) error {
		if err := p.wants(new(C)); err != nil {
			return fmt.Errorf("tool.Config: %w", err)
		}
		p.usual = func(players uint8) any {
			c := usual(int(players))
			return &c
		}
		return nil
	}
}

// Units lets the field Units of the configuration choose the size of a match, as --config does with {"Units": 300}: sized returns the
// configuration of a match with about as many units. It is for games in which several fields follow from this one.
func Units[C any](sized func(players, units int) C) Option {
	return func(p *playable) error {
		if err := p.wants(new(C)); err != nil {
			return fmt.Errorf("tool.Units: %w", err)
		}
		if f, ok := reflect.TypeFor[C]().FieldByName(unitsField); !ok || f.Type.Kind() < reflect.Int || f.Type.Kind() > reflect.Uint64 {
			return fmt.Errorf("tool.Units: got a configuration without a whole number %s, want one with it", unitsField)
		}
		p.sized = func(players uint8, units uint16) any {
			c := sized(int(players), int(units))
			return &c
		}
		return nil
	}
}

// Page serves the files of a page on which the game is played. programs has the import paths of its WebAssembly programs by
// name: NAME.wasm is built from each.
func Page(files func() fs.FS, programs map[string]string) Option {
	return func(p *playable) error {
		p.page = &webPage{files: files, programs: programs}
		return nil
	}
}

// Source says how the Go tests that fuzz writes refer to the game. Without it, they call the function that makes the rules
// without arguments, or Rules in the package of the state. A game whose rules need arguments says it.
func Source(s locksteptest.Source) Option {
	return func(p *playable) error {
		if s.Package == "" || s.Path == "" || s.Game == "" {
			return fmt.Errorf("tool.Source: got %+v, want Package, Path and Game", s)
		}
		p.source = s
		return nil
	}
}

// Floor sets the least that the matches of fuzz, golden and simulate must reach: the ticks of one match, and of all together the
// percentages of the kinds of commands and of the state's fields, as in locksteptest.Floor.
func Floor(ticks, kinds, fields int) Option {
	return func(p *playable) error {
		p.floor = locksteptest.Floor{Ticks: ticks, Kinds: kinds, Fields: fields}
		if kinds > 100 || fields > 100 {
			return fmt.Errorf("tool.Floor: got %d %% of the kinds and %d %% of the fields, want at most 100", kinds, fields)
		}
		return nil
	}
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
			config, err = nil, fmt.Errorf("game %s has no configuration of a match of %s: its function panicked: %v", g.Name(), count(int(players), "seat"), v)
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

// sourceOf guesses how a Go test makes the game: by the function that makes the rules, if Step is a function literal in it,
// and otherwise by a function Rules in the package of the state.
func sourceOf(state reflect.Type, step any) locksteptest.Source {
	pkg, rules := state.PkgPath(), "Rules"
	if f := runtime.FuncForPC(reflect.ValueOf(step).Pointer()); f != nil {
		folder, name := path.Split(f.Name()) // such as example.com/hex.Rules.func1
		parts := strings.Split(name, ".")
		if len(parts) > 2 && strings.HasPrefix(parts[2], "func") {
			pkg, rules = folder+parts[0], parts[1]
		}
		pkg = cmp.Or(pkg, folder+parts[0])
	}
	if pkg == "main" {
		return locksteptest.Source{Package: "main", Path: ".", Game: "lockstep.MustGame(" + rules + "())"}
	}
	name := path.Base(pkg)
	return locksteptest.Source{
		Package: name + "_test", Path: pkg, Imports: []string{pkg},
		Game: "lockstep.MustGame(" + name + "." + rules + "())",
	}
}
