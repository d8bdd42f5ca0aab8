package lockstep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Game is compiled [Rules]: what the engine needs to run any match of it. It is immutable and safe for concurrent use.
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
	newWorld     func(h *Header, unused bool) (world, error) // unused: whose instance never had another one
	derived      []string                                    // paths of derived fields
	describe     func(*Command) string
	selfTest     SelfTest
	listAssets   func(config any) []Asset    // nil if no match has assets
	readAsset    func(Asset) ([]byte, error) // nil without a source
}

// NewGame compiles rules. It refuses types that are no plain data, derived fields without Derive, and two commands of one kind or name.
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
		newWorld: func(h *Header, _ bool) (world, error) {
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
	if rules.Result.compile != nil {
		if g.result, err = rules.Result.compile(); err != nil {
			return nil, fmt.Errorf("lockstep: result of %s: %w", rules.Name, err)
		}
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

// CommandLimit returns how often a player may issue a kind of command, see [record.CommandType.Limit]. Its N is 0 for no limit.
func (g *Game) CommandLimit(k Kind) record.CommandLimit { return g.kinds.Limit(k) }

// Commands returns the kinds of commands that players can issue, by ascending kind.
func (g *Game) Commands() []record.CommandDescription { return g.kinds.Descriptions() }

// DerivedFields returns the paths of the state's fields that are tagged as derived.
func (g *Game) DerivedFields() []string { return slices.Clone(g.derived) }

// NewPayloads returns the payload codec of the game's commands.
func (g *Game) NewPayloads() *record.Payloads { return g.kinds.NewPayloads() }

// NewSimulation returns the state at tick 0 of the match with header h. The error is an [*IdentityError] for another
// game's match, a [*record.AssetError] without the content of an asset, a [*PanicError], or the game's refusal.
func (g *Game) NewSimulation(h *Header) (*Simulation, error) {
	s, err := g.created(h)
	if err != nil {
		return nil, err
	}
	return s, s.derive()
}

func (g *Game) created(h *Header) (*Simulation, error) {
	s, err := g.AwaitState(h)
	if err != nil {
		return nil, err
	}
	if err := s.guard("New", func() error { return s.world.create(reaching(&h.Settings)) }); err != nil {
		return nil, err
	}
	return s, nil
}

// reaching returns the settings that reach the simulation, and zeros for how the match is checked and played live.
func reaching(s *Settings) Settings {
	return Settings{Seed: s.Seed, Players: s.Players, TickMicros: s.TickMicros}
}

// AwaitState returns a simulation of the match with header h that has no state until it is restored or copied.
func (g *Game) AwaitState(h *Header) (*Simulation, error) {
	if err := g.CheckIdentity(h); err != nil {
		return nil, err
	}
	if err := h.Settings.Check(); err != nil {
		return nil, err
	}
	return g.await(h, false)
}

// await is AwaitState of a header that was checked, in an instance that nobody has used if the rules run elsewhere.
func (g *Game) await(h *Header, unused bool) (*Simulation, error) {
	s := &Simulation{game: g, header: h, payloads: g.NewPayloads(), turn: Turn{result: g.result}}
	if err := s.guard("New", func() (err error) { s.world, err = g.newWorld(h, unused); return err }); err != nil {
		return nil, err
	}
	contents, err := g.contents(h.Config)
	if err == nil && len(contents) > 0 {
		err = s.guard("Load", func() error { return s.world.load(contents) })
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// NewHeader returns the header of a new match. config is a pointer to the game's configuration type. It runs New once, in a state that it
// drops. The error is a [*PanicError], a [*ConfigError] if the rules refuse the configuration, or a [*record.AssetError].
func (g *Game) NewHeader(id MatchID, s Settings, config any) (*Header, error) {
	if err := g.checkConfig(config); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	for _, d := range g.kinds.Descriptions() {
		if l := g.kinds.Limit(d.Kind); l.N > 0 && s.TicksIn(int64(l.Per)) < 1 {
			return nil, fmt.Errorf("lockstep: setting tick micros: got %d, want at most %d, the time of the limit of command %d (%s)", s.TickMicros, l.Per, d.Kind, d.Name)
		}
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

// ReadConfig returns the configuration that a JSON object describes, for [Game.NewHeader]. A field that the object lacks has the value of
// usual, a configuration that stays unchanged, or is zero if usual is nil. The error of bad JSON is a [*state.JSONError].
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

// WriteConfig writes a configuration, given by pointer, as one JSON object and a newline, as [Game.ReadConfig] reads it.
func (g *Game) WriteConfig(w io.Writer, config any) error {
	if err := g.checkConfig(config); err != nil {
		return err
	}
	return g.configSchema.DumpJSON(w, g.packConfig(config))
}

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
		Protocol: record.Protocol, Engine: record.Engine, Game: g.name, Build: g.build,
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

// CheckIdentity returns an [*IdentityError] that names the first difference of this game from the one of a match with header h.
func (g *Game) CheckIdentity(h *Header) error { return h.CheckIdentity(g.Identity()) }

// DecodeResult returns the result with these canonical bytes as a pointer to the type of [Rules], and nil for no bytes.
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

// WithAssets returns the same game with a source of assets. read returns the content of an asset, which the engine checks and does not
// change. It must be safe for concurrent use. An error that wraps [record.ErrNoAsset] says that the content is not here.
func (g *Game) WithAssets(read func(Asset) ([]byte, error)) *Game {
	own := *g
	own.readAsset = read
	return &own
}

// HasAssets reports whether matches of the game can have assets.
func (g *Game) HasAssets() bool { return g.listAssets != nil }

// Assets returns the list of assets in the configuration of the match with header h. It needs no source of assets.
func (g *Game) Assets(h *Header) ([]Asset, error) {
	if err := g.CheckIdentity(h); err != nil {
		return nil, err
	}
	return g.assetsOf(h.Config)
}

func (g *Game) assetsOf(config []byte) (list []Asset, err error) {
	if g.listAssets == nil {
		return nil, nil
	}
	c, err := g.unpackConfig(config)
	if err != nil {
		return nil, fmt.Errorf("lockstep: configuration: %w", err)
	}
	defer func() {
		if v := recover(); v != nil {
			list, err = nil, panicked(0, "Assets", v)
		}
	}()
	list = g.listAssets(c)
	if err := record.CheckAssets(list); err != nil {
		return nil, &ConfigError{g.name, err}
	}
	return list, nil
}

func (g *Game) contents(config []byte) ([][]byte, error) {
	list, err := g.assetsOf(config)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	all := make([][]byte, len(list))
	for i, a := range list {
		if all[i], err = g.ReadAsset(a); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ReadAsset returns the checked content of an asset from the game's source. The error is a [*record.AssetError] that wraps
// [record.ErrNoAsset] without a source or a content, and [record.ErrAssetContent] if the content is another one.
func (g *Game) ReadAsset(a Asset) ([]byte, error) {
	if g.readAsset == nil {
		return nil, &record.AssetError{Asset: a, Err: fmt.Errorf("%w: the game has no source of assets", record.ErrNoAsset)}
	}
	//samestep:allow unseen what it returns is compared with the sum in the header
	b, err := g.readAsset(a)
	if err != nil {
		if named := (*record.AssetError)(nil); errors.As(err, &named) {
			return nil, err
		}
		return nil, &record.AssetError{Asset: a, Err: err}
	}
	if err := a.CheckContent(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Sources returns what the program knows of the sources of the rules. The module is that of the package of the state's type.
func (g *Game) Sources() record.Sources { return g.sources }

// ownSources returns the sources of a package of this program.
//
//samestep:allow runtime for people: no simulation reads it
func ownSources(pkg string) record.Sources {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return record.Sources{}
	}
	return sourcesOf(info, pkg)
}

// sourcesOf returns the sources of a package of a program. The go command tells the revision of the program's own module only.
func sourcesOf(info *debug.BuildInfo, pkg string) record.Sources {
	in := &info.Main
	longest := 0
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > longest {
			in, longest = m, len(m.Path)
		}
	}
	s := record.Sources{Module: in.Path, Version: in.Version}
	if in.Replace != nil {
		s.Version = in.Replace.Version // none for a folder
	}
	if in == &info.Main {
		for _, v := range info.Settings {
			switch v.Key {
			case "vcs.revision":
				s.Revision = v.Value
			case "vcs.modified":
				s.Modified = v.Value == "true"
			}
		}
	}
	s.Version = strings.TrimSuffix(s.Version, "+dirty")
	if s.Version == "(devel)" || len(s.Revision) >= 12 && strings.Contains(s.Version, s.Revision[:12]) {
		s.Version = "" // the revision says it
	}
	return s
}

// A Describer describes the commands of a log in words, by its header alone or in the game's own words. It belongs to one goroutine.
type Describer struct {
	game     *Game // nil without its code or its Describe
	payloads *record.Payloads
	kinds    map[Kind]describedKind // only looked up, never ranged over
	system   map[Kind]describedKind // only looked up, never ranged over
	text     strings.Builder
}

type describedKind struct {
	name   string
	schema *state.Schema
}

// NewDescriber returns a Describer of the log with header h. g is nil, or the log's game. The error is that of a schema in the header.
func NewDescriber(h *Header, g *Game) (*Describer, error) {
	kinds, err := parseKinds(h.Commands)
	if err != nil {
		return nil, err
	}
	system, err := parseKinds(record.SystemDescriptions())
	if err != nil {
		return nil, err
	}
	d := &Describer{kinds: kinds, system: system}
	if g != nil && g.describe != nil {
		d.game, d.payloads = g, g.NewPayloads()
	}
	return d, nil
}

func parseKinds(list []record.CommandDescription) (map[Kind]describedKind, error) {
	kinds := make(map[Kind]describedKind, len(list))
	for _, c := range list {
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, fmt.Errorf("lockstep: schema of command %q: %w", c.Name, err)
		}
		kinds[c.Kind] = describedKind{c.Name, s}
	}
	return kinds, nil
}

// Describe returns one line of printable text about a command with any payload.
func (d *Describer) Describe(c *Command) string {
	if d.game != nil && c.Player != System {
		d.payloads.Reset()
		own := *c
		if d.payloads.Decode(&own) == nil {
			// The command may be of a hostile log, on which the game panics.
			if text, err := d.game.Describe(&own); err == nil && text != "" {
				return printable(text)
			}
		}
	}
	kind, ok := d.kinds[c.Kind]
	if own, is := d.system[c.Kind]; is && c.Player == System {
		kind, ok = own, true
	}
	who := c.Player.Name()
	if !ok {
		return fmt.Sprintf("%s: unknown kind %d, payload %x", who, c.Kind, c.Payload)
	}
	fields, err := d.fields(kind.schema, c.Payload)
	if err != nil {
		fields = fmt.Sprintf("%x (%v)", c.Payload, err)
	}
	return printable(fmt.Sprintf("%s: %s %s", who, kind.name, fields))
}

// Describe describes a decoded command in the game's own words, or returns "". The error is a [*PanicError] if the game's Describe panics.
func (g *Game) Describe(c *Command) (text string, err error) {
	if g.describe == nil {
		return "", nil
	}
	defer func() {
		if v := recover(); v != nil {
			text, err = "", panicked(c.Tick, "Describe", v)
		}
	}()
	//samestep:allow unseen for people: no simulation reads it
	return g.describe(c), nil
}

func (d *Describer) fields(s *state.Schema, payload []byte) (string, error) {
	d.text.Reset()
	if err := s.DumpJSON(&d.text, payload); err != nil {
		return "", err
	}
	return strings.TrimSuffix(d.text.String(), "\n"), nil
}

// printable replaces characters that could control a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
