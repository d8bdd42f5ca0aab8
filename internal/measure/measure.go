// Package measure has the metrics that several packages share.
//
//	samestep_failure_age_seconds  gauge  time since the last failure, by kind and, of a desync, by the build of the match; +Inf without one
//	samestep_certificate_seconds  gauge  seconds until a certificate that the program shows expires, by flag
//	samestep_reload_failed        gauge  1 while the last reading again of a flag's files has failed, else 0, by flag
package measure

import (
	"crypto/tls"
	"crypto/x509"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry with the metrics of the process and of Go.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// A Collector is a [prometheus.Collector] of values that are asked for at each scrape.
type Collector func(to chan<- prometheus.Metric)

// Describe describes nothing: Collect does that.
func (c Collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c Collector) Collect(to chan<- prometheus.Metric) { c(to) }

// Gauge gives a present value. A labelled one has the name of its label and the value of that.
func Gauge(to chan<- prometheus.Metric, name, help string, v float64, label ...string) {
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, label[:len(label)/2], nil), prometheus.GaugeValue, v, label[len(label)/2:]...)
}

// A Failure counts the failures of a kind, and remembers when the last one was. Alerts go by its age: a counter that is 1 at its
// first scrape, as after a start at which something failed, has no increase.
type Failure struct {
	prometheus.Counter
	Age  prometheus.Collector
	last atomic.Pointer[time.Time] // nil if there was none
}

// NewFailure returns the failures of a kind. build is that of the matches, or "". The caller registers the counter and the age.
func NewFailure(c prometheus.Counter, kind, build string) *Failure {
	f := &Failure{Counter: c}
	f.Age = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_failure_age_seconds", Help: "Time since the last failure, by kind and, of a desync, by the build of the match; +Inf without one.",
		ConstLabels: prometheus.Labels{"kind": kind, "build": build},
	}, f.age)
	return f
}

// Inc counts a failure.
func (f *Failure) Inc() {
	now := time.Now()
	f.last.Store(&now)
	f.Counter.Inc()
}

func (f *Failure) age() float64 {
	last := f.last.Load()
	if last == nil {
		return math.Inf(1)
	}
	return time.Since(*last).Seconds()
}

// Certificate returns the metric of the certificate of a flag. get returns the present one.
func Certificate(flag string, get func() *tls.Certificate) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_certificate_seconds", Help: "Seconds until a certificate that the program shows expires, by flag.",
		ConstLabels: prometheus.Labels{"flag": flag},
	}, func() float64 { return left(get(), time.Now()).Seconds() })
}

// left returns the time until the first certificate of a chain expires.
func left(pair *tls.Certificate, now time.Time) time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, der := range pair.Certificate {
		if c, err := x509.ParseCertificate(der); err == nil { // the pair was loaded, so its first one is well
			least = min(least, c.NotAfter.Sub(now))
		}
	}
	return least
}

// Reload returns the metric of a flag's files.
func Reload(flag string, failed func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_reload_failed", Help: "1 while the last reading again of a flag's files has failed, else 0, by flag.",
		ConstLabels: prometheus.Labels{"flag": flag},
	}, func() float64 {
		if failed() {
			return 1
		}
		return 0
	})
}
