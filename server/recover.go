package server

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/tries"
)

// An Interrupted is a match to recover: the path of its log, and a spec as for [Server.Resume].
type Interrupted struct {
	Path string
	Spec MatchSpec
	Err  error // why the match cannot be resumed, if the caller knows that
}

// A resuming match is one that Recover tries.
type resuming struct {
	Interrupted
	*recovery
	known tries.Record
	done  func(Interrupted, *Match, error)
}

// Recover resumes matches in the background, on all processors. It returns when their logs are locked and their names
// are reserved. From then on their requests are answered with 503 and Retry-After, and their WebSockets with closing.
// Each match begins to run when it is resumed.
//
// Before Recover plays a log it notes that in a file beside it, until the match has run for two seconds. If the process ends before, the
// next Recover tries the matches that have such a note alone, one at a time, after all others. Of one that ends the process twice so,
// the error is [ErrSetAside].
//
// Recover calls done with the error of each match, see [Server.Resume], from several goroutines. It also logs the error
// with the log's path. The log stays as it is, and its name is taken until the server ends or an admin has it tried again; only the
// replay of a match that is over leaves the live folder.
func (s *Server) Recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	s.comparing <- struct{}{} // until all matches were tried
	s.mu.Lock()
	s.recoveries.since, s.recoveries.done = time.Now(), 0
	s.mu.Unlock()
	s.launching.Add(1)
	var claimed []*resuming
	for _, one := range all {
		x := &resuming{Interrupted: one, done: done}
		if err := s.claimTry(x); err != nil {
			s.notRecovered(x, err)
			continue
		}
		claimed = append(claimed, x)
	}
	slices.SortStableFunc(claimed, func(a, b *resuming) int { return a.known.Compare(b.known) })
	go func() {
		defer s.launching.Done()
		defer func() { <-s.comparing }()
		s.tryAll(claimed, len(claimed) == 1)
	}()
}

// claimTry claims an interrupted match, unless it is set aside.
func (s *Server) claimTry(x *resuming) (err error) {
	if err = x.Err; err == nil {
		x.recovery, err = s.claim(x.Path, x.Spec)
	}
	if err != nil {
		return err
	}
	if x.known, err = readTries(x.Path); err == nil && x.known.Trying {
		x.known = x.known.Died()
		x.match.logger.Warn("the process ended while it resumed this match", "path", x.Path, "deaths_alone", x.known.Deaths)
		err = writeTries(x.Path, x.known) // so that it counts once
	}
	if err == nil && x.known.SetAside() {
		err = ErrSetAside
	}
	if err != nil {
		s.unclaim(x.recovery)
	}
	return err
}

// tryAll resumes claimed matches, one after the other or, without a suspicion, on all processors. It returns when their tries are over.
func (s *Server) tryAll(claimed []*resuming, alone bool) {
	processors := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, x := range claimed {
		if !s.isClosed() && s.readBans(x.recovery) != nil { // it waits without a processor
			s.launching.Go(func() {
				s.awaitBans(x.recovery)
				s.tryAll([]*resuming{x}, alone)
			})
			continue
		}
		alone := alone || x.known.Suspect
		if !s.enter(alone) {
			s.unclaim(x.recovery)
			s.notRecovered(x, ErrShutdown)
			continue
		}
		processors <- struct{}{}
		s.launching.Go(func() {
			defer s.leave()
			m := s.try(x, alone)
			<-processors
			if m != nil {
				s.test(x, m, alone)
			}
		})
	}
	if s.enter(true) { // after the last one
		s.leave()
	}
}

// enter waits until another try may begin. It reports false if the server is shut down.
func (s *Server) enter(alone bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && !s.recoveries.room.Enter(alone) {
		left := s.recoveries.left
		s.mu.Unlock()
		<-left
		s.mu.Lock()
	}
	return !s.closed
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recoveries.room.Leave()
	close(s.recoveries.left)
	s.recoveries.left = make(chan struct{})
}

// try resumes a match.
func (s *Server) try(x *resuming, alone bool) *Match {
	began := time.Now()
	err := writeTries(x.Path, x.known.Begin(alone))
	if err != nil {
		s.unclaim(x.recovery)
		s.notRecovered(x, err)
		return nil
	}
	x.match.logger.Info("match is being resumed", "path", x.Path, "alone", alone, "deaths_alone", x.known.Deaths)
	err = s.attempt(x.recovery)
	s.mu.Lock()
	s.recoveries.done++
	s.mu.Unlock()
	if err == nil {
		x.match.logger.Info("match recovered", "tick", uint32(x.match.View().Tick), "simulated_from", uint32(x.skipped), "seconds", time.Since(began).Seconds())
		x.done(x.Interrupted, x.match, nil)
		return x.match
	}
	known := x.known
	if errors.Is(err, ErrHung) {
		known = x.known.Begin(alone).Died()
	}
	s.keepTries(x, known)
	s.notRecovered(x, err)
	return nil
}

// test ends the try of a match that runs.
func (s *Server) test(x *resuming, m *Match, alone bool) {
	known := x.known
	if m.AwaitTest(s.sealCtx) {
		known = tries.Record{}
	} else if m.hangs() {
		known = known.Begin(alone).Died()
	}
	s.keepTries(x, known)
}

// keepTries keeps what is known against a match that is not tried any more.
func (s *Server) keepTries(x *resuming, known tries.Record) {
	if _, err := os.Lstat(x.Path); errors.Is(err, fs.ErrNotExist) { // the match is over
		known = tries.Record{}
	}
	if err := writeTries(x.Path, known); err != nil {
		x.match.logger.Error("the end of a try is not noted", "path", x.Path, "err", err)
	}
}

// notRecovered says why a log was not recovered. Its name stays reserved, unless its match is over or never
// began.
func (s *Server) notRecovered(x *resuming, err error) {
	defer x.done(x.Interrupted, nil, err)
	name := MatchOfLog(x.Path)
	log := logged.Match(s.log, name, "")
	if x.recovery != nil {
		log = x.match.logger
	}
	switch {
	case errors.Is(err, ErrNotInterrupted):
		log.Info("match is over", "path", x.Path)
		return
	case errors.Is(err, ErrNeverBegan):
		log.Warn("match not resumed", "path", x.Path, "err", err)
		return
	case errors.Is(err, ErrShutdown): // the next start recovers it
		return
	}
	log.Error("match not resumed", "path", x.Path, "err", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &failedMatch{path: x.Path, again: func() (*View, error) { return s.again(x) }}
	if x.recovery != nil {
		f.view = newView(x.match, x.header, matchFailed)
		f.view.Failure = "it could not be resumed; the log of the server says why"
		if errors.Is(err, ErrSetAside) || errors.Is(err, ErrHung) {
			f.view.Failure = err.Error()
		}
	}
	s.recoveries.failed[name] = f
	delete(s.recoveries.pending, name)
}

// again tries again to resume a match that failed, alone. It returns its view.
func (s *Server) again(failed *resuming) (*View, error) {
	x := &resuming{Interrupted: failed.Interrupted, done: failed.done}
	known, err := readTries(x.Path)
	if err == nil {
		err = writeTries(x.Path, known.Again())
	}
	if err == nil {
		err = s.claimTry(x)
	}
	if err != nil {
		return nil, err
	}
	s.launching.Go(func() { s.tryAll([]*resuming{x}, true) })
	return newView(x.match, x.header, matchRecovering), nil
}
