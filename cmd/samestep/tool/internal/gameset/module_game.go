//go:build !js

package gameset

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

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	wasm "github.com/seed-49bee653/samestep/module"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/replay"
)

// A RulesModule is a module of rules that the program has loaded.
type RulesModule struct {
	name  string // of the file; "" if it was in a replay
	Bytes []byte
	Sum   string // SHA-256
	Rules *wasm.Rules

	Budget  *wasm.Budget // of the game; nil: none
	Machine *wasm.Within // of the game
}

// ReadModule returns the game of the rules in a file.
func ReadModule(c *cli.Context, name string) (*Playable, error) {
	b, err := ModuleBytes(name)
	if err != nil {
		return nil, err
	}
	g, err := NewModuleGame(b, NewBudget(c))
	if err != nil {
		return nil, &console.FileError{Name: name, Err: err}
	}
	g.Module.name = name
	return g, nil
}

// ModuleBytes reads a module, up to a little more than the largest.
func ModuleBytes(name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, wasm.MaxBytes+1))
}

// NewModuleGame returns the game of a module, within a budget.
func NewModuleGame(b []byte, budget *wasm.Budget) (*Playable, error) {
	console.AllowModuleMemory()
	rules, err := wasm.Compile(b, ModuleOptions(budget))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	m := &RulesModule{Bytes: b, Sum: hex.EncodeToString(sum[:]), Rules: rules}
	g, err := m.game("", budget)
	if err == nil {
		return g, nil
	}
	if !errors.As(err, new(*abi.Fault)) {
		err = fmt.Errorf("%w: %w", wasm.ErrMalformed, err) // such as a description that is none
	}
	return nil, errors.Join(err, rules.Close())
}

// ModuleOptions returns those to compile a module within a budget.
func ModuleOptions(budget *wasm.Budget) wasm.Options {
	o := wasm.Options{Budget: budget, Process: compiler()}
	if dir := CacheDir(); dir != "" {
		o.Cache = filepath.Join(dir, "compiled")
	}
	return o
}

// game returns the game of the module, within a budget. Unless build is "", it takes part as that build: so its rules simulate the matches of
// that build, which may come out differently.
func (m *RulesModule) game(build string, budget *wasm.Budget) (*Playable, error) {
	own := *m
	machine := m.Rules.Within(budget)
	own.Budget, own.Machine = budget, machine
	g, err := gameOn(machine, build)
	if err != nil {
		return nil, err
	}
	return &Playable{
		Game: g, World: reflect.TypeFor[record.Untyped](), Module: &own,
		Usual: pageprogram.UsualOf(machine, g),
	}, nil
}

// gameOn returns the game of a machine with rules, as game does.
func gameOn(machine abi.Machine, build string) (*lockstep.Game, error) {
	if build != "" {
		machine = posing{machine, build}
	}
	return lockstep.NewGameElsewhere(machine)
}

// Side returns the game of a module as a side of a match of a build.
func (g *Playable) Side(build string) *line.Module {
	m := g.Module
	return &line.Module{
		Name: cmp.Or(m.name, "module "+m.Sum[:12]), Bytes: m.Bytes, Rules: m.Rules, Options: ModuleOptions(m.Budget),
		Game: func(machine abi.Machine) (*lockstep.Game, error) {
			own, err := gameOn(machine, build)
			if err != nil {
				return nil, err
			}
			return own.WithAssets(g.ReadAsset), nil
		},
	}
}

// Reference returns what a file of a match says about its rules: which module has them, or nil for a game without one.
func (g *Playable) Reference() *replay.Rules {
	if g.Module == nil {
		return nil
	}
	return &replay.Rules{Sum: replay.SumRules(g.Module.Bytes)}
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

// NeedSources returns a usage error for the game of a module. It is for verbs that plant mistakes in rules or measure parts of them.
func (g *Playable) NeedSources() error {
	if g.Module == nil {
		return nil
	}
	return console.Usagef("game %s is a module of rules: want a program that calls tool.Main with them", g.Name())
}
