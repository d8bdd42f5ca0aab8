package server

import (
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// metrics are the server's metrics for Prometheus.
type metrics struct {
	registry *prometheus.Registry
	lateness prometheus.Histogram
	steps    prometheus.Histogram
	late     [activities]prometheus.Counter
	syncs    prometheus.Histogram
	writes   *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	events   *prometheus.CounterVec
	accepted prometheus.Counter
	rejected *prometheus.CounterVec
	desyncs  *desyncs
	panics   *measure.Failure
	failures *measure.Failure // of replays
	unlike   prometheus.Counter
	totals   []prometheus.Counter // of totals
}

// totals are the counters of what matches do.
var totals = []struct {
	name, help string
	of         func(*host.Stats) float64
}{
	{"samestep_ticks_total", "Ticks sealed.", func(s *host.Stats) float64 { return float64(s.Ticks) }},
	{"samestep_twin_ticks_total", "Ticks of matches that cold twins have computed again, see the setting heavy.", func(s *host.Stats) float64 { return float64(s.TwinTicks) }},
	{"samestep_twin_differences_total", "Differences between matches and their cold twins: rules whose results depend on more than the state.", func(s *host.Stats) float64 { return float64(s.TwinDifferences) }},
	{"samestep_skipped_ticks_total", "Ticks that matches skipped because the server was too late.", func(s *host.Stats) float64 { return float64(s.Skipped) }},
	{"samestep_received_bytes_total", "Bytes of messages from clients to matches.", func(s *host.Stats) float64 { return float64(s.BytesIn) }},
	{"samestep_sent_bytes_total", "Bytes of messages from matches to clients.", func(s *host.Stats) float64 { return float64(s.BytesOut) }},
	{"samestep_sync_bytes_total", "Bytes of keyframes sent to connections.", func(s *host.Stats) float64 { return float64(s.SyncBytes) }},
	{"samestep_datagrams_total", "Datagrams sent to clients.", func(s *host.Stats) float64 { return float64(s.Datagrams) }},
	{"samestep_lost_datagrams_total", "Datagrams to clients that were lost, as far as clients have said so.", func(s *host.Stats) float64 { return float64(s.DatagramsLost) }},
	{"samestep_repeated_bytes_total", "Bytes of records that datagrams have repeated.", func(s *host.Stats) float64 { return float64(s.RepeatBytes) }},
}

// turnReasons are why connections and requests are turned away: the values of a metric's label.
var turnReasons = []string{
	"address", "connecting", "crowd", "downloading", "guessing", "guests", "handshake", "host", "origin", "proxy header", "reading",
	"socket", "subprotocol",
}

func newMetrics() *metrics {
	m := &metrics{registry: measure.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "samestep_lateness_seconds", Help: "Delay between the time at which a match had work to do and the time at which it did it.",
		Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3},
	})
	m.steps = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "samestep_step_seconds", Help: "Time that the rules took for a tick of a match (Step).",
		Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3},
	})
	m.syncs = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "samestep_sync_seconds", Help: "Time from the start of sending a connection a keyframe until the connection has reached the present.",
		Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30},
	})
	m.writes = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "samestep_disk_seconds", Help: "Time that a write or a sync of a replay took.",
		Buckets: []float64{.0001, .001, .01, .1, 1, 10},
	}, []string{"operation"})
	m.registry.MustRegister(m.lateness, m.steps, m.syncs, m.writes, buildInfo())
	for _, t := range totals {
		m.totals = append(m.totals, counter(t.name, t.help))
	}
	m.refused = counters("samestep_turned_away_total", "Connections and requests refused before they reached a match, by reason.", "reason")
	m.events = counters("samestep_events_total", "Events of matches, by subject (connection or match) and kind.", "subject", "kind")
	late := counters("samestep_late_seconds_total", "What matches did while work was due, of delays from 5 ms on: waiting for a processor, receiving, hosting (the rest of a tick), stepping (the rules), writing the log, sending.", "cause")
	for c := range activities {
		m.late[c] = late.WithLabelValues(c.String())
	}
	m.accepted = counter("samestep_accepted_commands_total", "Commands accepted.")
	m.rejected = counters("samestep_rejected_commands_total", "Commands rejected, by reason.", "reason")
	m.desyncs = newDesyncs(m.registry, counters("samestep_desyncs_total", "Desyncs reported with their evidence, and ties, by the build of the match.", "build"))
	m.panics = measure.NewFailure(counter("samestep_panics_total", "Panics of a match, also while it is resumed, or of code that handles a desync bundle."), "panic", "")
	m.failures = measure.NewFailure(counter("samestep_replay_failures_total", "Replays that could not be created, written, completed or sealed."), "replay", "")
	m.registry.MustRegister(m.panics.Age, m.failures.Age)
	m.unlike = counter("samestep_recovery_mismatches_total", "Recovered matches whose beginning did not agree with their log.")
	for _, operation := range []string{diskWrite, diskSync} {
		m.writes.WithLabelValues(operation)
	}
	for _, reason := range turnReasons {
		m.refused.WithLabelValues(reason) // starts at 0, as a rate needs
	}
	for r := lockstep.Accepted + 1; r <= lockstep.TooOften; r++ {
		m.rejected.WithLabelValues(r.String())
	}
	return m
}

