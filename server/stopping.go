package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// retryAfter is when clients may reconnect after a shutdown.
const retryAfter = lockstep.Second

// movedRetry is when clients of a match that moves to another server may come back.
const movedRetry = 100 * lockstep.Millisecond

// suspend stops the match, and tells all connections when to come back. Its replay gets no end, so that it can be resumed.
func (m *Match) suspend() {
	m.suspended = true
	if m.log.Replicated() {
		m.host.Admin().Move(m.now(), movedRetry)
	} else {
		m.host.Admin().Shutdown(m.now(), retryAfter)
	}
	if !m.log.Recorded() {
		m.host.Admin().End(m.now(), "the server was shut down") // nothing is left to resume
	}
}

// Suspend stops the match and tells its clients when to come back, as [Server.Shutdown] does with all matches. With a
// [Replicator] another server can then continue it; otherwise this one, by [Server.Resume]. Wait for [Match.Done].
func (m *Match) Suspend() { m.post(input{do: m.suspend}) }

// handOver stops a match that this server must not or cannot write any more. Another server continues it.
func (m *Match) handOver(err error) {
	if m.suspended {
		return
	}
	m.logger.Warn("match handed over", "tick", uint32(m.host.Now()), "err", err)
	m.suspend()
}

// Drain begins a planned stop: from now on no match can be created or resumed, and the server is not ready. Drain waits
// until all matches are over, or returns ctx's error. [Server.Shutdown] then suspends the rest.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	return s.wait(ctx)
}

// Draining reports whether no match can be created or resumed any more, because of [Server.Drain] or [Server.Shutdown].
func (s *Server) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining || s.closed
}

// Shutdown suspends all matches concurrently: their clients are told when to reconnect, and [Server.Resume] continues
// each match from its replay. A match without a replay ends. A match that is being created does not start. Then Shutdown
// seals the replays of matches that are over until ctx ends; the others stay as they were written. If a match has not
// stopped by then the error wraps ctx's, and says what the disk has not taken.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	if s.sweep != nil {
		s.sweep.Stop()
	}
	s.mu.Unlock()
	s.pipes.close()
	defer context.AfterFunc(ctx, s.stopSealing)()
	defer s.stopSealing()
	defer s.pipes.server.Close()
	for _, m := range s.Matches() {
		go m.Do(ctx, func(*host.Host) { m.suspend() })
	}
	late := time.AfterFunc(storagePatience, func() {
		if why := s.unwritten(); why != nil {
			s.log.Warn("waiting for the disk", "err", why)
		}
	})
	defer late.Stop()
	if err := s.wait(ctx); err != nil {
		if why := cmp.Or(s.unwritten(), s.hung()); why != nil {
			err = fmt.Errorf("server: %w: %w", why, err)
		}
		return err
	}
	if !s.awaitSeals(ctx) {
		return fmt.Errorf("server: a replay is being sealed: %w: %w", errStuck, ctx.Err())
	}
	s.keeper.stop(ctx)
	return nil
}

// sealGrace is how long a seal may take to end after it was stopped.
const sealGrace = time.Second

// awaitSeals waits until nothing is sealed any more, or until ctx has ended and a seal does not notice it.
func (s *Server) awaitSeals(ctx context.Context) bool {
	sealed := make(chan struct{})
	go func() {
		s.sealing.Wait()
		close(sealed)
	}()
	select {
	case <-sealed:
		return true
	case <-ctx.Done():
	}
	grace := time.NewTimer(sealGrace)
	defer grace.Stop()
	select {
	case <-sealed:
		return true
	case <-grace.C:
		return false
	}
}

// namedUnwritten is the number of matches that unwritten names.
const namedUnwritten = 10

// unwritten says what a disk that does not answer lacks, or returns nil if it has answered.
func (s *Server) unwritten() error {
	age := s.operations.age()
	if age == 0 {
		return nil
	}
	var lacks []string
	for _, m := range s.Matches() {
		select {
		case <-m.done:
			continue
		default:
		}
		switch {
		case !m.log.Recorded():
			continue
		case m.log.Backlog().Bytes > 0:
			lacks = append(lacks, fmt.Sprintf("%s (%d bytes)", m.spec.Name, m.log.Backlog().Bytes))
		default:
			lacks = append(lacks, m.spec.Name+" (the last sync)")
		}
	}
	text := fmt.Sprintf("the disk has not answered for %v", age.Round(time.Second))
	if more := len(lacks) - namedUnwritten; more > 0 {
		lacks = append(lacks[:namedUnwritten], fmt.Sprintf("%d more", more))
	}
	if len(lacks) > 0 {
		text += ", and lacks the end of the logs of " + strings.Join(lacks, ", ")
	}
	return errors.New(text)
}

// hung returns an error that names the matches whose rules do not come back from a tick, or nil.
func (s *Server) hung() error {
	var names []string
	for _, m := range s.Matches() {
		if m.hangs() {
			names = append(names, m.Name())
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("the rules do not come back from a tick of %s", strings.Join(names, ", "))
}

// wait waits until no match runs. The server must be closed or draining.
func (s *Server) wait(ctx context.Context) error {
	launched := make(chan struct{})
	go func() {
		s.launching.Wait()
		close(launched)
	}()
	select {
	case <-launched:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, m := range s.Matches() {
		select {
		case <-m.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
