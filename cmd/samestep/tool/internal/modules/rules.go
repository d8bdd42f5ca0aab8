//go:build !js

// Package modules has the verbs about WebAssembly: rules, for modules of rules, and pack, for programs of pages.
package modules

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/checks"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

// RulesCommand returns the verb rules.
func RulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "make and look at WebAssembly modules with the rules of a game",
		Subcommands: []*cli.Command{
			rulesBuildCommand(),
			{
				Name:        "inspect",
				Usage:       "print what the rules in a module are",
				ArgsUsage:   "FILE",
				Description: "Compiles the module, and prints what it says about itself.",
				Flags:       append([]cli.Flag{console.JSONFlag}, gameset.ModuleFlags...),
				Action:      rulesInspect,
			},
			rulesCheckCommand(),
			{
				Name:      "add",
				Usage:     "add modules to the user's cache, in which replays find them",
				ArgsUsage: "FILE...",
				Description: `Checks each module and copies it into a folder, under its SHA-256. A verb that reads a
replay whose rules this program does not have looks there for a module with them.`,
				Flags:  []cli.Flag{&cli.StringFlag{Name: "dir", Usage: "the `FOLDER`", DefaultText: "in the user's cache"}, console.JSONFlag, gameset.ModuleTimeFlag, gameset.ModuleMemoryFlag},
				Action: rulesAdd,
			},
		},
	}
}

func rulesInspect(c *cli.Context) error {
	name := c.Args().First()
	g, err := gameset.ReadModule(c, name)
	if err != nil {
		return err
	}
	i := newModuleInfo(name, g)
	return gameset.Tell(c, i, i.print, nil)
}

