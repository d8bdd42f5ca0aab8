package lockstep

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// A Game is compiled [Rules]: what the engine needs to run any match of it. It
// is immutable and safe for concurrent use.
type Game struct {
	name, build string
	kinds       []CommandType // by ascending kind
	byKind      map[Kind]*kindEntry
	byType      map[reflect.Type]*kindEntry
	config      reflect.Type

	stateSchema  *state.Schema
	configSchema *state.Schema
	packConfig   func(config any) []byte
	newWorld     func() world
	describe     func(*Command) string
	selfTest     SelfTest
}

// NewGame compiles the rules of a game. It refuses rules that could not be
// deterministic: an error names the field of the state, the configuration or
// the command that is not plain data.
func NewGame[S, C any](rules Rules[S, C]) (*Game, error) {
	codec, err := state.Compile[S]()
	if err != nil {
		return nil, fmt.Errorf("lockstep: state of %s: %w", rules.Name, err)
	}
	config, err := state.Compile[C]()
	if err != nil {
		return nil, fmt.Errorf("lockstep: configuration of %s: %w", rules.Name, err)
	}
	if err := cmp.Or(checkName("name", rules.Name), checkName("build", rules.Build),
		checkDescription(codec.Schema()), checkDescription(config.Schema())); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if rules.New == nil || rules.Step == nil {
		return nil, fmt.Errorf("lockstep: game %s: want New and Step", rules.Name)
	}
	g := &Game{
		name: rules.Name, build: rules.Build,
		//samestep:allow sort kinds are unique, which compileKinds checks
		kinds:        slices.SortedFunc(slices.Values(rules.Commands), func(a, b CommandType) int { return cmp.Compare(a.Kind, b.Kind) }),
		config:       reflect.TypeFor[C](),
		stateSchema:  codec.Schema(),
		configSchema: config.Schema(),
		packConfig:   func(c any) []byte { return config.Append(nil, c.(*C)) },
		newWorld:     func() world { return &worldOf[S, C]{rules: &rules, codec: codec, config: config} },
		describe:     rules.Describe,
	}
	if g.selfTest, err = testSelf(rules.SelfTest); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if g.byKind, g.byType, err = compileKinds(g.kinds); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if n := g.expect().schemaBytes(); n > maxSchemas {
		return nil, fmt.Errorf("lockstep: game %s: got schemas of %d bytes in all, want at most %d", rules.Name, n, maxSchemas)
	}
	return g, nil
}

// checkName returns an error unless name can stand in a header.
func checkName(what, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%s %q: want 1 to %d bytes of UTF-8", what, clip(name, maxName), maxName)
	}
	return nil
}

// checkDescription returns an error unless the description of s fits into a header.
func checkDescription(s *state.Schema) error {
	if n := len(s.AppendDescription(nil)); n > maxDescription {
		return fmt.Errorf("got a schema of %d bytes, want at most %d", n, maxDescription)
	}
	return nil
}

// MustGame is [NewGame] for rules known to be good: it panics on an error.
func MustGame[S, C any](rules Rules[S, C]) *Game {
	g, err := NewGame(rules)
	if err != nil {
		panic(err)
	}
	return g
}

// Name returns the game's name.
func (g *Game) Name() string { return g.name }

// Build returns the version of the game's rules.
func (g *Game) Build() string { return g.build }

// StateSchema returns the description of the game's state.
func (g *Game) StateSchema() *state.Schema { return g.stateSchema }

// HasKind reports whether players can give commands of a kind.
func (g *Game) HasKind(k Kind) bool { return g.byKind[k] != nil }

// entry returns the registered kind of a command of player p, or nil.
func (g *Game) entry(p Player, k Kind) *kindEntry {
	if p == System {
		return systemKinds[k]
	}
	return g.byKind[k]
}

// firstSection returns the name of the first section in which two sums differ,
// or nothing.
func (g *Game) firstSection(a, b *checksum.Sum) string {
	m, _ := checksum.Compare(*a, *b, g.stateSchema)
	return m.Name
}

// NewHeader returns the header of a new match: config is a pointer to the
// game's configuration type.
func (g *Game) NewHeader(id MatchID, s Settings, config any) (*Header, error) {
	if reflect.TypeOf(config) != reflect.PointerTo(g.config) {
		return nil, fmt.Errorf("lockstep: got a configuration of type %T, want *%s", config, g.config)
	}
	if reflect.ValueOf(config).IsNil() {
		return nil, fmt.Errorf("lockstep: got a nil configuration, want one of type %s", g.config)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	h := g.expect()
	h.Match, h.Settings, h.Config = id, s, g.packConfig(config)
	if len(h.Config) > maxDescription {
		return nil, fmt.Errorf("lockstep: got a configuration of %d bytes, want at most %d", len(h.Config), maxDescription)
	}
	return h, nil
}

// expect returns a header with all that a match of this game has in common
// with every other.
func (g *Game) expect() *Header {
	h := &Header{
		Protocol: Protocol, Engine: Engine, Game: g.name, Build: g.build,
		Platform:     platform(),
		ConfigSchema: g.configSchema.AppendDescription(nil),
		StateSchema:  g.stateSchema.AppendDescription(nil),
	}
	for _, t := range g.kinds {
		h.Commands = append(h.Commands, CommandDescription{t.Kind, t.Name, g.byKind[t.Kind].schema.AppendDescription(nil)})
	}
	return h
}

// platform returns what this program runs on, for people.
//
//samestep:allow runtime for people: no simulation reads it
func platform() string { return clip(runtime.GOOS+"/"+runtime.GOARCH+" "+runtime.Version(), maxName) }
