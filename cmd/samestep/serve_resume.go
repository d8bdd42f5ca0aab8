package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

// An interrupted is a match that a crash ended, by its replay.
type interrupted struct {
	path string
	spec server.MatchSpec // what there is to say of it before it goes on
}

// findInterrupted looks for replays of the game that have no end and are not
// damaged inside.
func findInterrupted(c *cli.Context, g *playable) ([]interrupted, error) {
	paths, err := filepath.Glob(filepath.Join(c.String("dir"), "*.ssr"))
	if err != nil {
		return nil, err
	}
	var found []interrupted
	for _, path := range paths {
		err := withOpened(files.OpenNoFollow, path, func(f *replayFile) error {
			r, err := f.reader()
			if err != nil {
				return err
			}
			info, err := replay.ReadInfo(r)
			if info.Header == nil {
				return err
			}
			if g.CheckIdentity(info.Header) != nil || info.Ended {
				return nil // of another server, or over
			}
			var damage *replay.DamageError
			if !errors.As(err, &damage) || damage.Next > 0 {
				return err
			}
			name, ok := strings.CutSuffix(filepath.Base(path), "-"+info.Header.Match.String()[:8]+".ssr")
			if ok {
				found = append(found, interrupted{path, server.MatchSpec{Name: name, Game: g.Game, Settings: info.Header.Settings}})
			}
			return nil
		})
		if err != nil { // it is no reason not to serve
			fmt.Fprintf(c.App.ErrWriter, "samestep: not resumed: %v\n", err)
		}
	}
	return found, nil
}

// resume goes on with matches, and says with which.
func resume(c *cli.Context, s *server.Server, all []interrupted) error {
	for _, m := range all {
		match, err := s.Resume(m.path, m.spec)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.App.Writer, "resumed %s after tick %d\n", match.Name(), match.View().Tick); err != nil {
			return err
		}
	}
	return nil
}
