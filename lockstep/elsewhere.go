//samestep:allow unseen the machine that runs rules elsewhere makes them deterministic
//samestep:allow global a Codec never changes

package lockstep

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// NewGameElsewhere returns the game of rules that run elsewhere, such as in a WebAssembly module (package module). It is a game
// like any other, except that its values have no Go types: configurations, commands and results are of type *[record.Untyped],
// [World] panics, and the rules' events are not delivered.
func NewGameElsewhere(m abi.Machine) (*Game, error) {
	one, err := m.New()
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %w", err)
	}
	defer one.Close()
	text, err := one.Call(abi.Describe, nil)
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %v: %w", abi.Describe, err)
	}
	d, err := abi.ParseDescription(text)
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %w", err)
	}
	e := &elsewhere{machine: m, description: d}
	g := &Game{
		name: d.Game, build: d.Build, sources: d.Sources, config: reflect.TypeFor[record.Untyped](),
		stateSchema: d.State.Schema, configSchema: d.Config.Schema,
		packConfig:   func(c any) []byte { return c.(*record.Untyped).Canonical },
		unpackConfig: func(b []byte) (any, error) { return &record.Untyped{Canonical: b}, d.Config.Validate(b) },
		newWorld:     e.newWorld,
		result:       untypedResult(d.Result.Schema),
		view:         untypedView(d.View.Schema, d.ViewTags),
	}
	if d.Words {
		g.describe = e.describe
	}
	if d.Assets {
		g.listAssets = e.assets
	}
	if g.selfTest, err = testSelf(func() uint64 { return d.SelfTest }); err != nil {
		return nil, err
	}
	var types []CommandType
	for _, k := range d.Commands {
		t := record.TypeOf(k.Kind, k.Name, k.Payload.Schema)
		if k.Limit != 0 {
			t = t.Limit(k.Limit, k.Per)
		}
		types = append(types, t)
	}
	if g.kinds, err = record.CompileKinds(types); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", d.Game, err)
	}
	e.game = g
	if err := e.checkNames(); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", d.Game, err)
	}
	return g, nil
}

// checkNames checks of the description what [NewGame] checks of rules.
func (e *elsewhere) checkNames() error {
	d := e.description
	err := cmp.Or(record.CheckName("name", d.Game), record.CheckName("build", d.Build))
	for _, s := range d.Schemas() {
		if err == nil && s.Floats() {
			err = errors.New("a type has floats, whose results differ between machines")
		}
	}
	return cmp.Or(err, e.game.Identity().CheckSchemas())
}

// elsewhere are rules that run elsewhere.
type elsewhere struct {
	machine     abi.Machine
	description *abi.Description
	game        *Game
}

// world returns an instance without a match.
func (e *elsewhere) world() (*distantWorld, error) {
	c, err := e.machine.New()
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules of %s: %w", e.game.name, err)
	}
	return &distantWorld{rules: e, caller: c}, nil
}

// newWorld returns an instance for a match.
func (e *elsewhere) newWorld(h *Header) (world, error) {
	if err := e.description.Config.Validate(h.Config); err != nil {
		return nil, fmt.Errorf("lockstep: configuration: %w", err)
	}
	w, err := e.world()
	if err != nil {
		return nil, err
	}
	return w, w.configure(h.Settings, h.Config)
}

// assets returns what the rules list. It panics as a list of native rules does.
func (e *elsewhere) assets(config any) []Asset {
	w, err := e.world()
	if err == nil {
		defer w.caller.Close()
		err = w.configure(DefaultSettings(1), config.(*record.Untyped).Canonical)
	}
	if err != nil {
		panic(err)
	}
	var list abi.AssetList
	if err := abi.Lists.Decode(w.call(abi.Assets, nil), &list); err != nil {
		panic(badAnswer(abi.Assets, err))
	}
	return list.Assets
}

// describe returns the rules' words. It panics as those of native rules do.
func (e *elsewhere) describe(c *Command) string {
	w, err := e.world()
	if err != nil {
		panic(err)
	}
	defer w.caller.Close()
	text := w.call(abi.Word, w.command(c))
	return string(text[:min(len(text), maxWords)])
}

// maxWords is the longest text about a command, in bytes.
const maxWords = 4 << 10

// untypedResult returns nil without a schema.
func untypedResult(s *state.Schema) *resultCodec {
	if s == nil {
		return nil
	}
	return &resultCodec{
		schema: s,
		append: func(dst []byte, result any) []byte { return append(dst, result.(*record.Untyped).Canonical...) },
		decode: func(b []byte) (any, error) {
			return &record.Untyped{Canonical: append([]byte(nil), b...)}, s.Validate(b)
		},
	}
}

// untypedView returns nil without a schema.
func untypedView(s *state.Schema, tags []state.Tag) *viewCodec {
	if s == nil {
		return nil
	}
	return &viewCodec{
		schema: s, tags: tags, of: reflect.TypeFor[record.Untyped](),
		decode: func([]byte, any) error { return errors.New("lockstep: the views of rules elsewhere have no Go type") },
		maker: func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
			return func(world, _ any, viewer Viewer, dst []byte) ([]byte, error) {
				w := world.(*distantWorld)
				defer w.keep()
				out, err := w.try(abi.View, []byte(viewer.String()))
				if err != nil {
					return dst, err
				}
				if err := s.Validate(out); err != nil {
					return dst, badAnswer(abi.View, err)
				}
				return append(dst, out...), nil
			}
		},
	}
}
