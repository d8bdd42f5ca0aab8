package cluster

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/lockstep"
)

// memberMetrics are what a member counts.
type memberMetrics struct {
	appends   prometheus.Histogram
	takeovers takeovers
}

// takeovers are counted by result.
type takeovers struct {
	*prometheus.CounterVec
	failures map[string]*measure.Failure // by those of the results that are failures
}

// WithLabelValues returns the counter of a result.
func (t takeovers) WithLabelValues(result string) prometheus.Counter {
	if f := t.failures[result]; f != nil {
		return f
	}
	return t.CounterVec.WithLabelValues(result)
}

// Results of a takeover: the values of a label.
const (
	tookOver   = "continued"
	wasOver    = "over"
	neverBegan = "never began"
	failedTo   = "failed"
	hung       = "hung"
)

func newMemberMetrics() *memberMetrics {
	m := &memberMetrics{
		appends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "samestep_cluster_append_seconds", Help: "Time until the replicated log has stored an append.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1},
		}),
		takeovers: takeovers{prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_cluster_takeovers_total", Help: "Matches that this server has taken from others, by result.",
		}, []string{"result"}), make(map[string]*measure.Failure)},
	}
	for _, result := range []string{tookOver, wasOver, neverBegan, failedTo, hung} {
		m.takeovers.WithLabelValues(result) // starts at 0, as a rate needs
	}
	for _, result := range []string{failedTo, hung} {
		m.takeovers.failures[result] = measure.NewFailure(m.takeovers.CounterVec.WithLabelValues(result), "takeover "+result, "")
	}
	return m
}

// A collector has the metrics of a member: what it counts, and what it sees of the cluster now.
type collector struct{ member *Member }

var (
	leaseDesc   = prometheus.NewDesc("samestep_cluster_lease_age_seconds", "Time since the storage took the last renewal of this server's lease.", nil, nil)
	serversDesc = prometheus.NewDesc("samestep_cluster_servers", "Servers whose leases have not expired, with this one.", nil, nil)
	matchesDesc = prometheus.NewDesc("samestep_cluster_matches", "Matches of all servers in the directory, by state. Of those that wait, no live server has the build and room.", []string{"state"}, nil)
)

// waiting is the state of a match that no live server could take.
const waiting ownership.State = "waiting"

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	c.member.metrics.appends.Describe(ch)
	c.member.metrics.takeovers.Describe(ch)
	for _, f := range c.member.metrics.takeovers.failures {
		f.Age.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{leaseDesc, serversDesc, matchesDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.member.metrics.appends.Collect(ch)
	c.member.metrics.takeovers.Collect(ch)
	for _, f := range c.member.metrics.takeovers.failures {
		f.Age.Collect(ch)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	age, servers, matches := c.member.census()
	gauge(leaseDesc, float64(age)/float64(lockstep.Second))
	gauge(serversDesc, float64(servers))
	for state, n := range matches {
		gauge(matchesDesc, float64(n), string(state))
	}
}

// census returns the age of the member's lease, and how many servers live and matches are in each state.
func (m *Member) census() (age lockstep.Time, servers int, matches map[ownership.State]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	servers = 1
	for name := range m.others {
		if name != m.id && !m.leases.Expired(name, now) {
			servers++
		}
	}
	matches = map[ownership.State]int{ownership.Playing: 0, ownership.Recovering: 0, ownership.Released: 0, ownership.Failed: 0, waiting: 0}
	for _, e := range m.entries {
		if m.waits(e, now) {
			matches[waiting]++
		} else {
			matches[e.State]++
		}
	}
	return now - m.renewed, servers, matches
}

// waits reports whether a match has no server and no live one could take it. The mutex is held.
func (m *Member) waits(e *Match, now lockstep.Time) bool {
	if e.State == ownership.Failed || e.State != ownership.Released && !m.leases.Expired(e.Server, now) {
		return false
	}
	able, _ := m.able(e, now)
	return len(able) == 0
}
