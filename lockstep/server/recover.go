package server

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// An Interrupted is a match to recover: the path of its log, and a spec as for [Server.Resume].
type Interrupted struct {
	Path string
	Spec MatchSpec
}

// Recover resumes matches in the background, on all processors. It returns when their logs are locked and their names
// are reserved. From then on their requests are answered with 503 and Retry-After, and their WebSockets with closing.
// Each match begins to run when it is resumed.
//
// Recover calls done with the error of each match, see [Server.Resume], from several goroutines. It also logs the error
// with the log's path. The log stays as it is, except that the replay of a match that is over leaves the live folder.
func (s *Server) Recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	s.comparing.Lock() // until all matches run
	s.mu.Lock()
	s.recoveries.since, s.recoveries.done = time.Now(), 0
	s.mu.Unlock()
	s.launching.Add(1)
	var claimed []func() error
	for _, one := range all {
		x, err := s.claim(one.Path, one.Spec)
		if err != nil {
			s.logRecovery(one.Path, nil, err)
			done(one, nil, err)
			continue
		}
		claimed = append(claimed, func() error {
			began := time.Now()
			err := s.guard(func() error { return s.recoverMatch(x) })
			if err != nil {
				x.match = nil
			}
			s.mu.Lock()
			s.recoveries.done++
			s.mu.Unlock()
			s.logRecovery(one.Path, x.match, err, "seconds", time.Since(began).Seconds())
			done(one, x.match, err)
			return nil
		})
	}
	go func() {
		defer s.launching.Done()
		defer s.comparing.Unlock()
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for _, f := range claimed {
			group.Go(f)
		}
		group.Wait()
	}()
}

// logRecovery logs what became of a log.
func (s *Server) logRecovery(path string, m *Match, err error, more ...any) {
	switch {
	case err == nil:
		s.log.Info("match recovered", append([]any{"match", m.Name(), "tick", uint32(m.View().Tick), "simulated_from", uint32(m.skipped)}, more...)...)
	case errors.Is(err, ErrNotInterrupted):
		s.log.Info("match is over", "path", path)
	case errors.Is(err, ErrShutdown): // the next start recovers it
	default:
		s.metrics.failures.Inc()
		s.log.Error("match not recovered", "path", path, "err", err)
	}
}
