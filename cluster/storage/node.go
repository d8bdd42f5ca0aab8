package storage

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/measure"
)

// NodeOptions configure a [Node]. A zero field has the default that its comment names.
type NodeOptions struct {
	Name      string        // unique in the cluster
	Dir       string        // folder of the node's files
	Listen    string        // address for clients: any free port on loopback
	Cluster   string        // address for other nodes; "" for a node alone
	Advertise string        // address for other nodes that these are told; where it listens
	Routes    []string      // addresses of the other nodes; this one's may be among them. The first nodes of a cluster name each other and no more: they wait for all
	Sync      time.Duration // longest time until a write is on the disk; negative: before it is acknowledged. 1 s
	Users     []User        // who may connect, with the permissions of their roles; nil: everybody who reaches the port

	TLS        *tls.Config // of clients; nil: no encryption
	ClusterTLS *tls.Config // of other nodes, whose certificates it must demand: nothing else keeps strangers out; nil: no encryption

	Log *slog.Logger // slog.Default()

	times    nodeTimes // usualNodeTimes; tests wait less
	maxStore int64     // bytes that all streams may grow to: three quarters of the disk; tests have less
}

// nodeTimes are how long a node waits.
type nodeTimes struct {
	look       time.Duration // between two looks at the other nodes, and whether the server still stores
	startAgain time.Duration // the least time between two starts of the server
	election   time.Duration // how long nodes may have no leader before it is a warning: they elect one within it
}

// usualNodeTimes are those of every node outside of tests.
var usualNodeTimes = nodeTimes{look: time.Second, startAgain: 5 * time.Second, election: 10 * time.Second}

// startTimeout is the time limit for a node to accept connections.
const startTimeout = 20 * time.Second

// routePing is the time between two pings of another node. The connection to one that misses two of them is made anew; the
// usual 30 s would leave a network that is whole again to the retries of TCP, which get rarer.
const routePing = 2 * time.Second

// A Node is an embedded storage node.
type Node struct {
	options NodeOptions
	log     *nodeLog
	ctx     context.Context // ends with Stop
	stop    func()
	ended   chan struct{} // closed when watch has returned

	watching sync.WaitGroup // watchPeers

	mu     sync.Mutex
	server *nats.Server
}

