//go:build !js

package clustertool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// rulesFlag names a module of rules, whose build in the farm is its sum.
func rulesFlag() cli.Flag {
	return &cli.StringFlag{Name: "rules", Usage: "verify with the rules of the module in `FILE`; its SHA-256 is the build"}
}

// rulesName returns the name of a module in the storage.
func rulesName(sum string) string { return "rules/" + sum + ".wasm" }

// rulesOf returns the module of --rules and its sum, or nothing without the flag.
func rulesOf(c *cli.Context) (module []byte, sum string, err error) {
	if !c.IsSet("rules") {
		return nil, "", nil
	}
	if module, err = os.ReadFile(c.String("rules")); err != nil {
		return nil, "", err
	}
	if _, err := tool.ModuleGames(c, module); err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.String("rules"), err)
	}
	of := sha256.Sum256(module)
	return module, hex.EncodeToString(of[:]), nil
}

// storeRules stores a module, unless the storage has it. It replaces other bytes of its name.
func storeRules(ctx context.Context, conn *storage.Conn, module []byte, sum string) error {
	store := objects.New(conn)
	want, err := objects.SumOf(bytes.NewReader(module))
	if err != nil {
		return err
	}
	got, err := store.Sum(ctx, rulesName(sum))
	if errors.Is(err, fs.ErrNotExist) || err == nil && got != want {
		return store.Write(ctx, rulesName(sum), module)
	}
	return err
}

// gameOfBuild returns the games of a worker: those of the module whose sum the build is, or else those of the program.
func gameOfBuild(c *cli.Context, conn *storage.Conn, build string) (func(*replay.File) (*lockstep.Game, error), error) {
	if b, err := hex.DecodeString(build); err != nil || len(b) != sha256.Size {
		return func(f *replay.File) (*lockstep.Game, error) { return tool.GameOf(c, f) }, nil
	}
	f, err := objects.New(conn).Open(c.Context, rulesName(build))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tool.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the storage has no module %s: farm submit --rules FILE stores it", build)}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	module, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(module); hex.EncodeToString(sum[:]) != build {
		return nil, &tool.ClassError{Class: replay.ClassCorrupt, Text: fmt.Sprintf("the module %s in the storage has other bytes: farm submit --rules FILE replaces it", build)}
	}
	return tool.ModuleGames(c, module)
}
