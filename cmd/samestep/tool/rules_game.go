//go:build !js

package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	wasm "github.com/seed-49bee653/samestep/module"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/replay"
)

// A rulesModule is a module of rules that the program has loaded.
type rulesModule struct {
	name  string // of the file; "" if it was in a replay
	bytes []byte
	sum   string // SHA-256
	rules *wasm.Rules

	budget  *wasm.Budget // of the game; nil: none
	machine *wasm.Within // of the game
}

// readModule returns the game of the rules in a file.
func readModule(c *cli.Context, name string) (*playable, error) {
	b, err := moduleBytes(name)
	if err != nil {
		return nil, err
	}
	g, err := newModuleGame(b, newBudget(c))
	if err != nil {
		return nil, &fileError{name, err}
	}
	g.module.name = name
	return g, nil
}

// moduleBytes reads a module, up to a little more than the largest.
func moduleBytes(name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, wasm.MaxBytes+1))
}

// newModuleGame returns the game of a module, within a budget.
func newModuleGame(b []byte, budget *wasm.Budget) (*playable, error) {
	allowModuleMemory()
	rules, err := wasm.Compile(b, moduleOptions(budget))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	m := &rulesModule{bytes: b, sum: hex.EncodeToString(sum[:]), rules: rules}
	g, err := m.game("", budget)
	if err == nil {
		return g, nil
	}
	if !errors.As(err, new(*abi.Fault)) {
		err = fmt.Errorf("%w: %w", wasm.ErrMalformed, err) // such as a description that is none
	}
	return nil, errors.Join(err, rules.Close())
}

// moduleOptions returns those to compile a module within a budget.
func moduleOptions(budget *wasm.Budget) wasm.Options {
	o := wasm.Options{Budget: budget, Process: compiler()}
	if dir := cacheDir(); dir != "" {
		o.Cache = filepath.Join(dir, "compiled")
	}
	return o
}

// game returns the game of the module, within a budget. Unless build is "", it takes part as that build: so its rules simulate the matches of
// that build, which may come out differently.
func (m *rulesModule) game(build string, budget *wasm.Budget) (*playable, error) {
	own := *m
	machine := m.rules.Within(budget)
	own.budget, own.machine = budget, machine
	g, err := gameOn(machine, build)
	if err != nil {
		return nil, err
	}
	return &playable{
		Game: g, world: reflect.TypeFor[record.Untyped](), module: &own,
		usual: pageprogram.UsualOf(machine, g),
	}, nil
}

// gameOn returns the game of a machine with rules, as game does.
func gameOn(machine abi.Machine, build string) (*lockstep.Game, error) {
	if build != "" {
		machine = posing{machine, build}
	}
	return lockstep.NewGameElsewhere(machine)
}

// side returns the game of a module as a side of a match of a build.
func (g *playable) side(build string) *line.Module {
	m := g.module
	return &line.Module{
		Name: cmp.Or(m.name, "module "+m.sum[:12]), Bytes: m.bytes, Rules: m.rules, Options: moduleOptions(m.budget),
		Game: func(machine abi.Machine) (*lockstep.Game, error) {
			own, err := gameOn(machine, build)
			if err != nil {
				return nil, err
			}
			return own.WithAssets(g.ReadAsset), nil
		},
	}
}

// reference returns what a file of a match says about its rules: which module has them, or nil for a game without one.
func (g *playable) reference() *replay.Rules {
	if g.module == nil {
		return nil
	}
	return &replay.Rules{Sum: replay.SumRules(g.module.bytes)}
}

// posing are rules that say that they are another build.
type posing struct {
	abi.Machine
	build string
}

// New implements [abi.Machine].
func (p posing) New() (abi.Caller, error) {
	c, err := p.Machine.New()
	return poser{c, p.build}, err
}

type poser struct {
	abi.Caller
	build string
}

// Call implements [abi.Caller].
func (p poser) Call(f abi.Function, in []byte) ([]byte, error) {
	out, err := p.Caller.Call(f, in)
	if f != abi.Describe || err != nil {
		return out, err
	}
	d, err := abi.ParseDescription(out)
	if err != nil {
		return nil, err
	}
	d.Build = p.build
	return json.Marshal(d)
}

// needSources returns a usage error for the game of a module. It is for verbs that plant mistakes in rules or measure parts of them.
func (g *playable) needSources() error {
	if g.module == nil {
		return nil
	}
	return usagef("game %s is a module of rules: want a program that calls tool.Main with them", g.Name())
}
