//go:build !js

package gameset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"io"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/internal/testing/logbench"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A WebPage is the page of a game.
type WebPage struct {
	Files    func() fs.FS
	Programs map[string]string // import paths by name; NAME.wasm is built from each
	Made     map[string][]byte // files that depend on the games, of program.Files
}

// A Playable is a game that this program can simulate, host and play.
type Playable struct {
	*lockstep.Game

	Usual func(players uint8) any               // returns a pointer to the configuration of a usual match
	Sized func(players uint8, units uint16) any // the same, of a match with some units; or nil
	Maker func(p lockstep.Player, seed uint64) lockstep.Bot

	// Looks is Maker for bots that see views in canonical bytes, or nil.
	Looks func(p lockstep.Player, seed uint64) func(view []byte) []any

	// Score returns the score of a player in a state, with the result of the match or nil, or is nil: see tool.Score.
	Score func(world, result any, p lockstep.Player) int

	Floor locksteptest.Floor
	Tick  uint32 // microseconds of one in a usual match; 0 is that of DefaultSettings

	Scenarios, Opponents []Choice // by name

	Faulty func(*faultinjection.Change) *lockstep.Game // for drill
	Loop   func() logbench.Loop                        // for bench log
	World  reflect.Type                                // of the state

	ConfigType reflect.Type // of pointers to configurations

	Page   *WebPage            // to play in a browser, or nil
	Compat *OtherWire          // of other clients, or nil
	Source locksteptest.Source // names the game in Go tests

	Module *RulesModule // with the rules, or nil
}

// New returns the game of some rules.
func New[S, C any](rules lockstep.Rules[S, C]) (*Playable, error) {
	g, err := lockstep.NewGame(rules)
	if err != nil {
		return nil, err
	}
	return &Playable{
		Game: g, Usual: func(uint8) any { return new(C) }, World: reflect.TypeFor[S](), ConfigType: reflect.TypeFor[*C](),
		Faulty: faultinjection.Faulty(rules), Loop: logbench.NewLoop(rules), Source: sourceOf(reflect.TypeFor[S](), rules.Step),
	}, nil
}

// sourceOf guesses how a Go test makes the game: by the function whose literal Step is, or else by Rules in the package of the state.
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

// A Choice is a scenario or a kind of bots.
type Choice struct {
	Name  string
	Seats int                                        // of a scenario, at most; 0: as many as the game allows
	Usual func(players uint8) any                    // of a scenario
	Maker func(lockstep.Player, uint64) lockstep.Bot // of bots
}

// config returns a pointer to the configuration of a match with some units. If the game's function returns an error, with which Usual and
// Sized panic, or panics, it refuses the seats.
func (g *Playable) config(players uint8, units uint16) (config any, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		refusal, returned := v.(error)
		if _, own := v.(runtime.Error); own || !returned {
			refusal = fmt.Errorf("its function panicked: %v", v)
		}
		config, err = nil, fmt.Errorf("game %s has no configuration of a match of %s: %w", g.Name(), console.Count(int(players), "seat"), refusal)
	}()
	if g.Sized != nil && units > 0 {
		return g.Sized(players, units), nil
	}
	return g.Usual(players), nil
}

// UnitsField is the field of a configuration that sizes the others, see tool.Units.
const UnitsField = "Units"

// UnitsIn returns the units in a configuration in JSON, or 0.
func (g *Playable) UnitsIn(override []byte) uint16 {
	var c struct{ Units uint16 }
	if g.Sized == nil || json.Unmarshal(override, &c) != nil { // ReadConfig tells what is wrong
		return 0
	}
	return c.Units
}

// WithUnits returns a configuration in JSON with a number of units, unless it says one or the game knows none.
func (g *Playable) WithUnits(override []byte, units uint16) []byte {
	fields := map[string]json.RawMessage{}
	if units == 0 || g.Sized == nil || len(override) > 0 && json.Unmarshal(override, &fields) != nil || fields[UnitsField] != nil {
		return override
	}
	fields[UnitsField] = json.RawMessage(strconv.Itoa(int(units)))
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it is a map of JSON
	}
	return b
}

// Configure returns a pointer to the configuration of a match with the fields of override, which is JSON or empty. units 0: the usual number.
func (g *Playable) Configure(players uint8, units uint16, override []byte) (any, error) {
	if units > 0 && g.Sized == nil {
		return nil, fmt.Errorf("game %s has no number of units: change its configuration instead", g.Name())
	}
	usual, err := g.config(players, cmp.Or(units, g.UnitsIn(override)))
	if err != nil || len(override) == 0 {
		return usual, err
	}
	return g.ReadConfig(override, usual)
}

// Period returns the microseconds of a tick of a usual match.
func (g *Playable) Period() uint32 { return cmp.Or(g.Tick, lockstep.DefaultSettings(1).TickMicros) }

// Accepts returns an error if the game refuses a match with these options.
func (g *Playable) Accepts(players uint8, seed uint64, config any) error {
	_, err := g.begin(players, seed, config)
	return err
}

