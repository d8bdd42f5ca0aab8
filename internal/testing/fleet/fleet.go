//go:build unix

// Package fleet runs a cluster of real processes on this machine: storage nodes, servers, and players who find their match
// wherever it is. Tests and the demonstration kill and pause its processes.
package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// Options describe a Fleet.
type Options struct {
	Program string   // a program such as samestep-cluster
	Dir     string   // of all files
	Nodes   int      // storage nodes: 1 or 3
	Servers int      // besides
	Relays  int      // besides
	Game    string   // of the matches; "" for the program's first
	Flags   []string // of every server
	Log     io.Writer
}

// A Fleet is a running cluster.
type Fleet struct {
	Nodes   []*Process
	Servers []*Process
	Relays  []*Process
	Conn    *storage.Conn

	o      Options
	urls   []string // of the storage
	listen []string // addresses of the servers
	nodes  []string // of the nodes, for clients
	routes []string // of the nodes, for each other
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
	routes, err := freeAddresses(o.Nodes)
	if err != nil {
		return err
	}
	listen, err := freeAddresses(o.Nodes)
	if err != nil {
		return err
	}
	f.nodes, f.routes = listen, routes
	for i := range o.Nodes {
		p, err := f.startNode(ctx, i)
		if err != nil {
			return err
		}
		f.Nodes, f.urls = append(f.Nodes, p), append(f.urls, p.URL)
	}
	if f.Conn, err = storage.Dial(strings.Join(f.urls, ","), storage.DialOptions{Name: "fleet"}); err != nil {
		return err
	}
	if err := f.Conn.Setup(ctx, storage.Layout{Replicas: o.Nodes}); err != nil {
		return err
	}
	if f.listen, err = freeAddresses(o.Servers); err != nil {
		return err
	}
	for i := range o.Servers {
		s, err := f.startServer(ctx, i)
		if err != nil {
			return err
		}
		f.Servers = append(f.Servers, s)
	}
	for i := range o.Relays {
		r, err := f.start(ctx, fmt.Sprint("relay-", i), "relay at ", []string{"relay", "--nats", strings.Join(f.urls, ","), "--listen", "127.0.0.1:0"})
		if err != nil {
			return err
		}
		f.Relays = append(f.Relays, r)
	}
	return nil
}

// startNode starts a storage node.
func (f *Fleet) startNode(ctx context.Context, i int) (*Process, error) {
	name := fmt.Sprint("node-", i)
	args := []string{"storage", "--name", name, "--dir", filepath.Join(f.o.Dir, name), "--listen", f.nodes[i]}
	if len(f.nodes) > 1 {
		args = append(args, "--cluster", f.routes[i])
		for _, r := range f.routes {
			args = append(args, "--route", r)
		}
	}
	return f.start(ctx, name, "storage at ", args)
}

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
	args := []string{
		"serve", "--durability", "replicated", "--nats", strings.Join(f.urls, ","), "--name", name, "--listen", f.listen[i], "--matches", "0", "--replicas", fmt.Sprint(f.o.Nodes),
		"--dir", filepath.Join(f.o.Dir, name), "--tokens", f.tokens(), "--web=false", "--idle", "1h", "--trusted-proxy", "127.0.0.1", "--anonymous-spectators", "--max-unauthenticated", "1000", "--max-per-address", "5000", "--max-requests", "5000",
	}
	if f.o.Game != "" {
		args = append(args, "--game", f.o.Game)
	}
	return f.start(ctx, name, "listening on ", append(args, f.o.Flags...))
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
	for _, p := range slices.Concat(f.Relays, f.Servers, f.Nodes) {
		p.Kill()
	}
}

// A Process is a node or a server.
type Process struct {
	Name string
	URL  string

	command *exec.Cmd
	ended   chan struct{}
}

// startTime is how long a process may take until it says where it is.
const startTime = time.Minute

// start starts the program, and waits for the line with its URL.
func (f *Fleet) start(ctx context.Context, name, prefix string, args []string) (*Process, error) {
	p := &Process{Name: name, command: exec.Command(f.o.Program, args...), ended: make(chan struct{})}
	log, err := os.OpenFile(filepath.Join(f.o.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p.command.Stderr = log
	out, err := p.command.StdoutPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(p.ended)
		defer log.Close()
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				select {
				case found <- strings.TrimSuffix(strings.TrimSpace(url), "/"):
				default:
				}
			}
		}
		p.command.Wait()
	}()
	timeout := time.NewTimer(startTime)
	defer timeout.Stop()
	select {
	case p.URL = <-found:
		return p, nil
	case <-p.ended:
		err = errors.New("it ended")
	case <-timeout.C:
		err = fmt.Errorf("it is not there after %v", startTime)
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Kill()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("fleet: %s: %w: %s", name, err, text)
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Stop asks the process to end, and waits for it.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	<-p.ended
}

// Wait waits until the process has ended.
func (p *Process) Wait() { <-p.ended }

// Pause stops the process without its knowledge, until Continue.
func (p *Process) Pause() { p.Signal(syscall.SIGSTOP) }

// Continue lets a paused process go on.
func (p *Process) Continue() { p.Signal(syscall.SIGCONT) }

// Signal sends a signal; not to a process that has ended.
func (p *Process) Signal(s syscall.Signal) { _ = p.command.Process.Signal(s) }

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
