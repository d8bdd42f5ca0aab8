package storage

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

// NodeOptions configure a [Node]. A zero field has the default that its comment names.
type NodeOptions struct {
	Name    string        // unique in the cluster
	Dir     string        // folder of the node's files
	Listen  string        // address for clients: any free port on loopback
	Cluster string        // address for other nodes; "" for a node alone
	Routes  []string      // addresses of all nodes of the cluster; this one's may be among them
	Sync    time.Duration // longest time until a write is on the disk; negative: before it is acknowledged. 1 s
	Users   []User        // who may connect, with the permissions of their roles; nil: everybody who reaches the port

	TLS        *tls.Config // of clients; nil: no encryption
	ClusterTLS *tls.Config // of other nodes, whose certificates it must demand: nothing else keeps strangers out; nil: no encryption

	Log *slog.Logger // slog.Default()
}

// startTimeout is the time limit for a node to accept connections.
const startTimeout = 20 * time.Second

// A Node is an embedded storage node.
type Node struct {
	server  *nats.Server
	stop    context.CancelFunc
	running sync.WaitGroup
}

// StartNode starts a node. Nodes of one cluster need a majority to store anything; a node alone is one.
func StartNode(o NodeOptions) (*Node, error) {
	if o.Name == "" || o.Dir == "" {
		return nil, fmt.Errorf("storage: got the name %q and the folder %q of a node, want both", o.Name, o.Dir)
	}
	n := &nats.Options{
		ServerName: o.Name, StoreDir: o.Dir, JetStream: true, NoSigs: true,
		DisableJetStreamBanner: true, MaxPayload: MaxMessage + 4096, SyncInterval: o.Sync, SyncAlways: o.Sync < 0,
		TLSConfig: o.TLS, TLS: o.TLS != nil,
	}
	if o.Sync <= 0 {
		n.SyncInterval = time.Second
	}
	if err := setUsers(n, o.Users); err != nil {
		return nil, err
	}
	var err error
	if n.Host, n.Port, err = address(o.Listen); err != nil {
		return nil, err
	}
	if o.Cluster != "" {
		n.Cluster.Name, n.Cluster.TLSConfig = "samestep", o.ClusterTLS
		if n.Cluster.Host, n.Cluster.Port, err = address(o.Cluster); err != nil {
			return nil, err
		}
		for _, r := range o.Routes {
			n.Routes = append(n.Routes, &url.URL{Scheme: "nats-route", Host: r})
		}
	}
	s, err := nats.NewServer(n)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	log := newNodeLog(cmp.Or(o.Log, slog.Default()), o.Name)
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	if err := awaitStart(s, log); err != nil {
		s.Shutdown()
		return nil, fmt.Errorf("storage: node %s: %w", o.Name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	node := &Node{server: s, stop: cancel}
	if o.Cluster != "" {
		node.running.Go(func() { watchPeers(ctx, node.now, log.log) })
	}
	return node, nil
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

// URL returns the address for clients.
func (n *Node) URL() string { return n.server.ClientURL() }

// Route returns the address for other nodes, or "" if the node is alone.
func (n *Node) Route() string {
	if a := n.server.ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Stop stops the node in order. Those that it leads move to other nodes.
func (n *Node) Stop() {
	n.stop()
	n.running.Wait()
	n.server.Shutdown()
	n.server.WaitForShutdown()
}

// now returns the present server of the node.
func (n *Node) now() *nats.Server { return n.server }
