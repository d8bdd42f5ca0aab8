package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A matchCollector sums the present values of all matches.
type matchCollector struct{ server *Server }

var (
	matchesDesc = prometheus.NewDesc("samestep_matches", "Matches on the server. A match that has ended stays until its connections have closed.", nil, nil)
	peersDesc   = prometheus.NewDesc("samestep_peers", "Connections, by state.", []string{"state"}, nil)
	memoryDesc  = prometheus.NewDesc("samestep_memory_bytes", "Memory that matches use for their connections, in bytes.", nil, nil)
	lagDesc     = prometheus.NewDesc("samestep_max_lag_ticks", "Lag of the live connection that is furthest behind, in ticks.", nil, nil)
	guestDesc   = prometheus.NewDesc("samestep_guests", "What guests' matches use: matches, bots, and bytes of state.", []string{"of"}, nil)
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
