package server

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// errPanicked is the error of code that has panicked.
var errPanicked = errors.New("server: panic")

// Contain calls f and turns a panic of it into an error. log gets the stack, and samestep_panics_total counts it.
func (s *Server) Contain(log *slog.Logger, f func() error) error { return contain(s.metrics, log, f) }

func contain(metrics *metrics, log *slog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			metrics.panics.Inc()
			log.Error("panic", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanicked, v)
		}
	}()
	return f()
}
