//go:build !js

package gameset

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

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
	ModuleTimeFlag = &cli.DurationFlag{Name: "module-time", Usage: "how long the modules of rules of a file may take, to compile and in all calls; 0: no limit", DefaultText: "15s; none for verbs that play matches"}
	// ModuleMemoryFlag bounds the memory of a module.
	ModuleMemoryFlag = &cli.UintFlag{Name: "module-memory", Usage: "how many `MIB` of memory they may take at a time; 0: no limit", DefaultText: "192; none for verbs that play matches"}
)

// ModuleFlags bound what modules of rules take.
var ModuleFlags = []cli.Flag{ModuleTimeFlag, ModuleMemoryFlag}

// plays are the verbs that play matches of the games that the user names: their time is as long as the user wants.
var plays = []string{"bench", "check", "demo", "drill", "fuzz", "golden", "log", "net", "add", "simulate", "run"}

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

// Exceeded returns err, or in its place the error of a module that has exceeded a limit, if err does not tell of it: the verb has gone on
// without what the module should have computed.
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
