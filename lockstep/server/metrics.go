package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/lockstep"
)

// metrics are what the server tells Prometheus.
type metrics struct {
	registry *prometheus.Registry
	lateness prometheus.Histogram
	turned   *prometheus.CounterVec
	events   *prometheus.CounterVec
	desyncs  prometheus.Counter
	panics   prometheus.Counter
	failures prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "samestep_lateness_seconds", Help: "How late matches did what was due.",
			Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3},
		}),
		turned: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_turned_away_total", Help: "Connections that reached no match, by reason.",
		}, []string{"reason"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_events_total", Help: "What happened in matches, by kind.",
		}, []string{"kind"}),
		desyncs:  prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_desyncs_total", Help: "Desyncs with their evidence."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_panics_total", Help: "Matches that a panic ended."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "samestep_replay_failures_total", Help: "Replays that could not be written to the end."}),
	}
	m.registry.MustRegister(m.lateness, m.turned, m.events, m.desyncs, m.panics, m.failures, &matchCollector{server: s})
	return m
}

// A matchCollector sums what the present matches publish.
type matchCollector struct{ server *Server }

var (
	matchesDesc  = prometheus.NewDesc("samestep_matches", "Matches that are going on.", nil, nil)
	peersDesc    = prometheus.NewDesc("samestep_peers", "Connections, by state.", []string{"state"}, nil)
	memoryDesc   = prometheus.NewDesc("samestep_memory_bytes", "Memory that matches hold for their connections.", nil, nil)
	lagDesc      = prometheus.NewDesc("samestep_max_lag_ticks", "How far the last live player is behind.", nil, nil)
	ringDesc     = prometheus.NewDesc("samestep_ring_records", "Records that matches hold for their connections.", nil, nil)
	rejectedDesc = prometheus.NewDesc("samestep_rejected_commands", "Commands rejected in the present matches, by reason.", []string{"reason"}, nil)
)

// Describe implements prometheus.Collector.
func (c *matchCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{matchesDesc, peersDesc, memoryDesc, lagDesc, ringDesc, rejectedDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *matchCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	matches := c.server.Matches()
	var sum lockstep.Stats
	for _, m := range matches {
		s := m.View().Stats
		for i, n := range s.Peers {
			sum.Peers[i] += n
		}
		for i, n := range s.Rejected {
			sum.Rejected[i] += n
		}
		sum.Memory += s.Memory
		sum.RingRecords += s.RingRecords
		sum.MaxLag = max(sum.MaxLag, s.MaxLag)
	}
	gauge(matchesDesc, float64(len(matches)))
	gauge(memoryDesc, float64(sum.Memory))
	gauge(ringDesc, float64(sum.RingRecords))
	gauge(lagDesc, float64(sum.MaxLag))
	for i, n := range sum.Peers {
		gauge(peersDesc, float64(n), lockstep.PeerState(i).String())
	}
	for i, n := range sum.Rejected {
		if lockstep.Reason(i) != lockstep.Accepted {
			gauge(rejectedDesc, float64(n), lockstep.Reason(i).String())
		}
	}
}