// StartNode starts a node. Nodes of one cluster need a majority to store anything; a node alone is one.
func StartNode(o NodeOptions) (*Node, error) {
	if o.Name == "" || o.Dir == "" {
		return nil, fmt.Errorf("storage: got the name %q and the folder %q of a node, want both", o.Name, o.Dir)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.times == (nodeTimes{}) {
		o.times = usualNodeTimes
	}
	n := &Node{options: o, log: newNodeLog(o.Log, o.Name), ended: make(chan struct{})}
	n.ctx, n.stop = context.WithCancel(context.Background())
	if err := n.start(); err != nil {
		return nil, err
	}
	go n.watch()
	if o.Cluster != "" {
		n.watching.Go(func() { watchPeers(n.ctx, n.now, n.log.log, n.options.times) })
	}
	return n, nil
}

// nats returns the options for the server of the node.
func (o *NodeOptions) nats() (n *nats.Options, err error) {
	n = &nats.Options{
		ServerName: o.Name, StoreDir: o.Dir, JetStream: true, JetStreamMaxStore: o.maxStore, NoSigs: true,
		DisableJetStreamBanner: true, MaxPayload: MaxMessage + 4096, SyncInterval: o.Sync, SyncAlways: o.Sync < 0,
		TLSConfig: o.TLS, TLS: o.TLS != nil,
	}
	if o.Sync <= 0 {
		n.SyncInterval = time.Second
	}
	if err := setUsers(n, o.Users); err != nil {
		return nil, err
	}
	if n.Host, n.Port, err = address(o.Listen); err != nil {
		return nil, err
	}
	if o.Cluster != "" {
		n.Cluster.Name, n.Cluster.TLSConfig = "samestep", o.ClusterTLS
		if n.Cluster.Host, n.Cluster.Port, err = address(o.Cluster); err != nil {
			return nil, err
		}
		n.Cluster.Advertise, n.Cluster.PingInterval, n.Cluster.MaxPingsOut = o.Advertise, routePing, 2
		for _, r := range o.Routes {
			if _, _, err := net.SplitHostPort(r); err != nil || strings.Contains(r, "/") {
				return nil, fmt.Errorf("storage: got the route %q, want HOST:PORT", r)
			}
			if u := (&url.URL{Scheme: "nats-route", Host: r}); !slices.ContainsFunc(n.Routes, func(o *url.URL) bool { return *o == *u }) {
				n.Routes = append(n.Routes, u) // the first nodes wait for as many as there are routes
			}
		}
	}
	return n, nil
}

// start starts the server of the node, later ones at the addresses of the first.
func (n *Node) start() error {
	options, err := n.options.nats()
	if err != nil {
		return err
	}
	desk, err := setDesk(options)
	if err != nil {
		return err
	}
	s, err := nats.NewServer(options)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	s.SetLoggerV2(n.log, false, false, false)
	s.Start()
	err = awaitStart(s, n.log)
	if err == nil {
		account := mainAccount
		if len(n.options.Users) == 0 {
			account = s.GlobalAccount().Name
		}
		err = openDesk(s, desk, account, func() nodeAnswer { return n.answer(s) })
	}
	if err != nil {
		s.Shutdown()
		return fmt.Errorf("storage: node %s: %w", n.options.Name, err)
	}
	n.options.Listen = s.Addr().String()
	if a := s.ClusterAddr(); a != nil {
		n.options.Cluster = a.String()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.server = s
	return nil
}

// awaitStart waits until a node accepts connections, or has failed.
func awaitStart(s *nats.Server, log *nodeLog) error {
	for began := time.Now(); time.Since(began) < startTimeout; {
		select {
		case why := <-log.fatal:
			return errors.New(why)
		default:
		}
		if s.ReadyForConnections(startStep) {
			return nil
		}
	}
	return fmt.Errorf("it does not accept connections after %v", startTimeout)
}

// startStep is the time between two looks for a failure.
const startStep = 100 * time.Millisecond

// setUsers lets only users connect, with the accounts that an existing NATS would have.
func setUsers(n *nats.Options, users []User) error {
	if len(users) == 0 {
		return nil
	}
	parsed := &nats.Options{}
	if err := parsed.ProcessConfigString(Accounts(users)); err != nil {
		return fmt.Errorf("storage: users: %w", err)
	}
	n.Accounts, n.Nkeys = parsed.Accounts, parsed.Nkeys
	return nil
}

// address splits an address. An empty one is any free port on loopback.
func address(text string) (host string, port int, err error) {
	if text == "" {
		return "127.0.0.1", nats.RANDOM_PORT, nil
	}
	host, digits, err := net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.Atoi(digits)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, errors.New("storage: got the address " + strconv.Quote(text) + ", want HOST:PORT")
	}
	if port == 0 {
		port = nats.RANDOM_PORT
	}
	return host, port, nil
}

// watch starts the server of the node again after its disk was full. A NATS server whose write has failed stores nothing
// any more, however much room there is, until it is restarted.
func (n *Node) watch() {
	defer close(n.ended)
	for Pause(n.ctx, n.options.times.look) {
		if n.log.removed.Load() {
			continue // a server that starts again would be a node of the cluster again
		}
		why := failure(n.now())
		if why == "" && hasRoom(n.options.Dir, leastRoom) {
			continue
		}
		if why == "" {
			why = "there is no room on its disk"
			_ = n.now().ShutdownJetStream() // another node takes the lead
		}
		n.options.Log.Error("the storage node cannot store anything", "node", n.options.Name, "err", why)
		for !hasRoom(n.options.Dir, room) {
			if !Pause(n.ctx, n.options.times.look) {
				return
			}
		}
		n.now().Shutdown()
		n.now().WaitForShutdown()
		for {
			err := n.start()
			if err == nil {
				break
			}
			n.options.Log.Error("the storage node does not start again", "node", n.options.Name, "err", err)
			if !Pause(n.ctx, n.options.times.startAgain) {
				return
			}
		}
		n.options.Log.Info("the storage node stores again", "node", n.options.Name)
		if !Pause(n.ctx, n.options.times.startAgain) {
			return
		}
	}
}

// URL returns the address for clients.
func (n *Node) URL() string { return n.now().ClientURL() }

// Stop stops the node in order. Those that it leads move to other nodes.
func (n *Node) Stop() {
	n.stop()
	<-n.ended
	n.watching.Wait()
	n.now().Shutdown()
	n.now().WaitForShutdown()
}

// now returns the present server of the node.
func (n *Node) now() *nats.Server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

// answer returns what a node says of itself.
func (n *Node) answer(s *nats.Server) nodeAnswer {
	state := stateOf(s)
	a := nodeAnswer{Name: n.options.Name, Leader: state.leader, Problem: n.notReady(), Free: -1, Members: state.members}
	if free, known := files.Free(n.options.Dir); known {
		a.Free = free
	}
	return a
}

// notReady returns why the node stores nothing, or "".
func (n *Node) notReady() string {
	if n.log.removed.Load() {
		return "it was removed from the cluster by an operator: stop it"
	}
	state := stateOf(n.now())
	return state.notReady()
}

// Requests of NATS in the system account.
const (
	evacuateServer = "$JS.API.SERVER.EVACUATE"
	stepDownServer = "$JS.API.META.LEADER.STEPDOWN"
	removeServer   = "$JS.API.SERVER.REMOVE"
)

// A nodeAnswer is what a node says of itself and of its cluster.
type nodeAnswer struct {
	Name    string   `json:"name"`
	Leader  string   `json:"leader"` // of the cluster; "" without a majority
	Problem string   `json:"problem,omitempty"`
	Free    int64    `json:"free"` // bytes on its disk; -1: unknown
	Members []member `json:"members"`
}

// deskTime is how long NATS may take to change the nodes of a cluster.
const deskTime = 10 * time.Second

// setDesk adds the system account to the options of a server, with one user that is drawn anew: its key never leaves this process.
func setDesk(n *nats.Options) (client.Option, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	system := nats.NewAccount(nats.DEFAULT_SYSTEM_ACCOUNT)
	n.Accounts, n.SystemAccount = append(n.Accounts, system), system.Name
	n.Nkeys = append(n.Nkeys, &nats.NkeyUser{Nkey: key, Account: system})
	return client.Nkey(key, pair.Sign), nil
}

// openDesk lets a server answer operators in an account until it is shut down. answer is what its node says of itself.
func openDesk(s *nats.Server, as client.Option, account string, answer func() nodeAnswer) error {
	streams, err := s.LookupAccount(account)
	if err != nil {
		return err
	}
	system := s.SystemAccount()
	for _, subject := range []string{nodesSubject, drainSubject, removeSubject} {
		if err := system.AddServiceExportWithResponse(subject, nats.Streamed, nil); err != nil {
			return err
		}
		if err := streams.AddServiceImport(system, subject, subject); err != nil {
			return err
		}
	}
	desk, err := client.Connect("", client.InProcessServer(s), as, client.NoReconnect())
	if err != nil {
		return err
	}
	_, err = desk.Subscribe(nodesSubject, func(m *client.Msg) {
		_ = m.Respond(encoded(answer()))
	})
	for subject, request := range map[string]string{drainSubject: evacuateServer, removeSubject: removeServer} {
		if err == nil {
			_, err = desk.QueueSubscribe(subject, subject, func(m *client.Msg) {
				if s.ClusterAddr() == nil {
					_ = m.Respond([]byte(`{"error": {"code": 400, "description": "the node is alone"}}`))
					return
				}
				if subject == removeSubject {
					stepAside(s, desk, m.Data)
				}
				answer, err := desk.Request(request, m.Data, deskTime/2)
				if err != nil {
					_ = m.Respond(fmt.Appendf(nil, `{"error": {"code": 503, "description": %q}}`, err))
					return
				}
				_ = m.Respond(answer.Data)
			})
		}
	}
	if err == nil {
		err = desk.Flush()
	}
	return err
}

// stepAside lets another node lead the others, if the one of a request to remove it leads them: it would not learn that it is removed.
func stepAside(s *nats.Server, desk *client.Conn, request []byte) {
	var r struct {
		Peer string `json:"peer_id"`
	}
	if json.Unmarshal(request, &r) != nil {
		return // NATS answers with the error
	}
	leads := func() bool {
		js, err := s.Jsz(nil)
		return err == nil && js.Meta != nil && js.Meta.Peer == r.Peer
	}
	for end := time.Now().Add(deskTime); leads() && time.Now().Before(end); time.Sleep(deskTime / 100) {
		_, _ = desk.Request(stepDownServer, nil, deskTime)
	}
}

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
	registry := measure.NewRegistry()
	registry.MustRegister(n.Collector())
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
	var certificate prometheus.Collector
	if t := n.options.TLS; t != nil && len(t.Certificates) > 0 {
		certificate = measure.Certificate("node-cert", func() *tls.Certificate { return &t.Certificates[0] })
	}
	return measure.Collector(func(to chan<- prometheus.Metric) {
		if certificate != nil {
			certificate.Collect(to)
		}
		s, ready := stateOf(n.now()), 0.0
		if n.notReady() == "" {
			ready = 1
		}
		measure.Gauge(to, "samestep_storage_ready", "1 while the node can store anything, else 0.", ready)
		measure.Gauge(to, "samestep_storage_nodes", "Nodes of the cluster, as far as this one knows.", float64(s.nodes))
		measure.Gauge(to, "samestep_storage_connected", "Nodes that this one is connected to, with itself.", float64(len(s.peers)+1))
		measure.Gauge(to, "samestep_storage_clients", "Connections of servers, mirrors and workers.", float64(s.connections))
		measure.Gauge(to, "samestep_storage_streams", "Streams of which the node has a copy.", float64(s.streams))
		measure.Gauge(to, "samestep_storage_bytes", "Bytes of these copies.", float64(s.bytes))
		measure.Gauge(to, "samestep_storage_copies_missing", "Copies that streams should have and have not, of those that the node leads or that have no leader.", float64(copiesMissing(n.now(), s.peers)))
	})
}

const (
	// leastRoom is how many bytes must fit on the disk. A server with less may hang instead of failing, and keep the lead.
	leastRoom = 64 << 10

	// room is how many bytes must fit before a server is started again.
	room = 4 << 20
)

// failure returns why a server stores nothing any more, or not all streams, or "". A cluster whose majority is away is no
// failure of the server: it goes on by itself.
func failure(s *nats.Server) string {
	if !s.JetStreamEnabled() {
		return "JetStream has disabled itself after a failed write"
	}
	for _, e := range s.Healthz(&nats.HealthzOptions{Details: true}).Errors {
		if strings.Contains(e.Error, "write error") {
			return e.Error
		}
	}
	return ""
}

// hasRoom reports whether a file of a size can be written into a folder.
func hasRoom(dir string, size int) bool {
	path := filepath.Join(dir, "room")
	defer os.Remove(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, size))
	return f.Close() == nil && err == nil
}
