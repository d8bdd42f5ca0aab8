package server

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Lines in the log about connections and requests that were turned away, for each reason.
const (
	turnedLines       = 1 // a second
	turnedLinesAtOnce = 10
)

// turned counts and logs the clients that are turned away.
type turned struct {
	log   *slog.Logger
	count *prometheus.CounterVec
	lines map[string]*refusalLog // by reason; never changed
}

func newTurned(log *slog.Logger, count *prometheus.CounterVec) *turned {
	t := &turned{log: log, count: count, lines: make(map[string]*refusalLog, len(turnReasons))}
	for _, reason := range turnReasons {
		l := newRefusalLog(turnedLines, turnedLinesAtOnce)
		t.lines[reason] = &l
	}
	return t
}

// away counts and logs that a client was turned away, for one of turnReasons.
func (t *turned) away(reason, remote string) { t.awayFrom(t.log, reason, remote) }

// awayFrom is away with a logger that names the match and the session, and more words for the line.
func (t *turned) awayFrom(log *slog.Logger, reason, remote string, more ...any) {
	t.count.WithLabelValues(reason).Inc()
	omitted, ok := t.lines[reason].allow()
	if !ok {
		return
	}
	words := append([]any{"reason", reason, "address", clientText(remote)}, more...)
	if omitted > 0 {
		words = append(words, "omitted", omitted)
	}
	log.Warn("turned away", words...)
}
