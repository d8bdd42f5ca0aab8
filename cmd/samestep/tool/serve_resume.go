//go:build !js

package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

// An interrupted is a match that a crash has ended.
type interrupted struct {
	path string           // of its replay
	spec server.MatchSpec // as far as the replay has it
}

// findInterrupted finds replays of the game that have no end and are not damaged inside.
func findInterrupted(c *cli.Context, g *playable) ([]interrupted, error) {
	paths, err := filepath.Glob(filepath.Join(c.String("dir"), "*.ssr"))
	if err != nil {
		return nil, err
	}
	var found []interrupted
	for _, path := range paths {
		spec, err := interruptedMatch(path, g)
		if err != nil { // other matches can still be served
			fmt.Fprintf(c.App.ErrWriter, "%s: not resumed: %v\n", c.App.Name, err)
		} else if spec != nil {
			found = append(found, interrupted{path, *spec})
		}
	}
	return found, nil
}

// interruptedMatch returns nil for a match that is over, or is of another server.
func interruptedMatch(path string, g *playable) (*server.MatchSpec, error) {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if info.Header == nil {
		return nil, ofFile(path, err)
	}
	if g.CheckIdentity(info.Header) != nil || info.Ended {
		return nil, nil
	}
	var damage *replay.DamageError
	if !errors.As(err, &damage) || damage.Next > 0 {
		return nil, ofFile(path, err)
	}
	name, ok := strings.CutSuffix(filepath.Base(path), "-"+info.Header.Match.String()[:8]+".ssr")
	if !ok {
		return nil, nil
	}
	return &server.MatchSpec{Name: name, Game: g.Game, Settings: info.Header.Settings}, nil
}

// resume continues interrupted matches, and prints their names.
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
