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
	s.registry.close(false)
	return s.registry.wait(ctx)
}

// Draining reports whether no match can be created or resumed any more, because of [Server.Drain] or [Server.Shutdown].
func (s *Server) Draining() bool {
	draining, _, _ := s.registry.load()
	return draining
}

// Shutdown suspends all matches concurrently: their clients are told when to reconnect, and [Server.Resume] continues
// each match from its replay. A match without a replay ends. A match that is being created does not start. Then Shutdown
// seals the replays of matches that are over until ctx ends; the others stay as they were written. If a match has not
// stopped by then the error wraps ctx's, and says what the disk has not taken.
func (s *Server) Shutdown(ctx context.Context) error {
	s.registry.close(true)
	s.denier.stop()
	s.pipes.close()
	defer context.AfterFunc(ctx, s.sealer.stop)()
	defer s.sealer.stop()
	defer s.pipes.server.Close()
	for _, m := range s.registry.running() {
		go m.Do(ctx, func(*host.Host) { m.suspend() })
	}
	late := time.AfterFunc(storagePatience, func() {
		if why := s.registry.unwritten(s.operations.age()); why != nil {
			s.log.Warn("waiting for the disk", "err", why)
		}
	})
	defer late.Stop()
	if err := s.registry.wait(ctx); err != nil {
		if why := cmp.Or(s.registry.unwritten(s.operations.age()), s.registry.hung()); why != nil {
			err = fmt.Errorf("server: %w: %w", why, err)
		}
		return err
	}
	if !s.sealer.await(ctx) {
		return fmt.Errorf("server: a replay is being sealed: %w: %w", errStuck, ctx.Err())
	}
	s.keeper.stop(ctx)
	return nil
}

// namedUnwritten is the number of matches that unwritten names.
const namedUnwritten = 10

// unwritten says what a disk that does not answer lacks, or returns nil if it has answered.
func (reg *registry) unwritten(age time.Duration) error {
	if age == 0 {
		return nil
	}
	var lacks []string
	for _, m := range reg.running() {
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
func (reg *registry) hung() error {
	var names []string
	for _, m := range reg.running() {
		if m.hangs() {
			names = append(names, m.Name())
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("the rules do not come back from a tick of %s", strings.Join(names, ", "))
}

// close begins a planned stop, or at once: then matches that are launching do not start.
func (reg *registry) close(now bool) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.draining, reg.closed = true, reg.closed || now
}

// wait waits until no match runs. The server must be closed or draining.
func (reg *registry) wait(ctx context.Context) error {
	launched := make(chan struct{})
	go func() {
		reg.launching.Wait()
		close(launched)
	}()
	select {
	case <-launched:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, m := range reg.running() {
		select {
		case <-m.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
