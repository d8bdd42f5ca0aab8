//go:build unix

// Package fleet runs a cluster of real processes on this machine: storage nodes, servers, and players who find their match
// wherever it is. Tests and the demonstration kill and pause its processes.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// Options describe a Fleet.
type Options struct {
	Program string   // a program such as samestep-cluster
	Dir     string   // of all files
	Nodes   int      // storage nodes: 1 or 3; 0 for servers that are no cluster
	Servers int      // besides
	Mirrors int      // besides
	Game    string   // of the matches; "" for the program's first
	Flags   []string // of every server
	Links   bool     // nodes reach each other through links that [Fleet.CutOff] closes
	Near    bool     // server i prefers node i, instead of node 0
	Hosts   []Host   // node i and server i are at host i; nil: all on loopback

	// Pauses start everything at once on a new storage, in place of one after the other: first the nodes, then the servers, then the
	// mirrors, each after a pause of its own. The fleet makes no stream then; the servers do.
	Pauses []time.Duration

	NodeFlags []string            // of every node
	ConnFlags []string            // of every program that connects to the storage
	Dial      storage.DialOptions // how the fleet itself connects
	Log       io.Writer
}

// A Host is a machine, or what looks like one.
type Host struct {
	Address string   // of its network interface
	Enter   []string // what to put before a command line, so that the program runs there
}

// Ports of the programs of a [Host].
const (
	nodePort   = "4222"
	routePort  = "6222"
	serverPort = "8766"
)

// A Fleet is a running cluster.
type Fleet struct {
	Nodes   []*Process
	Servers []*Process
	Mirrors []*Process
	Conn    *storage.Conn

	o      Options
	urls   []string // of the storage
	listen []string // addresses of the servers
	nodes  []string // of the nodes, for clients
	routes []string // of the nodes, for each other
	links  []*link  // between nodes
}

// Tokens of the fleet's players and of its admin.
const adminToken = "the-admin-of-the-fleet"

// Token returns the token of a seat in every match.
func Token(seat int) string { return fmt.Sprintf("the-player-of-seat-%02d", seat) }

// maxSeats is how many seats have a token.
const maxSeats = 16

