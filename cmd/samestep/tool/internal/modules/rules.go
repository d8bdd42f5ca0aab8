//go:build !js

// Package modules has the verbs about WebAssembly: rules, for modules of rules, and pack, for programs of pages.
package modules

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
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
			return console.Usagef("this user has no folder for caches: want --dir")
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
