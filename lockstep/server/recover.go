package server

import (
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/internal/logged"
)

// An Interrupted is a match to recover: the path of its log, and a spec as for [Server.Resume].
type Interrupted struct {
	Path string
	Spec MatchSpec
	Err  error // why the match cannot be resumed, if the caller knows that
}

// Recover resumes matches in the background, on all processors. It returns when their logs are locked and their names
// are reserved. From then on their requests are answered with 503 and Retry-After, and their WebSockets with closing.
// Each match begins to run when it is resumed.
//
// Recover calls done with the error of each match, see [Server.Resume], from several goroutines. It also logs the error
// with the log's path. The log stays as it is, and its name is taken until the server ends; only the replay of a match
// that is over leaves the live folder.
func (s *Server) Recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	s.comparing.Lock() // until all matches run
	s.mu.Lock()
	s.recoveries.since, s.recoveries.done = time.Now(), 0
	s.mu.Unlock()
	s.launching.Add(1)
	var claimed []*claimedLog
	for _, one := range all {
		var x *recovery
		err := one.Err
		if err == nil {
			x, err = s.claim(one.Path, one.Spec)
		}
		if err != nil {
			s.notRecovered(logged.Match(s.log, MatchOfLog(one.Path), ""), one, err)
			done(one, nil, err)
			continue
		}
		claimed = append(claimed, &claimedLog{x, func() error {
			began := time.Now()
			err := s.guard(x.match.logger, func() error { return s.recoverMatch(x) })
			s.mu.Lock()
			s.recoveries.done++
			s.mu.Unlock()
			if err != nil {
				s.notRecovered(x.match.logger, one, err)
				done(one, nil, err)
				return nil
			}
			x.match.logger.Info("match recovered", "tick", uint32(x.match.View().Tick), "simulated_from", uint32(x.match.skipped), "seconds", time.Since(began).Seconds())
			done(one, x.match, nil)
			return nil
		}})
	}
	go func() {
		defer s.launching.Done()
		defer s.comparing.Unlock()
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		var reading sync.WaitGroup
		for _, l := range claimed {
			reading.Go(func() { // one that waits for its bans keeps no processor from the others
				s.awaitBans(l.recovery)
				group.Go(l.resume)
			})
		}
		reading.Wait()
		group.Wait()
	}()
}

// A claimedLog is a recovery with the function that resumes it.
type claimedLog struct {
	*recovery
	resume func() error
}

// notRecovered logs why a log was not recovered. Its name stays reserved, unless its match is over or never
// began.
func (s *Server) notRecovered(log *slog.Logger, one Interrupted, err error) {
	switch {
	case errors.Is(err, ErrNotInterrupted):
		log.Info("match is over", "path", one.Path)
	case errors.Is(err, ErrNeverBegan):
		log.Warn("match not resumed", "path", one.Path, "err", err)
	case errors.Is(err, ErrShutdown): // the next start recovers it
	default:
		s.metrics.failures.Inc()
		name := MatchOfLog(one.Path)
		log.Error("match not resumed", "path", one.Path, "err", err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.recoveries.failed[name] = one.Path
	}
}

// awaitBans reads the bans that an interrupted match had. While it cannot, the match stays recovering, which admits nobody, and the
// server is not ready.
func (s *Server) awaitBans(x *recovery) {
	if s.keeper.store == nil {
		return
	}
	key := banKeyOf(x.header.Match)
	for told := false; !s.isClosed(); time.Sleep(keepAgain) {
		value, err := s.keeper.store.Get(key)
		if err == nil {
			x.match.bans, x.match.bansKept = value, value != nil
			return
		}
		if !told {
			told = true
			x.match.logger.Error("the bans of a match cannot be read, so nobody is admitted to it; the server tries again", "at", s.keeper.place(key), "err", err)
			s.countUnread(1)
			defer s.countUnread(-1)
		}
	}
}

// countUnread counts a match that waits for its bans, or one less.
func (s *Server) countUnread(n int) {
	s.mu.Lock()
	s.recoveries.unread += n
	s.mu.Unlock()
}
