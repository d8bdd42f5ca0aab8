//go:build !js

package gameset

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"time"

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

// game returns the game of the module within a budget. Unless build is "", it simulates the matches of that build.
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

// Unused is New for an instance that nobody has used.
func (p posing) Unused() (abi.Caller, error) {
	c, err := abi.Unused(p.Machine)
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

// What the modules of rules of one file, or of a verb that has no file, may take without flags. docs/limits.md has the reasons.
const (
	moduleBudgetTime   = 15 * time.Second
	moduleBudgetMemory = 192 << 20 // bytes

	// Of join, which plays a match as long as the user wants: so much, and a part of each second since then.
	joinModuleTime  = 8 * time.Second
	joinModuleShare = 400 * time.Millisecond
)

var (
	// ModuleTimeFlag bounds the time of a module.
	ModuleTimeFlag = &cli.DurationFlag{Name: "module-time", Usage: "time limit for the rules modules of a file, compiling and all calls together; 0: no limit", DefaultText: "15s; none for verbs that play matches"}
	// ModuleMemoryFlag bounds the memory of a module.
	ModuleMemoryFlag = &cli.UintFlag{Name: "module-memory", Usage: "their memory limit in `MIB`; 0: no limit", DefaultText: "192; none for verbs that play matches"}
)

// ModuleFlags bound what modules of rules take.
var ModuleFlags = []cli.Flag{ModuleTimeFlag, ModuleMemoryFlag}

// plays are the verbs that play matches of the games that the user names: their time is as long as the user wants.
var plays = []string{"bench", "check", "demo", "drill", "fuzz", "golden", "gym", "log", "net", "add", "simulate", "run"}

// NewBudget returns what the modules of one file may take, or nil for a verb without the flags.
func NewBudget(c *cli.Context) *wasm.Budget {
	if !console.HasFlag(c.Command, ModuleTimeFlag.Name) {
		return nil
	}
	b := &wasm.Budget{
		Time: moduleBudgetTime, Memory: moduleBudgetMemory,
		TimeAdvice: "more with --module-time", MemoryAdvice: "more with --module-memory",
	}
	if slices.Contains(plays, c.Command.Name) {
		b.Time, b.Memory = 0, 0
	}
	if c.Command.Name == "join" {
		b.Time, b.Share = joinModuleTime, joinModuleShare
	}
	if c.IsSet(ModuleTimeFlag.Name) {
		b.Time, b.Share = cmp.Or(c.Duration(ModuleTimeFlag.Name), wasm.NoLimit), 0
	}
	if c.IsSet(ModuleMemoryFlag.Name) {
		b.Memory = cmp.Or(int64(c.Uint(ModuleMemoryFlag.Name))<<20, wasm.NoLimit)
	}
	b.Context, _ = c.App.Metadata[console.CallsKey].(context.Context)
	return b
}

// Exceeded returns err, or the error of a module that exceeded a limit if the verb went on without its answer.
func Exceeded(b *wasm.Budget, err error) error {
	if b == nil || b.Fault() == nil || console.IsUsage(err) || console.FaultIn(err) != nil || errors.As(err, new(*lockstep.DesyncError)) {
		return err
	}
	return &console.ClassError{Class: replay.ClassLimit, Text: "the module of the rules: " + b.Fault().Text}
}

// CompileVerb is the verb that compiles a module in another process. It has no flags and no help.
const CompileVerb = "compile-module"

// compiler returns the process with that verb, or nil if the program cannot start itself.
func compiler() func(context.Context) *exec.Cmd {
	self := StartsItself()
	if self == nil {
		return nil
	}
	return func(ctx context.Context) *exec.Cmd { return self(ctx, CompileVerb) }
}

// StartsItself returns the program with arguments in a process of its own, or nil if it cannot start itself.
func StartsItself() func(context.Context, ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil || !console.IsProgram {
		return nil
	}
	return func(ctx context.Context, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, path, args...)
		c.Args[0] = os.Args[0]
		return c
	}
}

// UsedRules name the rules with which a verb has simulated a match.
type UsedRules struct {
	Game  string `json:"game"`
	Build string `json:"build"`
	Rules string `json:"rules"` // the SHA-256 of a module, or builtIn
}

// builtIn are the rules of the program itself.
const builtIn = "built in"

// WithRules returns the JSON of v, and in an object also the rules that were used, as its last field.
func WithRules(v any, used []UsedRules) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil || len(used) == 0 || len(b) < 3 || b[0] != '{' {
		return b, err
	}
	last, err := json.Marshal(struct {
		SimulatedBy []UsedRules `json:"simulated_by"`
	}{used})
	if err != nil {
		return nil, err
	}
	return slices.Concat(bytes.TrimSuffix(b, []byte("}")), []byte(","), last[1:]), nil
}

// OfFile adds the name of a file to err, unless err is nil or a usage error.
func OfFile(name string, err error) error {
	if err == nil || console.IsUsage(err) {
		return err
	}
	return &console.FileError{Name: name, Err: err}
}