// begin returns the first state of a match.
func (g *Playable) begin(players uint8, seed uint64, config any) (*lockstep.Simulation, error) {
	settings := lockstep.DefaultSettings(players)
	settings.Seed = seed
	h, err := g.NewHeader(lockstep.MatchID{}, settings, config)
	if err != nil {
		return nil, err
	}
	return g.NewSimulation(h)
}

// botRate is how many commands a random bot gives in 16 samples: about one in a second.
const botRate = 1

// Bot returns a bot for a seat: the game's own, or one that gives random commands. Its panics end the program with a sentence.
func (g *Playable) Bot(p lockstep.Player, seed uint64) (bot lockstep.Bot) {
	g.guard(func() string {
		return fmt.Sprintf("its maker of bots (tool.Bot, tool.NamedBot) panicked for player %d", p)
	}, func() { bot = g.HostedBot(p, seed) })
	if bot == nil {
		return nil
	}
	own := bot
	return func(s *lockstep.Simulation) (values []any) {
		g.guard(func() string {
			return fmt.Sprintf("its bot (tool.Bot, tool.NamedBot) panicked as player %d at tick %d", p, s.Tick())
		}, func() { values = own(s) })
		return values
	}
}

// HostedBot is Bot for a host, which reports panics and goes on.
func (g *Playable) HostedBot(p lockstep.Player, seed uint64) lockstep.Bot {
	if g.Maker != nil {
		return g.Maker(p, seed)
	}
	return locksteptest.RandomBot(g.Game, botRate, nil)(p, seed)
}

// ScoreOf returns the score of a player, 0 if the game has none. The error is a panic of the game's function.
func (g *Playable) ScoreOf(s *lockstep.Simulation, p lockstep.Player) (score int, err error) {
	if g.Score == nil {
		return 0, nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("game %s: the function of tool.Score panicked at tick %d: %v", g.Name(), s.Tick(), v)
		}
	}()
	b, _ := s.Ended()
	result, err := g.DecodeResult(b)
	if err != nil {
		return 0, err
	}
	return g.Score(s.AnyWorld(), result, p), nil
}

// guard calls a function of the game, of which a panic ends the program: what it was for is not done, and it may run in any goroutine.
func (g *Playable) guard(what func() string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			console.Abort(fmt.Sprintf("game %s: %s: %v", g.Name(), what(), v), debug.Stack())
		}
	}()
	f()
}

// Length returns the number of ticks of a match of bots, which its rules end, and most if they do not.
func (g *Playable) Length(players uint8, seed uint64, config any, most lockstep.Tick) (lockstep.Tick, error) {
	return locksteptest.Length(g.Game, locksteptest.Options{Config: config, Players: players, Seed: seed, Ticks: most, Play: seated(g.Bot, seed)})
}

// seated lets bots play in all seats.
func seated(bot func(lockstep.Player, uint64) lockstep.Bot, seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
	var bots []lockstep.Bot
	return func(p lockstep.Player, s *lockstep.Simulation) []any {
		for len(bots) <= int(p) {
			bots = append(bots, bot(lockstep.Player(len(bots)), seed))
		}
		return bots[p](s)
	}
}

// AnyCommand returns a command that player 0 may give at the beginning of a match, if a random one is allowed.
func (g *Playable) AnyCommand(players uint8, override []byte) (*lockstep.Command, error) {
	config, err := g.Configure(players, 0, override)
	if err != nil {
		return nil, err
	}
	sim, err := g.begin(players, lockstep.DefaultSettings(players).Seed, config)
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

// Bots returns a maker of bots for all seats of a match, or nil without the game's own: then random commands carry the match.
func (g *Playable) Bots() func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
	if g.Maker == nil {
		return nil
	}
	return func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any { return seated(g.Bot, seed) }
}

// CompatOptions are what serve gives to the handler of tool.Compat, from its flags.
type CompatOptions struct {
	Match         string       // of connections that name none
	Strangers     bool         // clients whose token is unknown may watch
	Origins       []string     // hosts whose pages may connect from a browser
	MaxPerAddress int          // connections of one address
	Log           *slog.Logger // of the server
}

// An OtherWire is the wire of other clients of a game.
type OtherWire struct {
	Usual  lockstep.Settings
	Bridge func(*server.Server, CompatOptions) http.Handler
}

// Handler returns the bridge's handler. Its panic is an error.
func (w *OtherWire) Handler(s *server.Server, o CompatOptions) (h http.Handler, err error) {
	defer func() {
		if v := recover(); v != nil {
			h, err = nil, fmt.Errorf("the game's function of tool.Compat panicked: %v", v)
		}
	}()
	return w.Bridge(s, o), nil
}

// maxConfigFile is the largest file of a configuration, in bytes.
const maxConfigFile = 4 << 20

// ConfigFlag names a file with the configuration of a match.
var ConfigFlag = &cli.StringFlag{Name: "config", Usage: "JSON `FILE`, or JSON itself, with fields of the match's configuration, such as '{\"Units\": 300}' for a game that has units; the others are as in a usual match"}

