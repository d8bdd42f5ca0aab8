//go:build !js

package mirror

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/cluster/audience"
)

// metrics are the mirror's metrics for Prometheus. Those with the label match are of the matches that are followed now.
type metrics struct {
	registry *prometheus.Registry
	server   *Server
	refused  prometheus.Counter
	in, out  prometheus.Counter
	sync     prometheus.Counter
	resyncs  *prometheus.CounterVec
	welcomes prometheus.Counter
	cuts     prometheus.Counter
	desyncs  prometheus.Counter
}

var (
	spectatorsDesc = prometheus.NewDesc("samestep_mirror_spectators", "Spectators of a match.", []string{"match"}, nil)
	tickDesc       = prometheus.NewDesc("samestep_mirror_tick", "Last tick of a match that spectators may see.", []string{"match"}, nil)
	lagDesc        = prometheus.NewDesc("samestep_mirror_source_lag_ticks", "Ticks that the owner of a match has, as it says, and the mirror has not.", []string{"match"}, nil)
	behindDesc     = prometheus.NewDesc("samestep_mirror_behind_seconds", "The longest time for which a match that is followed has lacked what its owner says it has stored.", nil, nil)
	darkDesc       = prometheus.NewDesc("samestep_mirror_dark_matches", "Matches that are followed, and of which nothing comes although their owners store more.", nil, nil)
	memoryDesc     = prometheus.NewDesc("samestep_mirror_memory_bytes", "Memory for the spectators of a match, without sockets. A match whose spectators have a delay has none.", []string{"match"}, nil)
)

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), server: s}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	m.refused = counter("samestep_mirror_refused_total", "WebSockets refused for want of a place.")
	m.in = counter("samestep_mirror_received_bytes_total", "Bytes of messages of spectators.")
	m.out = counter("samestep_mirror_sent_bytes_total", "Bytes of messages to spectators.")
	m.sync = counter("samestep_mirror_keyframe_bytes_total", "Bytes of keyframes to spectators.")
	m.welcomes = counter("samestep_mirror_welcomes_total", "Spectators welcomed.")
	m.cuts = counter("samestep_mirror_source_losses_total", "Times that a mirror came back to a match that it had lost.")
	m.desyncs = counter("samestep_mirror_desyncs_total", "Checksums of spectators that differ from the log's.")
	m.resyncs = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "samestep_mirror_resyncs_total", Help: "Keyframes to spectators besides the first one, by reason."}, []string{"reason"})
	for _, reason := range []string{"source", "slow"} {
		m.resyncs.WithLabelValues(reason) // starts at 0, as a rate needs
	}
	m.registry.MustRegister(m.resyncs, m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(s.options.Front.Metrics...)
	return m
}

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{spectatorsDesc, tickDesc, lagDesc, behindDesc, darkDesc, memoryDesc} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	var behind, dark float64
	for _, x := range m.server.all() {
		v := x.Status()
		if behind = max(behind, v.behind.Seconds()); v.dark {
			dark++
		}
		for d, n := range map[*prometheus.Desc]float64{spectatorsDesc: float64(v.Spectators), tickDesc: float64(v.Tick), lagDesc: float64(v.Lag)} {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, v.Name)
		}
		if v.figures {
			to <- prometheus.MustNewConstMetric(memoryDesc, prometheus.GaugeValue, float64(v.Memory), v.Name)
		}
	}
	to <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, behind)
	to <- prometheus.MustNewConstMetric(darkDesc, prometheus.GaugeValue, dark)
}

// count adds what an audience has done since the last call.
func (m *metrics) count(x, before *audience.Stats) {
	m.in.Add(float64(x.BytesIn - before.BytesIn))
	m.out.Add(float64(x.BytesOut - before.BytesOut))
	m.sync.Add(float64(x.SyncBytes - before.SyncBytes))
	m.welcomes.Add(float64(x.Welcomes - before.Welcomes))
	m.cuts.Add(float64(x.Cuts - before.Cuts))
	m.desyncs.Add(float64(x.Desyncs - before.Desyncs))
	m.resyncs.WithLabelValues("source").Add(float64(x.Resyncs - before.Resyncs))
	m.resyncs.WithLabelValues("slow").Add(float64(x.Strikes - before.Strikes))
	*before = *x
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
