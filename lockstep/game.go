package lockstep

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Game is compiled [Rules]: what the engine needs to run any match of it. It is immutable and safe for concurrent
// use.
type Game struct {
	name, build string
	sources     record.Sources
	kinds       *record.Kinds
	config      reflect.Type
	result      *resultCodec // nil if the rules have none
	view        *viewCodec   // nil if the rules have none

	stateSchema  *state.Schema
	configSchema *state.Schema
	packConfig   func(config any) []byte
	unpackConfig func(b []byte) (any, error)
	newWorld     func(h *Header) (world, error)
	derived      []string // paths of derived fields
	describe     func(*Command) string
	selfTest     SelfTest
	listAssets   func(config any) []Asset    // nil if no match has assets
	readAsset    func(Asset) ([]byte, error) // nil without a source
}

// NewGame compiles the rules of a game. It refuses types that could not be deterministic: the error names the field of
// the state, the configuration or a command that is not plain data. It also refuses derived fields without Derive, and two
// commands of one kind or name.
func NewGame[S, C any](rules Rules[S, C]) (*Game, error) {
	codec, err := state.Compile[S]()
	if err != nil {
		return nil, fmt.Errorf("lockstep: state of %s: %w", rules.Name, err)
	}
	config, err := state.Compile[C]()
	if err != nil {
		return nil, fmt.Errorf("lockstep: configuration of %s: %w", rules.Name, err)
	}
	if err := cmp.Or(record.CheckName("name", rules.Name), record.CheckName("build", rules.Build)); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if rules.New == nil || rules.Step == nil {
		return nil, fmt.Errorf("lockstep: game %s: want New and Step", rules.Name)
	}
	if fields := codec.DerivedFields(); rules.Derive == nil && len(fields) > 0 {
		return nil, fmt.Errorf("lockstep: game %s: %s is derived: want Derive, which rebuilds it after a restore", rules.Name, fields[0])
	}
	if rules.View.compile != nil && rules.Validate != nil {
		return nil, fmt.Errorf("lockstep: game %s: got View and Validate, want View(see, refuse): an answer by the whole state tells what a view hides", rules.Name)
	}
	if (rules.Assets == nil) != (rules.Load == nil) {
		return nil, fmt.Errorf("lockstep: game %s: want both Assets and Load, or neither", rules.Name)
	}
	g := &Game{
		name: rules.Name, build: rules.Build, sources: ownSources(reflect.TypeFor[S]().PkgPath()),
		config:       reflect.TypeFor[C](),
		stateSchema:  codec.Schema(),
		configSchema: config.Schema(),
		packConfig:   func(c any) []byte { return config.Append(nil, c.(*C)) },
		unpackConfig: func(b []byte) (any, error) { c := new(C); return c, config.Decode(b, c) },
		newWorld: func(h *Header) (world, error) {
			w := &worldOf[S, C]{rules: &rules, codec: codec, configCodec: config}
			if err := config.Decode(h.Config, &w.config); err != nil {
				return nil, fmt.Errorf("lockstep: configuration: %w", err)
			}
			return w, nil
		},
		describe: rules.Describe,
		derived:  codec.DerivedFields(),
	}
	if rules.Assets != nil {
		//samestep:allow unseen a game is checked where it gives its functions to Rules
		g.listAssets = func(config any) []Asset { return rules.Assets(config.(*C)) }
	}
	if g.selfTest, err = testSelf(rules.SelfTest); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if g.kinds, err = record.CompileKinds(rules.Commands); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	if g.result, err = compileResult(rules.Result); err != nil {
		return nil, fmt.Errorf("lockstep: result of %s: %w", rules.Name, err)
	}
	if g.view, err = compileView[S, C](rules.View); err != nil {
		return nil, fmt.Errorf("lockstep: view of %s: %w", rules.Name, err)
	}
	if err := g.Identity().CheckSchemas(); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", rules.Name, err)
	}
	return g, nil
}

// MustGame is [NewGame] for rules known to be valid. It panics on an error.
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

// ConfigSchema returns the description of the game's configuration.
func (g *Game) ConfigSchema() *state.Schema { return g.configSchema }

// HasKind reports whether players can issue commands of a kind.
func (g *Game) HasKind(k Kind) bool { return g.kinds.Has(k) }

// CommandLimit returns how often a player may issue a kind of command, see [record.CommandType.Limit]. Its N is 0 for no
// limit.
func (g *Game) CommandLimit(k Kind) record.CommandLimit { return g.kinds.Limit(k) }

// Commands returns the kinds of commands that players can issue, by ascending kind.
func (g *Game) Commands() []record.CommandDescription { return g.kinds.Descriptions() }

// DerivedFields returns the paths of the state's fields that are tagged as derived.
func (g *Game) DerivedFields() []string { return slices.Clone(g.derived) }

// NewPayloads returns the payload codec of the game's commands.
func (g *Game) NewPayloads() *record.Payloads { return g.kinds.NewPayloads() }