func rulesAdd(c *cli.Context) error {
	dir := c.String("dir")
	if dir == "" {
		if dir = gameset.StoreOfUser(); dir == "" {
			return console.Usagef("this user has no cache folder; give --dir")
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range c.Args().Slice() {
		g, err := gameset.ReadModule(c, name)
		if err != nil {
			return err
		}
		i := newModuleInfo(name, g)
		if err := gameset.AddModule(dir, g.Module); err != nil {
			return err
		}
		if err := gameset.Tell(c, i, func(w io.Writer) { fmt.Fprintf(w, "added %s build %s as %s\n", i.Game, i.Build, i.SHA256) }, nil); err != nil {
			return err
		}
	}
	return nil
}

// A moduleInfo is what a verb prints of a module.
type moduleInfo struct {
	File     string   `json:"file"`
	SHA256   string   `json:"sha256"`
	Bytes    int      `json:"size_bytes"`
	Game     string   `json:"game"`
	Build    string   `json:"build"`
	Commands []string `json:"commands"`
	State    []string `json:"state"`        // its sections
	Schema   string   `json:"state_schema"` // its hash, as in errors of identity
	View     bool     `json:"view"`
	Assets   bool     `json:"assets"`
}

func newModuleInfo(name string, g *gameset.Playable) *moduleInfo {
	i := &moduleInfo{
		File: name, SHA256: g.Module.Sum, Bytes: len(g.Module.Bytes), Game: g.Name(), Build: g.Build(),
		Schema: checksum.FormatHash(g.StateSchema().Fingerprint()), View: g.ViewSchema() != nil, Assets: g.HasAssets(),
		Commands: []string{},
	}
	for s := range g.StateSchema().NumSections() {
		i.State = append(i.State, g.StateSchema().SectionName(s))
	}
	for _, k := range g.Commands() {
		i.Commands = append(i.Commands, k.Name)
	}
	return i
}

func (i *moduleInfo) print(w io.Writer) {
	line := console.NewLiner(w)
	line("rules", "of %s build %s", i.Game, i.Build)
	line("module", "%s, %d bytes, sha256 %s", console.Shown(i.File), i.Bytes, i.SHA256)
	line("commands", "%s", console.Shown(strings.Join(i.Commands, ", ")))
	line("state", "%s (schema %s)", console.Shown(strings.Join(i.State, ", ")), i.Schema)
	answer := map[bool]string{true: "yes", false: "no"}
	line("views", "%s", answer[i.View])
	line("assets", "%s", answer[i.Assets])
}

func rulesCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check that the rules in a module compute the same each time",
		ArgsUsage: "FILE",
		Description: `Plays a match of random commands, and computes it again in other ways: in a second
instance, from saved states, and by the interpreter in place of the compiler. With --dir
it also verifies the golden matches of the module's build in a folder. It exits with 3 if
two results differ, with 1 if the module refuses the configuration, with 4 if it answers
what it must not or exceeds a limit, and with 7 if it panics.`,
		Flags: append([]cli.Flag{
			gameset.AssetsFlag, gameset.ConfigFlag, console.JSONFlag,
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` of golden matches"},
			&cli.UintFlag{Name: "players", Value: 2, Usage: "seats of the match"},
			&cli.UintFlag{Name: "ticks", Value: 200, Usage: "ticks of the match, 1 to 100000"},
		}, console.RandomFlags...),
		Action: rulesCheck,
	}
}

// A moduleCheck is what rules check has found.
type moduleCheck struct {
	*moduleInfo
	Reached  *locksteptest.Reached `json:"reached"`           // by the match that was played in several ways
	Compared lockstep.Tick         `json:"interpreted_ticks"` // of the match that the interpreter played too
	Hash     string                `json:"state_hash"`        // of the last state that was compared with the interpreter
	Golden   int                   `json:"golden_matches"`
	SelfTest string                `json:"self_test"`
	Thin     string                `json:"thin,omitempty"` // why the match proves little
}

func rulesCheck(c *cli.Context) error {
	if err := cmp.Or(console.Between[uint](c, "players", 1, 16), console.Between[uint](c, "ticks", 1, 100000)); err != nil {
		return err
	}
	name := c.Args().First()
	one, err := gameset.ReadModule(c, name)
	if err != nil {
		return err
	}
	g := gameset.List{one}.ReadFrom(gameset.AssetFolder(c))[0]
	if err := g.SelfTest().Check(); err != nil {
		return err
	}
	o, err := checks.GoldenOptions(c, g)
	if err != nil {
		return err
	}
	check := locksteptest.Options{
		Config: o.Config, Players: o.Players, Ticks: o.Ticks, Weights: o.Weights, AllowThin: o.AllowThin, Every: max(o.Ticks/10, 1),
	}
	result := &moduleCheck{moduleInfo: newModuleInfo(name, g)}
	switch result.Reached, err = locksteptest.Run(g.Game, check); {
	case errors.Is(err, locksteptest.ErrThin): // random commands alone: that is not the module's fault
		result.Thin, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), "locksteptest: "), "\n")
	case err != nil:
		return moduleOutcome(err)
	}
	result.SelfTest = checksum.FormatHash(g.SelfTest().Game)
	last, err := compareInterpreted(g, g.Module.Bytes, o)
	if err != nil {
		return moduleOutcome(err)
	}
	result.Compared, result.Hash = last.Tick(), checksum.FormatHash(last.Hash())
	if o.Dir != "" {
		golden, err := locksteptest.CheckGolden(g.Game, o)
		if console.IsAny(err, locksteptest.ErrGoldenChanged, locksteptest.ErrGoldenPlatform) {
			return fmt.Errorf("%w: %w", console.ErrGolden, err)
		}
		if err != nil {
			return err
		}
		result.Golden = len(golden.Files)
	}
	return gameset.Tell(c, result, result.print, nil)
}

func (r *moduleCheck) print(w io.Writer) {
	line := console.NewLiner(w)
	line("checked", "%s build %s: a random match gives the same in other ways", r.Game, r.Build)
	line("reached", "%s", r.Reached)
	if r.Thin != "" {
		line("but", "%s", r.Thin)
	}
	line("compiled", "and interpreted: the same states in %s of random commands of player 0, the last %s", console.Count(int(r.Compared), "tick"), r.Hash)
	if r.Golden > 0 {
		line("golden", "%s verified", console.Count(r.Golden, "match"))
	}
}

// moduleOutcome says what a failed check of a module shows. Only two results that differ are a desync.
func moduleOutcome(err error) error {
	var (
		refusal *abi.Refusal
		config  *lockstep.ConfigError
		failure *locksteptest.Failure
		fault   = console.FaultIn(err)
	)
	switch {
	case errors.As(err, &config):
		return fmt.Errorf("the module refuses the configuration or its assets: %w", err)
	case errors.As(err, &refusal):
		return &console.ClassError{Class: replay.ClassInvalid, Text: fmt.Sprintf("the module refuses a state that it saved itself: %v", err)}
	case fault != nil && fault.Wrong:
		return &console.ClassError{Class: replay.ClassInvalid, Text: fmt.Sprintf("the module's answer violates docs/spec/abi.md: %v", err)}
	case fault != nil && fault.Limit:
		return fmt.Errorf("the module exceeds a limit: %w", err)
	case fault != nil:
		return fmt.Errorf("the module panics: %w", err)
	case errors.As(err, &failure):
		return fmt.Errorf("%w: %w", console.ErrDiffers, err)
	}
	return err
}

// compareInterpreted plays up to 50 ticks in the compiled and an interpreted module, and returns the last simulation or the first difference.
func compareInterpreted(g *gameset.Playable, module []byte, o locksteptest.GoldenOptions) (*lockstep.Simulation, error) {
	own := gameset.ModuleOptions(g.Module.Budget)
	own.Interpret = true
	rules, err := wasm.Compile(module, own)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	slow, err := lockstep.NewGameElsewhere(rules.Within(own.Budget))
	if err != nil {
		return nil, err
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(o.Players), o.Config)
	if err != nil {
		return nil, err
	}
	var sims [2]*lockstep.Simulation
	for i, game := range []*lockstep.Game{g.Game, slow.WithAssets(g.ReadAsset)} {
		if sims[i], err = game.NewSimulation(h); err != nil {
			return nil, err
		}
	}
	random := locksteptest.RandomBot(g.Game, 8, o.Weights)(0, 1)
	payloads := g.NewPayloads()
	for t := lockstep.Tick(1); t <= min(o.Ticks, 50); t++ {
		f := lockstep.Frame{Tick: t}
		for _, v := range random(sims[0]) {
			kind, payload, err := payloads.Encode(v)
			if err != nil {
				return nil, err
			}
			f.Commands = append(f.Commands, lockstep.Command{Tick: t, Sequence: lockstep.Sequence(t), Kind: kind, Payload: payload})
		}
		for i, s := range sims {
			if err := s.Step(&f); err != nil {
				return nil, fmt.Errorf("%s: %w", [2]string{"compiled", "interpreted"}[i], err)
			}
		}
		if a, b := sims[0].Hash(), sims[1].Hash(); a != b {
			return nil, fmt.Errorf("%w: at tick %d the compiled module has state %s, the interpreted one %s", console.ErrDiffers, t, checksum.FormatHash(a), checksum.FormatHash(b))
		}
		a, ended := sims[0].Ended()
		if b, also := sims[1].Ended(); also != ended || !bytes.Equal(a, b) {
			return nil, fmt.Errorf("%w: at tick %d the compiled module ends the match: %t, with %x; the interpreted one: %t, with %x", console.ErrDiffers, t, ended, a, also, b)
		}
		if ended {
			break
		}
	}
	return sims[0], nil
}
