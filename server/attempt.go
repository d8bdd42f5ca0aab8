package server

import (
	"context"
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Resume continues the match of a replay that a crash left open, after the last tick in the file and under the name that
// the file has. Players return with their tokens, which must name their seats. The settings and the configuration are
// those of the file; Resume uses only Game, Host and OnStart of the spec. It simulates the end of the match, from the last
// keyframe but one, writes the whole match to a new file, and replaces the old file by the new one. If the end does not
// agree with the log, it simulates the whole match. Otherwise it compares the beginning in the background.
//
// A match that its rules have ended in the last tick of the file gets its end record if that is missing, and lingers as
// if it had ended now. With Options.KeepOpen that is only so without the end record, because the file of a match that is
// over looks as after a crash that followed it.
func (s *Server) Resume(path string, spec MatchSpec) (*Match, error) {
	x, err := s.recoverer.claim(path, spec)
	if err != nil {
		return nil, err
	}
	s.denier.awaitBans(x)
	if err := s.recoverer.attempt(x); err != nil {
		return nil, err
	}
	return x.match, nil
}

// claim locks the log of an interrupted match, and reserves the match's name.
func (rc *recoverer) claim(path string, spec MatchSpec) (*recovery, error) {
	log, header, err := openInterrupted(path)
	if err != nil {
		return nil, err
	}
	x := &recovery{log: log, header: header}
	if spec.Name, err = resumedName(path, header); err == nil {
		spec.Settings = header.Settings
		x.phase, err = rc.registry.reserve(spec.Name, spec.Settings)
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	x.match = rc.starter.newMatch(spec)
	x.match.path = path
	x.match.know(header)
	rc.registry.expect(spec.Name, newView(x.match, header, matchRecovering))
	return x, nil
}

// unclaim undoes claim.
func (rc *recoverer) unclaim(x *recovery) {
	x.log.Close()
	rc.starter.forget(x.match)
	rc.registry.launching.Done()
}

// errDiskSlow: another server of the cluster, with a disk of its own, may continue the match.
var errDiskSlow = errors.New("server: the disk has not answered while the match was resumed")

// attempt continues a claimed match. A match that panics or hangs costs only itself. It waits for a disk that does not answer, unless
// another server may continue the match.
func (rc *recoverer) attempt(x *recovery) error {
	done := make(chan error, 1)
	go func() { done <- contain(rc.metrics, x.match.logger, func() error { return rc.recoverMatch(x) }) }()
	look := time.NewTicker(hungTime)
	defer look.Stop()
	for seen, told := uint64(0), false; ; {
		select {
		case err := <-done:
			x.match.notePanic(err)
			return err
		case <-look.C:
		}
		now := x.work.Load()
		stands, byRules := now == seen, now%2 == 1
		seen = now
		switch {
		case !stands:
			continue
		case !byRules && !rc.elsewhere:
			if !told {
				x.match.logger.Warn("waiting for the disk", "path", x.match.path)
			}
			told = true
			continue
		}
		if !x.decide() {
			continue
		}
		if byRules {
			x.match.log.Release(ErrHung)
			return ErrHung
		}
		if now > 0 { // it has the replicated log; the file stays, because the disk does not answer
			x.match.log.Leave(errDiskSlow)
		}
		return errDiskSlow
	}
}

// testTime is how long a resumed match runs until nobody doubts it. Its log can lack up to a second of what it has played, and in that the
// tick that ends the process.
const testTime = 2 * lockstep.Second

// standTime is how long a match may stand after Options.AwaitPlayers until its try is over. Until then it is known whether the match hangs.
const standTime = hungTime + 5*time.Second

// AwaitTest waits until a resumed match has run for two seconds of its time. It reports false if the match stands in its lobby or in a
// pause, stops before, or ctx ends.
func (m *Match) AwaitTest(ctx context.Context) (ran bool) {
	from := m.View().Tick
	enough := from + 1 + lockstep.Tick(int64(testTime)/max(m.spec.Settings.Micros(1), 1))
	ctx, cancel := context.WithTimeout(ctx, m.server.options.AwaitPlayers+standTime)
	defer cancel()
	look := time.NewTicker(time.Second / 4)
	defer look.Stop()
	for {
		over := false
		select {
		case <-m.done:
			over = true
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		switch v := m.View(); {
		case v.hung:
			return false
		case v.Tick >= enough || v.over:
			return true
		case over || v.state() == matchPaused || v.state() == matchLobby:
			return false
		}
	}
}
