package cluster

import "github.com/prometheus/client_golang/prometheus"

// memberMetrics are a member's metrics.
type memberMetrics struct {
	appends   prometheus.Histogram
	takeovers *prometheus.CounterVec // by result
}

func newMemberMetrics() *memberMetrics {
	return &memberMetrics{
		appends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "samestep_cluster_append_seconds", Help: "Time until the replicated log has stored an append.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1},
		}),
		takeovers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_cluster_takeovers_total", Help: "Matches that this server has taken from others, by result.",
		}, []string{"result"}),
	}
}

// Describe implements [prometheus.Collector].
func (m *memberMetrics) Describe(c chan<- *prometheus.Desc) {
	m.appends.Describe(c)
	m.takeovers.Describe(c)
}

// Collect implements [prometheus.Collector].
func (m *memberMetrics) Collect(c chan<- prometheus.Metric) {
	m.appends.Collect(c)
	m.takeovers.Collect(c)
}
