package server

import "log/slog"

// Lines in the log about connections and requests that were turned away, for each reason.
const (
	turnedLines       = 1 // a second
	turnedLinesAtOnce = 10
)

func newTurnedLogs() map[string]*refusalLog {
	logs := make(map[string]*refusalLog, len(turnReasons))
	for _, reason := range turnReasons {
		l := newRefusalLog(turnedLines, turnedLinesAtOnce)
		logs[reason] = &l
	}
	return logs
}

// turnedAway counts and logs that a client was turned away, for one of turnReasons.
func (s *Server) turnedAway(reason, remote string) { s.turnedAwayFrom(s.log, reason, remote) }

// turnedAwayFrom is turnedAway with a logger that names the match and the session, and more words for the line.
func (s *Server) turnedAwayFrom(log *slog.Logger, reason, remote string, more ...any) {
	s.metrics.refused.WithLabelValues(reason).Inc()
	omitted, ok := s.turned[reason].allow()
	if !ok {
		return
	}
	words := append([]any{"reason", reason, "address", clientText(remote)}, more...)
	if omitted > 0 {
		words = append(words, "omitted", omitted)
	}
	log.Warn("turned away", words...)
}
