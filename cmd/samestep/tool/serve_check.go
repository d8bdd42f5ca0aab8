//go:build !js

package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/archive/s3"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// checkServeConfig checks what serve would read, and plays no match. It opens no port, folder or storage.
func checkServeConfig(c *cli.Context) error {
	games, err := hosted(c)
	if err != nil {
		return err
	}
	if err := checkCompat(c, games[0]); err != nil {
		return err
	}
	specs, g, err := startingSpecs(c, games)
	if err != nil {
		return err
	}
	policy, err := newMatchPolicy(c, g)
	if err != nil {
		return err
	}
	if err := policy.applyFlags(c, specs); err != nil {
		return err
	}
	o, _, err := serverOptions(c, games, specs, policy)
	if err != nil {
		return err
	}
	warnInterrupted(c, o.Log)
	if _, err = newBinding(c); err != nil {
		return err
	}
	if _, err = archiveKey(c); err != nil {
		return err
	}
	if place := c.String("archive"); strings.HasPrefix(place, "s3:") {
		if _, err := s3.FromEnvironment(place, os.Getenv); err != nil {
			return fmt.Errorf("--archive: %w", err)
		}
	}
	if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
		return usagef("--dir: %s is not a folder", o.Dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.Dir, o.Log = "", slog.New(slog.DiscardHandler)
	s, err := server.New(o)
	if err != nil {
		return err
	}
	if len(specs) > 0 { // the others differ only in their names and seeds
		_, err = s.Create(specs[0])
	}
	if err = errors.Join(err, s.Shutdown(c.Context)); err == nil {
		fmt.Fprintln(c.App.Writer, "ok")
	}
	return err
}
