//go:build !js

package serving

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A resumption has the matches whose logs a crash left open.
type resumption struct {
	found []server.Interrupted
	taken map[string]bool // names of matches that have a log, also one that cannot be resumed
}

// findInterrupted finds the live logs of the games' matches. It reads their headers only.
func findInterrupted(c *cli.Context, games gameset.List, policy *MatchPolicy) (*resumption, error) {
	r := &resumption{taken: make(map[string]bool)}
	dir := c.String("dir")
	if dir == "" || !c.Bool("resume") {
		return r, nil
	}
	paths, err := server.LiveLogs(dir)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		spec, err := interruptedMatch(path, func(h *lockstep.Header, rules *replay.Rules) (*gameset.Playable, error) {
			return hostedOf(c, games, h, rules)
		}, policy, c.Uint("bots"))
		r.taken[server.MatchOfLog(path)] = !errors.Is(err, server.ErrNeverBegan)
		r.found = append(r.found, server.Interrupted{Path: path, Spec: spec, Err: err})
	}
	return r, nil
}

// check returns why a start could not resume the matches, as far as their headers and assets tell.
func (r *resumption) check(log *slog.Logger) (all error) {
	for _, one := range r.found {
		err := one.Err
		if err == nil {
			err = server.CheckLog(one.Path, one.Spec.Game)
		}
		switch {
		case errors.Is(err, server.ErrNeverBegan): // a start begins the match anew
			logged.Match(log, server.MatchOfLog(one.Path), "").Warn("match cannot be resumed", "path", one.Path, "err", err)
		case err != nil:
			all = errors.Join(all, fmt.Errorf("match %s cannot be resumed: %s: %w", server.MatchOfLog(one.Path), one.Path, err))
		}
	}
	return all
}

// warnInterrupted warns of matches in --dir that could be resumed, and are not.
func warnInterrupted(c *cli.Context, log *slog.Logger) {
	if c.String("dir") == "" || c.Bool("resume") {
		return
	}
	live := filepath.Join(c.String("dir"), "live")
	if paths, _ := filepath.Glob(filepath.Join(live, "*.ssr")); len(paths) > 0 { // the pattern is well-formed
		if c.String("durability") == replicated {
			log.Info("files of matches that this server had when it was lost: the cluster goes on with the matches, and removes the files of those that another server has", "matches", len(paths), "folder", live)
			return
		}
		log.Warn("interrupted matches are left alone, and matches of their names begin anew; --resume goes on with them", "matches", len(paths), "folder", live)
	}
}

// hostedOf returns the game of a match with a log: one of games, or else that of a module in the folders of --rules. So a match goes
// on under the rules of its own build when the server has a new one.
func hostedOf(c *cli.Context, games gameset.List, h *lockstep.Header, rules *replay.Rules) (*gameset.Playable, error) {
	g, err := games.OfLog(h, rules)
	m := gameset.ModulesOf(c)
	if err == nil || m == nil {
		return g, err
	}
	if rules != nil {
		return m.Hosted(h, rules)
	}
	if found, err := m.Find(func(g *gameset.Playable) bool { return g.CheckIdentity(h) == nil }); found != nil || err != nil {
		return found, err
	}
	return g, err
}

// interruptedMatch returns the match of a log.
func interruptedMatch(path string, games func(*lockstep.Header, *replay.Rules) (*gameset.Playable, error), policy *MatchPolicy, bots uint) (spec server.MatchSpec, err error) {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return spec, err
	}
	defer f.Close()
	h, err := f.Header()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = server.ErrNeverBegan
	}
	if err != nil {
		return spec, err
	}
	rules, err := gameset.RulesIn(f)
	if err != nil {
		return spec, err
	}
	g, err := games(h, rules)
	if err != nil {
		return spec, err
	}
	spec.Name, spec.Game, spec.Settings = server.MatchOfLog(path), g.Game, h.Settings
	policy.Of(g).apply(&spec, bots)
	return spec, nil
}

// with returns the specs of the matches, and those of fresh ones of other names.
func (r *resumption) with(fresh []server.MatchSpec) (all []server.MatchSpec) {
	for _, one := range r.found {
		if one.Err == nil {
			all = append(all, one.Spec)
		}
	}
	for _, spec := range fresh {
		if !r.taken[spec.Name] {
			all = append(all, spec)
		}
	}
	return all
}

// start resumes the matches in the background. As each begins, it prints its name. If one is over, it creates the match
// of that name in fresh.
func (r *resumption) start(c *cli.Context, s *server.Server, log *slog.Logger, fresh []server.MatchSpec) {
	var printing sync.Mutex
	s.Recover(r.found, func(one server.Interrupted, m *server.Match, err error) {
		printing.Lock()
		defer printing.Unlock()
		if errors.Is(err, server.ErrNotInterrupted) {
			for _, spec := range fresh {
				if spec.Name != one.Spec.Name {
					continue
				}
				if _, err := s.Create(spec); err != nil {
					logged.Match(log, spec.Name, "").Error("match not created", "err", err)
				}
			}
		}
		if err == nil { // otherwise the server has logged it
			how := ""
			if m.Status().EndedByRules {
				how = ", where its rules ended it"
			}
			fmt.Fprintf(c.App.Writer, "resumed %s after tick %d%s\n", m.Name(), m.Status().Tick, how)
		}
	})
}

// replicated is the --durability with which an extension keeps the logs of matches on several machines.
const replicated = "replicated"