// NewHeader returns the header of a new match. config is a pointer to the game's configuration type. The error is a
// [*PanicError], a [*ConfigError] if the rules refuse the configuration, or a [*record.AssetError], so a match that cannot start has no header.
// NewHeader runs New once for that, in a state that it drops, and takes as long as New.
func (g *Game) NewHeader(id MatchID, s Settings, config any) (*Header, error) {
	if err := g.checkConfig(config); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	h := g.Identity()
	h.Match, h.Settings, h.Config = id, s, g.packConfig(config)
	if len(h.Config) > record.MaxConfig {
		return nil, fmt.Errorf("lockstep: got a configuration of %d bytes, want at most %d", len(h.Config), record.MaxConfig)
	}
	trial, err := g.created(h)
	if err != nil {
		return nil, err
	}
	trial.world.close()
	return h, nil
}

// ReadConfig returns the configuration that a JSON object describes, as a pointer to the game's configuration type: the
// input of [Game.NewHeader]. A field that the object lacks has the value of usual, a configuration that stays unchanged,
// or is zero if usual is nil. The error of bad JSON is a [*state.JSONError], which names the field.
func (g *Game) ReadConfig(text []byte, usual any) (any, error) {
	var base []byte
	if usual != nil {
		if err := g.checkConfig(usual); err != nil {
			return nil, err
		}
		base = g.packConfig(usual)
	}
	b, err := g.configSchema.AppendJSON(nil, base, text, record.MaxConfig)
	if err != nil {
		return nil, fmt.Errorf("lockstep: configuration of %s: %w", g.name, err)
	}
	return g.unpackConfig(b)
}

// WriteConfig writes a configuration as one JSON object and a newline, as [Game.ReadConfig] reads it. config is a pointer to
// the game's configuration type.
func (g *Game) WriteConfig(w io.Writer, config any) error {
	if err := g.checkConfig(config); err != nil {
		return err
	}
	return g.configSchema.DumpJSON(w, g.packConfig(config))
}

// checkConfig refuses what is no pointer to the game's configuration type.
func (g *Game) checkConfig(config any) error {
	if reflect.TypeOf(config) != reflect.PointerTo(g.config) {
		return fmt.Errorf("lockstep: got a configuration of type %T, want *%s", config, g.config)
	}
	if reflect.ValueOf(config).IsNil() {
		return fmt.Errorf("lockstep: got a nil configuration, want one of type %s", g.config)
	}
	return nil
}

// Identity returns a header with the fields that all matches of this game share. The others are zero.
func (g *Game) Identity() *Header {
	return &Header{
		Protocol: record.Protocol, Engine: Engine, Game: g.name, Build: g.build,
		Platform:     Platform(),
		Sources:      g.sources.TextAfter(Platform()),
		ConfigSchema: g.configSchema.AppendDescription(nil),
		StateSchema:  g.stateSchema.AppendDescription(nil),
		Commands:     g.kinds.Descriptions(),
		ResultSchema: g.result.description(),
	}
}

// Platform returns the system, processor and compiler of this program, for people.
//
//samestep:allow runtime for people: no simulation reads it
func Platform() string {
	return pack.Clip(runtime.GOOS+"/"+runtime.GOARCH+" "+runtime.Version(), record.MaxName)
}

// SelfTest returns the results of this machine, computed when the game was compiled.
func (g *Game) SelfTest() SelfTest { return g.selfTest }

// CheckIdentity returns an [*IdentityError] that names the first difference between the identities of this game and of
// a match with header h.
func (g *Game) CheckIdentity(h *Header) error { return h.CheckIdentity(g.Identity()) }

// DecodeResult returns the result with the given canonical bytes as a pointer to the type of [Rules], and nil for no
// bytes: the match ended without a result.
func (g *Game) DecodeResult(canonical []byte) (any, error) {
	if g.result == nil || len(canonical) == 0 {
		return nil, nil
	}
	r, err := g.result.decode(canonical)
	if err != nil {
		return nil, fmt.Errorf("lockstep: result: %w", err)
	}
	return r, nil
}

// ViewSchema returns the description of the game's views, and nil if it has none.
func (g *Game) ViewSchema() *state.Schema {
	if g.view == nil {
		return nil
	}
	return g.view.schema
}

// ViewTags returns the tags of the game's views that say how their fields are sent, see package lockstep/feed.
func (g *Game) ViewTags() []state.Tag {
	if g.view == nil {
		return nil
	}
	return g.view.tags
}

// DecodeView sets a view to the canonical bytes of one. V is the type of the game's views. It reuses the memory of slices.
func DecodeView[V any](g *Game, b []byte, v *V) error {
	if g.view == nil {
		return fmt.Errorf("lockstep: %s: the rules have no views", g.name)
	}
	if g.view.of != reflect.TypeFor[V]() {
		return fmt.Errorf("lockstep: %s: want a view of type %v, got %v", g.name, g.view.of, reflect.TypeFor[V]())
	}
	return g.view.decode(b, v)
}
