//go:build !js

package serving

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
	"github.com/seed-49bee653/samestep/server/archive/s3"
)

// A start is what serve begins with, from its flags.
type start struct {
	games  gameset.List
	game   *gameset.Playable // of the matches
	specs  []server.MatchSpec
	policy *MatchPolicy
}

func newStart(c *cli.Context) (s start, err error) {
	if s.games, err = gameset.Hosted(c); err != nil {
		return s, err
	}
	if err := checkCompat(c, s.games[0]); err != nil {
		return s, err
	}
	if s.specs, s.game, err = startingSpecs(c, s.games); err != nil {
		return s, err
	}
	if s.policy, err = NewMatchPolicy(c, s.game); err != nil {
		return s, err
	}
	return s, s.policy.applyFlags(c, s.specs)
}

// checkServeConfig checks what serve would read, also of the logs of matches to resume, and plays no match. It opens no port, folder or storage.
func checkServeConfig(c *cli.Context) error {
	s, err := newStart(c)
	if err != nil {
		return err
	}
	log, err := NewLog(c)
	if err != nil {
		return err
	}
	stopped, err := findInterrupted(c, s.games, s.policy)
	if err != nil {
		return err
	}
	warnInterrupted(c, log)
	if err = s.check(c, stopped); err == nil {
		tellRetention(c, time.Now())
		fmt.Fprintln(c.App.Writer, "ok")
	}
	return err
}

// tellRetention says what a start now would delete from the archive, as far as the index on this machine knows.
func tellRetention(c *cli.Context, now time.Time) {
	place := c.String("archive")
	if place == "" {
		return
	}
	index := filepath.Join(place, "index.db")
	if _, err := os.Stat(index); err != nil { // the place is no folder, or has nothing yet
		index = filepath.Join(c.String("dir"), "archive.db")
	}
	d, err := archive.Preview(index, keep(c), now)
	switch {
	case err != nil:
		fmt.Fprintf(c.App.Writer, "retention: not known: %v\n", err)
	case d.Files > 0:
		fmt.Fprintf(c.App.Writer, "retention: would delete %s with %d bytes, from %s to %s, at %s\n", console.Count(d.Files, "file"), d.SizeBytes, d.First, d.Last, d.At.UTC().Format(time.RFC3339))
	}
}

// check checks a start that resumes interrupted matches.
func (s *start) check(c *cli.Context, stopped *resumption) error {
	o, _, err := serverOptions(c, s.games, stopped.with(s.specs), s.policy)
	if err != nil {
		return err
	}
	lost := stopped.check(o.Log)
	if _, err = newBinding(c); err != nil {
		return err
	}
	if err := checkArchive(c); err != nil {
		return err
	}
	if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
		return console.Usagef("--dir: %s is not a folder", o.Dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.Dir != "" {
		o.Denials = server.DenialsIn(o.Dir)
	}
	o.Dir, o.Log = "", slog.New(slog.DiscardHandler)
	on, err := server.New(o)
	if err != nil {
		return err
	}
	specs := slices.DeleteFunc(s.specs, func(spec server.MatchSpec) bool { return stopped.taken[spec.Name] })
	if len(specs) > 0 { // the others differ only in their names and seeds
		_, err = on.Create(specs[0])
	}
	return errors.Join(err, on.Shutdown(c.Context), lost)
}

// checkArchive checks the flags of the archive and its environment.
func checkArchive(c *cli.Context) error {
	if _, err := archiveKey(c); err != nil {
		return err
	}
	if place := c.String("archive"); strings.HasPrefix(place, "s3:") {
		config, err := s3.FromEnvironment(place, os.Getenv)
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		store, err := s3.New(config) // connects with nothing
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		store.Close()
	}
	return nil
}
