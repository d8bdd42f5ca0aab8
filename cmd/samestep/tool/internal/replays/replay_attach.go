//go:build !js

package replays

import (
	"os"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/replay"
)

var (
	withRulesFlag = &cli.StringFlag{Name: "with-rules", Usage: "write the module of the match's rules in `FILE` into OUT", DefaultText: "what IN has"}
	referenceFlag = &cli.BoolFlag{Name: "reference", Usage: "write only the sum of the module, which many matches can share"}
)

func replayAttachCommand() *cli.Command {
	return &cli.Command{
		Name:      "attach",
		Usage:     "put the rules of a match into its replay",
		ArgsUsage: "IN OUT",
		Description: `Writes the same file with the module of its rules, so that whoever has the file can
verify it. With --reference it has only the sum of the module, by which a folder of
modules is searched. The content hash and its signatures stay the same.`,
		Flags: []cli.Flag{
			withRulesFlag, referenceFlag,
			&cli.BoolFlag{Name: "none", Usage: "take the rules out of the file"},
			console.JSONFlag,
		},
		Action: written(replayAttach),
	}
}

func replayAttach(c *cli.Context) error {
	if c.IsSet(withRulesFlag.Name) == c.Bool("none") {
		return console.Usagef("want --with-rules or --none")
	}
	return copyReplay(c, func(f *replay.File, out *os.File) error {
		r, err := f.Reader()
		if err != nil {
			return err
		}
		var rules *replay.Rules
		if !c.Bool("none") {
			if rules, err = newRules(c); err != nil {
				return err
			}
		}
		return replay.Attach(out, r, rules)
	})
}

// newRules returns the rules of --with-rules.
func newRules(c *cli.Context) (*replay.Rules, error) {
	module, err := gameset.ModuleBytes(c.String(withRulesFlag.Name))
	if err != nil {
		return nil, err
	}
	rules, err := replay.NewRules(module)
	if err == nil && c.Bool(referenceFlag.Name) {
		rules = rules.Reference()
	}
	return rules, err
}

// optionsWithRules returns the options of each sealed file that is written from another one: with the rules of --with-rules, or of
// that file.
func optionsWithRules(c *cli.Context) func(from *replay.File) (replay.WriterOptions, error) {
	given := sync.OnceValues(func() (*replay.Rules, error) { return newRules(c) })
	return func(from *replay.File) (o replay.WriterOptions, err error) {
		o = sealedOptions(c)
		if c.IsSet(withRulesFlag.Name) {
			o.Rules, err = given()
			return o, err
		}
		r, err := from.Reader()
		if err == nil {
			o.Rules, _ = r.Rules() // a file that is damaged before them says so when it is read
		}
		return o, err
	}
}
