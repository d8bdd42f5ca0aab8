//go:build !js

package about

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold"
)

// NewCommand returns the verb new.
func NewCommand() *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "write the module of a new game, which runs",
		ArgsUsage: "FOLDER",
		Description: `Writes rules, a bot, tests, a program with all verbs, and a workflow for CI.
It needs the go command. Then, in FOLDER, go run . demo --web plays the game.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the game; its module is example.com/NAME. The default is the name of FOLDER"},
			&cli.StringFlag{Name: "replace", Usage: "use the checkout of the engine in `FOLDER`; found by itself if you are in it"},
		},
		Action: newGame,
	}
}

func newGame(c *cli.Context) error {
	dir, err := filepath.Abs(c.Args().First())
	if err != nil {
		return err
	}
	o := scaffold.Options{Dir: dir, Name: c.String("name"), Version: engineVersion(), Replace: c.String("replace")}
	if o.Name == "" {
		o.Name = filepath.Base(dir)
	}
	if o.Replace == "" && o.Version == "" {
		if o.Replace, err = checkout(); err != nil {
			return err
		}
	}
	if o.Replace != "" {
		if o.Replace, err = filepath.Abs(o.Replace); err != nil {
			return err
		}
	}
	if err := scaffold.Write(o); err != nil {
		return err
	}
	tidy := exec.CommandContext(c.Context, "go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy in %s: %w: %s", dir, err, bytes.TrimSpace(out))
	}
	_, err = fmt.Fprintf(c.App.Writer, "wrote game %s; now:\n\n  cd %s\n  go run . demo --web\n", o.Name, c.Args().First())
	return err
}

// engineVersion returns the version of the engine in this program, or "" if it was built from a checkout.
func engineVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == console.Module && m.Replace == nil && strings.HasPrefix(m.Version, "v") && !strings.Contains(m.Version, "+dirty") {
			return m.Version
		}
	}
	return ""
}

// checkout returns the folder of the engine's module, as the go command finds it from here.
func checkout() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", console.Module).Output()
	dir := strings.TrimSpace(string(out))
	if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); err != nil || dir == "" || statErr != nil {
		return "", console.Usagef("this program was built from a checkout of the engine, and this folder is not in it: want --replace with its folder")
	}
	return dir, nil
}
