package measure

import (
	"crypto/tls"
	"crypto/x509"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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
