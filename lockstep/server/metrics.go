package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// metrics are the server's metrics for Prometheus; the package comment lists them.
type metrics struct {
	registry *prometheus.Registry
	lateness prometheus.Histogram
	refused  *prometheus.CounterVec
	events   *prometheus.CounterVec
	rejected *prometheus.CounterVec
	desyncs  prometheus.Counter
	panics   prometheus.Counter
	failures prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "samestep_lateness_seconds", Help: "Delay between the time at which a match had work to do and the time at which it did it.",
			Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3},
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_turned_away_total", Help: "Connections and requests refused before they reached a match, by reason.",
		}, []string{"reason"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_events_total", Help: "Events of matches, by subject (connection or match) and kind.",
		}, []string{"subject", "kind"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_rejected_commands_total", Help: "Commands rejected, by reason.",
		}, []string{"reason"}),
		desyncs:  prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_desyncs_total", Help: "Desyncs reported with their evidence, and ties."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_panics_total", Help: "Panics of a match, or of code that handles a desync bundle."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_replay_failures_total", Help: "Replays that could not be completed."}),
	}
	for r := lockstep.Accepted + 1; r <= lockstep.RateLimited; r++ {
		m.rejected.WithLabelValues(r.String()) // starts at 0, as a rate needs
	}
	m.registry.MustRegister(m.lateness, m.refused, m.events, m.rejected, m.desyncs, m.panics, m.failures)
	return m
}

// subject returns "match" or "connection", because some kinds of events of both have the same name, such as "resumed".
func subject(k host.EventKind) string {
	switch k {
	case host.ChecksTied, host.TicksSkipped, host.DelayChanged, host.SpeedChanged,
		host.MatchPaused, host.MatchResumed, host.MatchOver, host.MatchHeld, host.RefereeHealed,
		host.TimeLost:
		return "match"
	}
	return "connection"
}
