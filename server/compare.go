package server

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// compareSkipped simulates the log of a recovered match from the beginning and compares its checksums.
// A difference does not end the match, in which all players have the same state.
func (s *Server) compareSkipped(x *recovery) {
	m := x.match
	s.comparing <- struct{}{}
	defer func() { <-s.comparing }()
	err := s.Contain(m.logger, func() error { return s.compareLog(x) })
	if differs := (*lockstep.DesyncError)(nil); errors.As(err, &differs) {
		s.metrics.unlike.Inc()
		m.logger.Error("the beginning of a recovered match does not agree with its log", "path", m.ReplayPath(), "err", err)
	} else if err != nil && !errors.Is(err, ErrShutdown) {
		m.logger.Warn("the beginning of a recovered match was not compared", "path", m.ReplayPath(), "err", err)
	}
}

func (s *Server) compareLog(x *recovery) error {
	m := x.match
	f, err := files.OpenNoFollow(m.ReplayPath())
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := replay.NewReader(f, x.size)
	if err != nil {
		return err
	}
	whole := coordinator.NewRecovery(m.spec.Game)
	for rec, err := range r.All() {
		if damage := (*replay.DamageError)(nil); errors.As(err, &damage) {
			break // the end of the log then
		}
		if err == nil && s.isClosed() {
			err = ErrShutdown
		}
		if err == nil {
			err = whole.Apply(rec)
		}
		if err != nil {
			return err
		}
	}
	return whole.Check()
}

// errPanicked is the error of code that has panicked.
var errPanicked = errors.New("server: panic")

// Contain calls f and turns a panic of it into an error. log gets the stack, and samestep_panics_total counts it.
func (s *Server) Contain(log *slog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.metrics.panics.Inc()
			log.Error("panic", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanicked, v)
		}
	}()
	return f()
}
