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

// An interrupted is a match that a crash has ended, or whose end by the rules its players may have missed.
type interrupted struct {
	path  string           // of its replay
	spec  server.MatchSpec // as far as the replay has it
	ended bool             // the replay has its end
}

// findInterrupted finds replays of the game that have no end and are not damaged inside, or that end by the rules and
// were not sealed.
func findInterrupted(c *cli.Context, g *playable) ([]interrupted, error) {
	dir := c.String("dir")
	if dir == "" {
		return nil, nil
	}
	paths, err := server.LiveLogs(dir)
	if err != nil {
		return nil, err
	}
	var found []interrupted
	for _, path := range paths {
		m, err := interruptedMatch(path, g, c.Bool("keep-open"))
		if err != nil { // other matches can still be served
			fmt.Fprintf(c.App.ErrWriter, "%s: not resumed: %v\n", c.App.Name, err)
		} else if m != nil {
			found = append(found, *m)
		}
	}
	return found, nil
}

// interruptedMatch returns nil for a match that is over, or is of another server.
func interruptedMatch(path string, g *playable, keepOpen bool) (*interrupted, error) {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if info.Header == nil {
		return nil, ofFile(path, err)
	}
	ended := info.Ended && err == nil
	if g.CheckIdentity(info.Header) != nil || ended && (!info.ByRules || keepOpen || info.Segments > 0 || info.Signatures != nil) {
		return nil, nil
	}
	var damage *replay.DamageError
	if !ended && (!errors.As(err, &damage) || damage.Next > 0) {
		return nil, ofFile(path, err)
	}
	name, ok := strings.CutSuffix(filepath.Base(path), "-"+info.Header.Match.String()[:8]+".ssr")
	if !ok {
		return nil, nil
	}
	return &interrupted{path, server.MatchSpec{Name: name, Game: g.Game, Settings: info.Header.Settings}, ended}, nil
}

// resume continues interrupted matches, and prints their names.
func resume(c *cli.Context, s *server.Server, all []interrupted) error {
	for _, m := range all {
		match, err := s.Resume(m.path, m.spec)
		if m.ended && err != nil { // nobody can play it any more
			fmt.Fprintf(c.App.ErrWriter, "%s: not resumed: %v\n", c.App.Name, err)
			continue
		}
		if err != nil {
			return err
		}
		how := ""
		if match.View().EndedByRules {
			how = ", where its rules ended it"
		}
		if _, err := fmt.Fprintf(c.App.Writer, "resumed %s after tick %d%s\n", match.Name(), match.View().Tick, how); err != nil {
			return err
		}
	}
	return nil
}
