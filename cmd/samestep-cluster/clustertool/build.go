//go:build !js

package clustertool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// buildFlag names the rules whose results are meant.
func buildFlag() cli.Flag {
	return &cli.StringFlag{Name: "build", Usage: "`NAME` of the rules in the farm", DefaultText: "the revision of the program's sources, or the hash of the program if they were changed"}
}

// buildOf returns the value of --build, or its default.
func buildOf(c *cli.Context) (string, error) {
	if c.IsSet("build") {
		return c.String("build"), nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := cleanRevision(info); revision != "" {
			return revision, nil
		}
	}
	return programHash()
}

// cleanRevision returns the revision of the sources, or nothing if they were changed.
func cleanRevision(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] != "false" {
		return ""
	}
	return settings["vcs.revision"]
}

// programHash returns a hash of the program's file, which is equal on all machines of one platform.
var programHash = sync.OnceValues(hashProgram)

func hashProgram() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w; want --build", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w; want --build", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "program-" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

// buildFlags returns the flags of a verb about a build: its own, and those that all have.
func buildFlags(own ...cli.Flag) []cli.Flag {
	return slices.Concat([]cli.Flag{buildFlag(), tool.JSONFlag()}, own, connectionFlags(localStorage))
}

// onBuild makes the action of such a verb, with a connection to the storage. check, which may be nil, looks at the flags before.
func onBuild(role storage.Role, check func(*cli.Context) error, act func(c *cli.Context, conn *storage.Conn, build string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if check != nil {
			if err := check(c); err != nil {
				return err
			}
		}
		build, err := buildOf(c)
		if err != nil {
			return err
		}
		return connected(c, role, func(conn *storage.Conn) error { return act(c, conn, build) })
	}
}