// ConfigText returns the JSON of --config, or nothing.
func ConfigText(c *cli.Context) ([]byte, error) {
	name := c.String(ConfigFlag.Name)
	if name == "" || name[0] == '{' {
		return []byte(name), nil
	}
	b, err := readAtMost(name, maxConfigFile)
	if err == nil && len(b) > maxConfigFile {
		err = fmt.Errorf("%s: got more than %d bytes", name, maxConfigFile)
	}
	return b, err
}

// Override returns the JSON of --config, or nothing. The error of bad JSON names the file and the field.
func (g *Playable) Override(c *cli.Context) ([]byte, error) {
	b, err := ConfigText(c)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if _, err := g.ReadConfig(b, nil); err != nil {
		return nil, ConfigMistake(c, err)
	}
	return b, nil
}

// NameConfig adds --config or its file to the game's refusal of a configuration, and returns err.
func NameConfig(c *cli.Context, err error) error {
	refusal := (*lockstep.ConfigError)(nil)
	if c.String(ConfigFlag.Name) != "" && errors.As(err, &refusal) {
		return ConfigMistake(c, err)
	}
	return err
}

// ConfigMistake returns the error of a configuration with its place: the file, or the command line, which is wrong then.
func ConfigMistake(c *cli.Context, err error) error {
	name := c.String(ConfigFlag.Name)
	if name[0] == '{' {
		return console.Wrongf(c, ConfigFlag.Name, "%v", err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// The flags that choose one of several scenarios and bots.
var (
	ScenarioFlag = &cli.StringFlag{Name: "scenario", Usage: "`NAME` of a scenario of the game, such as a map; the default is a usual match"}
	BotFlag      = &cli.StringFlag{Name: "bot", Usage: "`NAME` of the bots of the game, such as their strength; the default is the usual one"}
)

// chosen returns the choice with a name.
func (g *Playable) chosen(what string, list []Choice, name string) (*Choice, error) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	names := ChoiceNames(list)
	if len(names) == 0 {
		return nil, fmt.Errorf("game %s has no %ss to choose, got %.64q", g.Name(), what, name)
	}
	return nil, fmt.Errorf("unknown %s %.64q of game %s, want %s", what, name, g.Name(), strings.Join(names, " or "))
}

// ChoiceNames returns the names of choices.
func ChoiceNames(list []Choice) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// In returns the game with a scenario as its usual match. "" changes nothing.
func (g *Playable) In(scenario string) (*Playable, error) {
	if scenario == "" {
		return g, nil
	}
	c, err := g.chosen("scenario", g.Scenarios, scenario)
	if err != nil {
		return nil, err
	}
	other := *g
	other.Usual, other.Sized = c.Usual, nil
	return &other, nil
}

// Against returns the game with other bots as the usual ones. "" changes nothing.
func (g *Playable) Against(bot string) (*Playable, error) {
	if bot == "" {
		return g, nil
	}
	c, err := g.chosen("bot", g.Opponents, bot)
	if err != nil {
		return nil, err
	}
	other := *g
	other.Maker = c.Maker
	return &other, nil
}

// ErrBoth refuses a size of a match whose scenario says it.
var ErrBoth = errors.New("got units and a scenario, want one of them")

// InScenario returns the game with the scenario of --scenario.
func (g *Playable) InScenario(c *cli.Context) (*Playable, error) {
	name := c.String(ScenarioFlag.Name)
	other, err := g.In(name)
	if err != nil {
		return nil, console.Wrongf(c, ScenarioFlag.Name, "%v", err)
	}
	return other, nil
}

// AgainstBots returns the game with the bots of --bot.
func (g *Playable) AgainstBots(c *cli.Context) (*Playable, error) {
	other, err := g.Against(c.String(BotFlag.Name))
	if err != nil {
		return nil, console.Wrongf(c, BotFlag.Name, "%v", err)
	}
	return other, nil
}

// readAtMost returns the content of a file, and at most one byte more than a limit.
func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// A List has the games of a program.
type List []*Playable

// Builds returns all builds of a game.
func (l List) Builds(name string) List {
	return slices.DeleteFunc(slices.Clone(l), func(other *Playable) bool { return other.Name() != name })
}

// Named returns the first game with a name.
func (l List) Named(name string) (*Playable, error) {
	for _, g := range l {
		if g.Name() == name {
			return g, nil
		}
	}
	return nil, console.Usagef("unknown game %.128q, want %s", name, l.Names())
}

// Names returns the names of all games, for people.
func (l List) Names() string {
	var names []string
	for _, g := range l {
		if !slices.Contains(names, g.Name()) {
			names = append(names, g.Name())
		}
	}
	return strings.Join(names, " or ")
}

// Of returns the game of a match, see [replay.Games.Of].
func (l List) Of(h *lockstep.Header) (*Playable, error) {
	g, err := l.Games().Of(h)
	if err != nil {
		return nil, err
	}
	return l[slices.IndexFunc(l, func(p *Playable) bool { return p.Game == g })], nil
}

// Games returns the games as package replay wants them.
func (l List) Games() (all replay.Games) {
	for _, g := range l {
		all = append(all, g.Game)
	}
	return all
}
