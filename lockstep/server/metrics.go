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

func newMetrics(s *Server) *metrics {
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
	m.registry.MustRegister(m.lateness, m.refused, m.events, m.rejected, m.desyncs, m.panics, m.failures, &matchCollector{server: s})
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

// count adds the commands that a match has rejected since the last call.
func (m *Match) count(s *host.Stats) {
	for i, n := range s.Rejected {
		if r := lockstep.Reason(i); r != lockstep.Accepted && n > m.counted[i] {
			m.server.metrics.rejected.WithLabelValues(r.String()).Add(float64(n - m.counted[i]))
		}
	}
	m.counted = s.Rejected
}

// A matchCollector sums the present values of all matches.
type matchCollector struct{ server *Server }

var (
	matchesDesc = prometheus.NewDesc("samestep_matches", "Matches on the server. A match that has ended stays until its connections have closed.", nil, nil)
	peersDesc   = prometheus.NewDesc("samestep_peers", "Connections, by state.", []string{"state"}, nil)
	memoryDesc  = prometheus.NewDesc("samestep_memory_bytes", "Memory that matches use for their connections, in bytes.", nil, nil)
	lagDesc     = prometheus.NewDesc("samestep_max_lag_ticks", "Lag of the live connection that is furthest behind, in ticks.", nil, nil)
	guestDesc   = prometheus.NewDesc("samestep_guests", "What guests' matches use: matches, bots, and bytes of state in all simulated copies.", []string{"of"}, nil)
	guestLimit  = prometheus.NewDesc("samestep_guests_limit", "The limits of samestep_guests.", []string{"of"}, nil)
	ringDesc    = prometheus.NewDesc("samestep_ring_records", "Records that matches keep for their connections.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *matchCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{matchesDesc, peersDesc, memoryDesc, lagDesc, ringDesc, guestDesc, guestLimit} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *matchCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	matches := c.server.Matches()
	var sum host.Stats
	for _, m := range matches {
		s := m.View().Stats
		for i, n := range s.Peers {
			sum.Peers[i] += n
		}
		sum.Memory += s.Memory
		sum.RingRecords += s.RingRecords
		sum.MaxLag = max(sum.MaxLag, s.MaxLag)
	}
	gauge(matchesDesc, float64(len(matches)))
	gauge(memoryDesc, float64(sum.Memory))
	gauge(ringDesc, float64(sum.RingRecords))
	gauge(lagDesc, float64(sum.MaxLag))
	s, o := c.server, &c.server.options
	s.mu.Lock()
	guests, usage := len(s.guests), s.guestUsage()
	s.mu.Unlock()
	gauge(guestDesc, float64(guests), "matches")
	gauge(guestLimit, float64(o.GuestMatches), "matches")
	gauge(guestDesc, float64(usage.bots), "bots")
	gauge(guestLimit, float64(o.GuestBots), "bots")
	gauge(guestDesc, float64(usage.stateBytes), "state_bytes")
	gauge(guestLimit, float64(o.GuestStateBytes), "state_bytes")
	for i, n := range sum.Peers {
		gauge(peersDesc, float64(n), host.PeerState(i).String())
	}
}
