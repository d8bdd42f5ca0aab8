package storage

import (
	"crypto/tls"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/internal/measure"
)

// Handler returns the node's health and metrics for operators:
//
//	GET /healthz   200 while the process answers
//	GET /readyz    200 while the node can store anything, or 503 with the reason
//	GET /metrics   for Prometheus
//
// The metrics, besides those of the process and of Go:
//
//	samestep_storage_ready        gauge  1 while the node can store anything, else 0
//	samestep_storage_nodes        gauge  nodes of the cluster, as far as this one knows
//	samestep_storage_connected    gauge  nodes that it is connected to, with itself
//	samestep_storage_clients      gauge  connections of servers, mirrors and workers to it
//	samestep_storage_streams      gauge  streams of which it has a copy
//	samestep_storage_bytes        gauge  bytes of these copies
//	samestep_storage_copies_missing  gauge  copies that streams should have and have not, of those that it leads or that have no leader
//	samestep_certificate_seconds  gauge  seconds until the certificate of NodeOptions.TLS expires
func (n *Node) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(n.Collector(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := n.notReady(); why != "" {
			http.Error(w, "not ready\n"+why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

// Collector returns the node's metrics, for a registry.
func (n *Node) Collector() prometheus.Collector {
	c := &nodeCollector{node: n}
	if t := n.options.TLS; t != nil && len(t.Certificates) > 0 {
		c.certificate = measure.Certificate("node-cert", func() *tls.Certificate { return &t.Certificates[0] })
	}
	return c
}

// A nodeCollector has a node's metrics.
type nodeCollector struct {
	node        *Node
	certificate prometheus.Collector // nil without TLS
}

var (
	readyDesc     = prometheus.NewDesc("samestep_storage_ready", "1 while the node can store anything, else 0.", nil, nil)
	nodesDesc     = prometheus.NewDesc("samestep_storage_nodes", "Nodes of the cluster, as far as this one knows.", nil, nil)
	connectedDesc = prometheus.NewDesc("samestep_storage_connected", "Nodes that this one is connected to, with itself.", nil, nil)
	clientsDesc   = prometheus.NewDesc("samestep_storage_clients", "Connections of servers, mirrors and workers.", nil, nil)
	streamsDesc   = prometheus.NewDesc("samestep_storage_streams", "Streams of which the node has a copy.", nil, nil)
	missingDesc   = prometheus.NewDesc("samestep_storage_copies_missing", "Copies that streams should have and have not, of those that the node leads or that have no leader.", nil, nil)
	bytesDesc     = prometheus.NewDesc("samestep_storage_bytes", "Bytes of these copies.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (c *nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readyDesc, nodesDesc, connectedDesc, clientsDesc, streamsDesc, bytesDesc, missingDesc} {
		ch <- d
	}
	if c.certificate != nil {
		c.certificate.Describe(ch)
	}
}

// Collect implements [prometheus.Collector].
func (c *nodeCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	if c.certificate != nil {
		c.certificate.Collect(ch)
	}
	s := stateOf(c.node.now())
	ready := 0.0
	if c.node.notReady() == "" {
		ready = 1
	}
	gauge(readyDesc, ready)
	gauge(nodesDesc, float64(s.nodes))
	gauge(connectedDesc, float64(len(s.peers)+1))
	gauge(clientsDesc, float64(s.connections))
	gauge(streamsDesc, float64(s.streams))
	gauge(bytesDesc, float64(s.bytes))
	gauge(missingDesc, float64(copiesMissing(c.node.now(), s.peers)))
}
