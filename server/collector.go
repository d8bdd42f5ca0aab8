package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A matchCollector sums the present values of all matches.
type matchCollector struct{ server *Server }

var (
	matchesDesc = prometheus.NewDesc("samestep_matches", "Matches on the server, by state. A match that has ended stays until its connections have closed.", []string{"state"}, nil)
	heldDesc    = prometheus.NewDesc("samestep_held_matches", "Matches that seal no ticks now, by reason.", []string{"reason"}, nil)
	rolesDesc   = prometheus.NewDesc("samestep_connections", "Authenticated connections, by role.", []string{"role"}, nil)
	peersDesc   = prometheus.NewDesc("samestep_peers", "Connections, by state.", []string{"state"}, nil)
	pathsDesc   = prometheus.NewDesc("samestep_datagram_connections", "Connections that datagrams bring the records now.", nil, nil)
	memoryDesc  = prometheus.NewDesc("samestep_memory_bytes", "Memory that matches use for their connections, in bytes.", nil, nil)
	lagDesc     = prometheus.NewDesc("samestep_max_lag_ticks", "Lag of the live connection that is furthest behind, in ticks.", nil, nil)
	guestDesc   = prometheus.NewDesc("samestep_guests", "What guests' matches use: matches, bots, and bytes of state.", []string{"of"}, nil)
	guestLimit  = prometheus.NewDesc("samestep_guests_limit", "The limits of samestep_guests.", []string{"of"}, nil)
	readyDesc   = prometheus.NewDesc("samestep_ready", "1 if the server could start another match and write its replay, else 0.", nil, nil)
	drainDesc   = prometheus.NewDesc("samestep_draining", "1 while the server drains or stops, so that it starts no match; else 0.", nil, nil)
	freeDesc    = prometheus.NewDesc("samestep_disk_free_bytes", "Free bytes on the disk of the replays, or -1 if they are unknown.", nil, nil)
	ageDesc     = prometheus.NewDesc("samestep_disk_write_age_seconds", "How long the disk has not answered the oldest write or sync of a replay, or check of its folder; 0 if it has answered all.", nil, nil)
	ringDesc    = prometheus.NewDesc("samestep_ring_records", "Records that matches keep for their connections.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *matchCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{matchesDesc, heldDesc, rolesDesc, peersDesc, pathsDesc, memoryDesc, lagDesc, ringDesc, readyDesc, drainDesc, freeDesc, ageDesc, guestDesc, guestLimit} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *matchCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := c.server
	sum := s.registry.census()
	for state, n := range sum.states {
		gauge(matchesDesc, float64(n), matchState(state).String())
	}
	for reason, n := range sum.held {
		gauge(heldDesc, float64(n), reason)
	}
	for role, n := range sum.roles {
		gauge(rolesDesc, float64(n), roleNames[role])
	}
	ready := 0.0
	if len(s.NotReady()) == 0 {
		ready = 1
	}
	gauge(readyDesc, ready)
	draining := 0.0
	if s.Draining() {
		draining = 1
	}
	gauge(drainDesc, draining)
	free, _ := s.storage.check()
	gauge(freeDesc, float64(free))
	gauge(ageDesc, s.operations.age().Seconds())
	gauge(pathsDesc, float64(sum.stats.ByDatagrams))
	gauge(memoryDesc, float64(sum.stats.Memory))
	gauge(ringDesc, float64(sum.stats.RingRecords))
	gauge(lagDesc, float64(sum.stats.MaxLag))
	for i, n := range sum.stats.Peers {
		gauge(peersDesc, float64(n), host.PeerState(i).String())
	}
	o := s.gates.limits.Load()
	guests, bots, stateBytes := s.guests.Sum()
	gauge(guestDesc, float64(guests), "matches")
	gauge(guestLimit, float64(o.GuestMatches), "matches")
	gauge(guestDesc, float64(bots), "bots")
	gauge(guestLimit, float64(o.GuestBots), "bots")
	gauge(guestDesc, float64(stateBytes), "state_bytes")
	gauge(guestLimit, float64(o.GuestStateBytes), "state_bytes")
}
