//go:build !js

package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/archive/s3"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// checkServeConfig checks what serve would read, also of the logs of matches to resume, and plays no match. It opens no port, folder or storage.
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
	stopped, err := findInterrupted(c, games, policy)
	if err != nil {
		return err
	}
	o, _, err := serverOptions(c, games, stopped.with(specs), policy)
	if err != nil {
		return err
	}
	warnInterrupted(c, o.Log)
	lost := stopped.check(o.Log)
	if _, err = newBinding(c); err != nil {
		return err
	}
	if err := checkArchive(c); err != nil {
		return err
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
	specs = slices.DeleteFunc(specs, func(spec server.MatchSpec) bool { return stopped.taken[spec.Name] })
	if len(specs) > 0 { // the others differ only in their names and seeds
		_, err = s.Create(specs[0])
	}
	if err = errors.Join(err, s.Shutdown(c.Context), lost); err == nil {
		fmt.Fprintln(c.App.Writer, "ok")
	}
	return err
}

// checkArchive checks the flags of the archive and its environment.
func checkArchive(c *cli.Context) error {
	if _, err := archiveKey(c); err != nil {
		return err
	}
	if place := c.String("archive"); strings.HasPrefix(place, "s3:") {
		if _, err := s3.FromEnvironment(place, os.Getenv); err != nil {
			return fmt.Errorf("--archive: %w", err)
		}
	}
	return nil
}