// Start starts the nodes and the servers.
func Start(ctx context.Context, o Options) (*Fleet, error) {
	f := &Fleet{o: o}
	if err := f.begin(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// begin starts all processes.
func (f *Fleet) begin(ctx context.Context) error {
	o := &f.o
	if err := f.writeTokens(); err != nil {
		return err
	}
	var err error
	if f.routes, err = f.addresses(o.Nodes, routePort); err != nil {
		return err
	}
	if f.nodes, err = f.addresses(o.Nodes, nodePort); err != nil {
		return err
	}
	if o.Links {
		if f.links, err = newLinks(f.routes); err != nil {
			return err
		}
	}
	if f.listen, err = f.addresses(o.Servers, serverPort); err != nil {
		return err
	}
	if o.Pauses != nil {
		return f.beginAtOnce(ctx)
	}
	for i := range o.Nodes {
		p, err := f.startNode(ctx, i)
		if err != nil {
			return err
		}
		f.Nodes, f.urls = append(f.Nodes, p), append(f.urls, p.URL)
	}
	if o.Nodes > 0 {
		if f.Conn, err = storage.Dial(strings.Join(f.urls, ","), o.Dial); err != nil {
			return err
		}
		if err := f.Conn.Setup(ctx, storage.Layout{Replicas: o.Nodes}); err != nil {
			return err
		}
	}
	for i := range o.Servers {
		s, err := f.startServer(ctx, i)
		if err != nil {
			return err
		}
		f.Servers = append(f.Servers, s)
	}
	for i := range o.Mirrors {
		r, err := f.startMirror(ctx, i)
		if err != nil {
			return err
		}
		f.Mirrors = append(f.Mirrors, r)
	}
	return nil
}

// startMirror starts a mirror.
func (f *Fleet) startMirror(ctx context.Context, i int) (*Process, error) {
	args := []string{"mirror", "--nats", strings.Join(f.urls, ","), "--listen", "127.0.0.1:0"}
	return f.start(ctx, Host{}, fmt.Sprint("mirror-", i), "mirror at ", append(args, f.o.ConnFlags...))
}

// startNode starts a storage node.
func (f *Fleet) startNode(ctx context.Context, i int) (*Process, error) {
	name := fmt.Sprint("node-", i)
	args := []string{"storage", "--name", name, "--dir", filepath.Join(f.o.Dir, name), "--listen", f.nodes[i]}
	if len(f.nodes) > 1 {
		args = append(args, "--cluster", f.routes[i])
		args = append(args, f.routesOf(i)...)
	}
	return f.start(ctx, f.host(i), name, "storage at ", append(args, f.o.NodeFlags...))
}

// AddNode starts one more storage node, which finds the others, and returns its index. No link leads to it.
func (f *Fleet) AddNode(ctx context.Context) (int, error) {
	if f.o.Links || f.o.Hosts != nil {
		return -1, errors.New("fleet: got a new node for a fleet with links or hosts, want one on loopback")
	}
	two, err := freeAddresses(2)
	if err != nil {
		return -1, err
	}
	f.nodes, f.routes = append(f.nodes, two[0]), append(f.routes, two[1])
	n, err := f.startNode(ctx, len(f.Nodes))
	if err != nil {
		return -1, err
	}
	f.Nodes, f.urls = append(f.Nodes, n), append(f.urls, n.URL)
	return len(f.Nodes) - 1, nil
}

// Storage returns the addresses of all nodes that there have been.
func (f *Fleet) Storage() string { return strings.Join(f.urls, ",") }

// DialNode connects to one node, and to no other if that is lost.
func (f *Fleet) DialNode(i int) (*storage.Conn, error) { return storage.Dial(f.Nodes[i].URL, f.o.Dial) }

// RestartNode starts a storage node that has ended anew.
func (f *Fleet) RestartNode(ctx context.Context, i int) error {
	n, err := f.startNode(ctx, i)
	if err == nil {
		f.Nodes[i] = n
	}
	return err
}

// RestartEnded starts all servers that have ended anew.
func (f *Fleet) RestartEnded(ctx context.Context) error {
	for i, s := range f.Servers {
		select {
		case <-s.ended:
			if err := f.Restart(ctx, i); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

// startServer starts a server.
func (f *Fleet) startServer(ctx context.Context, i int) (*Process, error) {
	name := fmt.Sprint("server-", i)
	nodes := f.urls
	if f.o.Near {
		nodes = slices.Concat(nodes[i:], nodes[:i])
	}
	args := []string{
		"serve", "--listen", f.listen[i], "--matches", "0",
		"--dir", filepath.Join(f.o.Dir, name), "--tokens", f.tokens(), "--set", "web=false", "--set", "idle=1h", "--set", "trusted-proxy=127.0.0.1", "--set", "anonymous-spectators=true",
		"--set", "max-unauthenticated=1000", "--set", "max-per-address=5000", "--set", "max-requests=5000",
	}
	for i := 1; i < len(f.o.ConnFlags); i += 2 { // other verbs have flags for these
		args = append(args, "--set", strings.TrimPrefix(f.o.ConnFlags[i-1], "--")+"="+f.o.ConnFlags[i])
	}
	if f.o.Nodes > 0 {
		args = append(args, "--durability", "replicated", "--nats", strings.Join(nodes, ","), "--name", name, "--set", fmt.Sprint("replicas=", f.o.Nodes))
	}
	if f.o.Game != "" {
		args = append(args, "--game", f.o.Game)
	}
	return f.start(ctx, f.host(i), name, "listening on ", append(args, f.o.Flags...))
}

// Restart starts a server that has ended anew.
func (f *Fleet) Restart(ctx context.Context, i int) error {
	s, err := f.startServer(ctx, i)
	if err == nil {
		f.Servers[i] = s
	}
	return err
}

func (f *Fleet) tokens() string { return filepath.Join(f.o.Dir, "tokens.txt") }

func (f *Fleet) writeTokens() error {
	var b strings.Builder
	fmt.Fprintf(&b, "admin - admin - %s\n", adminToken)
	for i := range maxSeats {
		fmt.Fprintf(&b, "player %d player-%d - %s\n", i, i, Token(i))
	}
	return os.WriteFile(f.tokens(), []byte(b.String()), 0o600)
}

// Dir returns the folder of all files.
func (f *Fleet) Dir() string { return f.o.Dir }

// Close ends all processes.
func (f *Fleet) Close() {
	if f.Conn != nil {
		f.Conn.Close()
	}
	for _, p := range slices.Concat(f.Mirrors, f.Servers, f.Nodes) {
		if p != nil { // of a start that failed
			p.Kill()
		}
	}
	for _, l := range f.links {
		l.close()
	}
}

// routesOf returns the flags with which a node finds the others. With links it tells nobody where it listens really: they
// would connect there, past the links. Port 1 refuses connections.
func (f *Fleet) routesOf(i int) (flags []string) {
	if !f.o.Links {
		for _, r := range f.routes {
			flags = append(flags, "--route", r)
		}
		return flags
	}
	for _, l := range f.links {
		if l.from == i {
			flags = append(flags, "--route", l.listener.Addr().String())
		}
	}
	return append(flags, "--cluster-advertise", "127.0.0.1:1")
}

// CutOff cuts a node off from the other nodes, in both directions. Its clients stay.
func (f *Fleet) CutOff(node int) {
	for _, l := range f.links {
		if l.from == node || l.to == node {
			l.set(true)
		}
	}
}

// Heal connects all nodes again.
func (f *Fleet) Heal() {
	for _, l := range f.links {
		l.set(false)
	}
}

// start starts the program at a host.
func (f *Fleet) start(ctx context.Context, at Host, name, prefix string, args []string) (*Process, error) {
	return Run(ctx, f.o.Dir, name, prefix, slices.Concat(at.Enter, []string{f.o.Program}, args))
}

// host returns where node i and server i run.
func (f *Fleet) host(i int) Host {
	if f.o.Hosts == nil {
		return Host{}
	}
	return f.o.Hosts[i]
}

// addresses returns n addresses to listen at: a port of each host, or any free ports of loopback.
func (f *Fleet) addresses(n int, port string) (all []string, err error) {
	if f.o.Hosts == nil {
		return freeAddresses(n)
	}
	for i := range n {
		all = append(all, net.JoinHostPort(f.o.Hosts[i].Address, port))
	}
	return all, nil
}

// freeAddresses returns addresses on loopback that nobody listens on.
func freeAddresses(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}