// An activity is what a match's goroutine did while work was due.
type activity uint8

const (
	byWaiting   activity = iota // for a processor: it had nothing to do, and began late all the same
	byReceiving                 // messages of clients, and calls of admins
	byHosting                   // the rest of a tick: commands, checksums, keyframes, views, bots
	byStepping                  // Rules.Step
	byWriting                   // into the log
	bySending                   // to the connections
	activities
)

// String is the name in metrics, and with a unit in JSON.
func (a activity) String() string {
	return [...]string{"waiting", "receiving", "hosting", "stepping", "writing", "sending"}[a]
}

// buildInfo returns a metric with the value 1, whose labels say what runs.
func buildInfo() prometheus.Collector {
	version := "unknown"
	if b, ok := debug.ReadBuildInfo(); ok {
		version = b.Main.Version
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_build_info", Help: "1, with the engine's rules, the version of the program's module and of Go.",
		ConstLabels: prometheus.Labels{"engine": record.Engine, "version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
}

// subject returns "match" or "connection", because some kinds of events of both have the same name, such as "resumed".
func subject(k host.EventKind) string {
	switch k {
	case host.ChecksTied, host.TicksSkipped, host.DelayChanged, host.SpeedChanged,
		host.MatchPaused, host.MatchResumed, host.MatchOver, host.MatchHeld, host.RefereeHealed,
		host.TimeLost, host.MatchBegun, host.MatchGoesOn, host.WarmColdDiffer:
		return "match"
	}
	return "connection"
}

// desyncs are the desyncs by the build of their matches.
type desyncs struct {
	registry *prometheus.Registry
	total    *prometheus.CounterVec
	mu       sync.Mutex
	builds   map[string]*measure.Failure
}

func newDesyncs(r *prometheus.Registry, total *prometheus.CounterVec) *desyncs {
	return &desyncs{registry: r, total: total, builds: make(map[string]*measure.Failure)}
}

// of returns the desyncs of a build. A match calls it when it is made, so that its series are there before a desync.
func (d *desyncs) of(build string) *measure.Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.builds[build]
	if f == nil {
		f = measure.NewFailure(d.total.WithLabelValues(build), "desync", build)
		d.registry.MustRegister(f.Age)
		d.builds[build] = f
	}
	return f
}

// A file is the file of a replay.
type file interface {
	io.WriteCloser
	Sync() error
}

// The operations of samestep_disk_seconds.
const (
	diskWrite = "write"
	diskSync  = "sync"
)

// A timedFile is a file of a replay whose writes and syncs are measured.
type timedFile struct {
	file
	seconds *prometheus.HistogramVec // by operation
	running *operations
}

func (f timedFile) Write(p []byte) (int, error) {
	defer f.measure(diskWrite, f.running.begin())
	return f.file.Write(p)
}

func (f timedFile) Sync() error {
	defer f.measure(diskSync, f.running.begin())
	return f.file.Sync()
}

func (f timedFile) measure(operation string, o *operation) {
	f.running.end(o)
	f.seconds.WithLabelValues(operation).Observe(time.Since(o.began).Seconds())
}

// operations are the writes and syncs that the disk has not answered yet.
type operations struct {
	mu  sync.Mutex
	all map[*operation]struct{}
}

type operation struct{ began time.Time }

func (x *operations) begin() *operation {
	o := &operation{time.Now()}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = make(map[*operation]struct{})
	}
	x.all[o] = struct{}{}
	return o
}

func (x *operations) end(o *operation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, o)
}

// age returns for how long the oldest has waited, or 0 without any.
func (x *operations) age() (oldest time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for o := range x.all {
		oldest = max(oldest, time.Since(o.began))
	}
	return oldest
}
