package storage_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A cluster is some nodes in this process.
type cluster struct {
	t       *testing.T
	routes  []string
	nodes   map[string]*storage.Node
	dirs    map[string]string
	started int
	narrow  int64 // bytes that the streams of the next node may grow to; 0: those of its disk
	first   int   // nodes that begin the cluster; NATS waits for as many as have routes
}

func newCluster(t *testing.T, all int, names ...string) *cluster {
	c := &cluster{t: t, routes: freeAddresses(t, all), first: len(names), nodes: map[string]*storage.Node{}, dirs: map[string]string{}}
	for _, name := range names {
		c.start(name, t.TempDir())
	}
	return c
}

// start starts a node at the next route.
func (c *cluster) start(name, dir string) {
	c.t.Helper()
	o := storage.NodeOptions{Name: name, Dir: dir, Cluster: c.routes[c.started], Routes: c.routes[:max(c.first, c.started+1)]}
	c.started++
	o.Hurry()
	o.Narrow(c.narrow)
	n, err := storage.StartNode(o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.Stop)
	c.nodes[name], c.dirs[name] = n, dir
}

// dial connects to one node.
func (c *cluster) dial(name string) *storage.Conn {
	c.t.Helper()
	conn, err := storage.Dial(c.nodes[name].URL(), storage.DialOptions{Name: "test"})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(conn.Close)
	return conn
}

// A writer appends to logs all the time, and remembers what was acknowledged.
type writer struct {
	conn    *storage.Conn
	stop    func()
	ended   chan struct{}
	written map[string][]string // by subject
}

// write begins to append to a few logs.
func write(t *testing.T, conn *storage.Conn) *writer {
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{conn: conn, stop: stop, ended: make(chan struct{}), written: map[string][]string{}}
	go func() {
		defer close(w.ended)
		for i := 0; ctx.Err() == nil; i++ {
			_, subject := conn.LogOf(lockstep.MatchID{byte(i % 7)})
			text := fmt.Sprint(i)
			one, cancel := context.WithTimeout(ctx, time.Second)
			if _, err := conn.JS.Publish(one, subject, []byte(text), jetstream.WithRetryAttempts(0)); err == nil {
				w.written[subject] = append(w.written[subject], text)
			}
			cancel()
			time.Sleep(2 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-w.ended })
	return w
}

// check ends the writing, and finds all that was acknowledged in its order.
func (w *writer) check(t *testing.T) {
	t.Helper()
	w.stop()
	<-w.ended
	total := 0
	for i := range 7 {
		id := lockstep.MatchID{byte(i)}
		_, subject := w.conn.LogOf(id)
		want := w.written[subject]
		total += len(want)
		tail := w.conn.Tail(id, 0)
		for len(want) > 0 {
			_, m, err := tail.Next(within(t, 20*time.Second))
			if err != nil {
				t.Fatalf("%s: %d acknowledged appends are lost, the first is %s: %v", subject, len(want), want[0], err)
			}
			if string(m) == want[0] {
				want = want[1:]
			}
		}
		tail.Close()
	}
	if total < 100 {
		t.Errorf("got %d appends, want 100: the nodes stored nothing", total)
	}
	t.Logf("%d appends acknowledged, none lost", total)
}

func quiet(storage.Progress) {}

// Nodes are replaced, added, drained and removed under load. All streams are whole after each, and nothing that was acknowledged
// is lost. A node that was removed stores nothing any more, and says why.
func TestNodesChange(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5, "a", "b", "c")
	conn := c.dial("a")
	if err := conn.Setup(within(t, 60*time.Second), storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	w := write(t, conn)
	ctx := within(t, 60*time.Second)
	c.nodes["c"].Stop()
	c.start("d", t.TempDir())
	if err := conn.ReplaceNode(ctx, "c", "d", quiet); err != nil {
		t.Fatal(err)
	}
	c.expect(conn, map[string]int{"a": 11, "b": 11, "d": 11})
	c.start("e", t.TempDir())
	if err := conn.AddNode(ctx, "e", quiet); err != nil {
		t.Fatal(err)
	}
	c.expect(conn, map[string]int{"a": 8, "b": 8, "d": 8, "e": 8})
	gone, err := conn.LeaderOfNodes(ctx) // the one that would not learn it by itself
	if err != nil || gone == "" {
		t.Fatal(gone, err)
	}
	if err := conn.DrainNode(ctx, gone, quiet); err != nil {
		t.Fatal(err)
	}
	for _, x := range conn.Streams(ctx) {
		if x.Leader == gone || slices.ContainsFunc(x.Copies, func(k storage.Copy) bool { return k.Node == gone }) {
			t.Errorf("a node that is drained has %+v", x)
		}
	}
	left := map[string]int{"a": 11, "b": 11, "d": 11, "e": 11}
	left[gone] = 0
	c.expect(conn, left)
	if err := conn.RemoveNode(ctx, gone, quiet); err != nil {
		t.Fatal(err)
	}
	delete(left, gone)
	c.expect(conn, left)
	for ready := ""; !strings.Contains(ready, "it was removed from the cluster"); time.Sleep(storage.HurriedLook) {
		answer := httptest.NewRecorder()
		c.nodes[gone].Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/readyz", nil))
		if ready = answer.Body.String(); ctx.Err() != nil {
			t.Fatalf("a removed node: got %d %s", answer.Code, ready)
		}
	}
	for range 10 {
		if time.Sleep(storage.HurriedLook); !c.nodes[gone].Failed() {
			t.Fatal("a removed node stores again")
		}
	}
	w.check(t)
}

// A node takes no copy of a stream that may grow beyond its room, or while its own storage has failed. It gets its share as soon as
// it can.
func TestAddWithoutRoom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4, "a", "b", "c")
	conn := c.dial("a")
	if err := conn.Setup(within(t, 60*time.Second), storage.Layout{Replicas: 3, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	c.narrow = 1 << 10
	c.start("d", t.TempDir())
	stopAt := func(waiting, want string) {
		t.Helper()
		ctx, stop := context.WithCancel(within(t, 60*time.Second))
		err := conn.AddNode(ctx, "d", func(p storage.Progress) {
			if strings.HasPrefix(p.Waiting, waiting) {
				stop()
			}
		})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
	const room, failed = "no node takes a copy of samestep-log-", ": the node's own storage has failed or stopped"
	stopAt(room, " MiB of room: nats: API error: code=503 err_code=10075 description=peer remap failed")
	full := filepath.Join(c.dirs["d"], "room") // the node writes a file of this name to see whether there is room
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for ctx := within(t, 20*time.Second); !c.nodes["d"].Failed(); pause(ctx) {
		if ctx.Err() != nil {
			t.Fatal("a node without room does not stop storing")
		}
	}
	stopAt("node d"+failed, "storage: node d did not join"+failed+": context canceled")
	var waited []string
	tell := func(p storage.Progress) {
		switch {
		case len(waited) == 0 && p.Waiting == "node d"+failed:
			if err := os.RemoveAll(full); err != nil {
				t.Error(err)
			}
			waited = append(waited, p.Waiting)
		case len(waited) == 1 && strings.HasPrefix(p.Waiting, room):
			c.nodes["d"].Stop()
			c.started, c.narrow = c.started-1, 0
			c.start("d", c.dirs["d"])
			waited = append(waited, p.Waiting)
		}
	}
	if err := conn.AddNode(within(t, 60*time.Second), "d", tell); err != nil || len(waited) != 2 {
		t.Fatalf("waited for %q: %v", waited, err)
	}
	c.expect(conn, map[string]int{"a": 8, "b": 8, "c": 8, "d": 8})
}

// The last node stays.
func TestLastNode(t *testing.T) {
	t.Parallel()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	conn, err := storage.Dial(node.URL(), storage.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	const want = "storage: without node a only 0 nodes are up, want 2 for all copies; start another one first"
	for _, change := range []func(context.Context, string, func(storage.Progress)) error{conn.RemoveNode, conn.DrainNode} {
		if err := change(within(t, 10*time.Second), "a", quiet); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// expect waits until the members have so many copies, or one more where they cannot be even.
func (c *cluster) expect(conn *storage.Conn, want map[string]int) {
	c.t.Helper()
	right := func(got map[string]int) bool {
		for name, n := range want {
			if k, ok := got[name]; !ok || k != n && (n == 0 || n == 11 || k != n+1) {
				return false
			}
		}
		return len(got) == len(want)
	}
	for ctx := within(c.t, 20*time.Second); ; pause(ctx) {
		s, err := conn.Status(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		got := map[string]int{}
		for _, n := range s.Nodes {
			if n.Member {
				got[n.Name] = n.Copies
			}
		}
		if right(got) {
			return
		}
		if ctx.Err() != nil {
			c.t.Fatalf("got the copies %v, want %v", got, want)
		}
	}
}

// Of several addresses that is taken from which the storage can be used. A node that is cut off from the others takes connections,
// and shows that it is alone.
func TestDialAny(t *testing.T) {
	t.Parallel()
	well, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(well.Stop)
	alone := newCluster(t, 3, "b", "c", "d")
	if err := alone.dial("b").Setup(within(t, 60*time.Second), storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	alone.nodes["c"].Stop()
	alone.nodes["d"].Stop()
	var conn *storage.Conn
	var unused []error
	for ctx := within(t, 60*time.Second); len(unused) != 2; { // NATS needs some time to notice
		if conn, unused, err = storage.DialAny(t.Context(), "nats://127.0.0.1:1,"+alone.nodes["b"].URL()+","+well.URL(), storage.DialOptions{}); err != nil || ctx.Err() != nil {
			t.Fatal(unused, err)
		}
		defer conn.Close()
		time.Sleep(storage.HurriedLook)
	}
	if got := conn.NATS.ConnectedUrl(); got != well.URL() || !strings.Contains(unused[1].Error(), "cannot reach a majority") {
		t.Errorf("got %s, %v", got, unused)
	}
	conn, unused, err = storage.DialAny(t.Context(), alone.nodes["b"].URL(), storage.DialOptions{})
	if err != nil || len(unused) != 1 {
		t.Fatal(unused, err)
	}
	t.Cleanup(conn.Close)
	s, err := conn.Status(within(t, 10*time.Second))
	if err != nil || s.Majority || len(s.Faults()) != 1 || !strings.HasSuffix(s.Faults()[0].What, "of 3 nodes these do not: c, d") {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := conn.RemoveNode(within(t, 10*time.Second), "c", quiet); err == nil || !strings.Contains(err.Error(), "start them again with their own folders") {
		t.Errorf("got %v", err)
	}
	if _, _, err := storage.DialAny(t.Context(), "nats://127.0.0.1:1", storage.DialOptions{}); err == nil {
		t.Error("nothing listens there")
	}
}

// A node with an empty folder has no say in an election until all nodes are there: the majority is not enough, as long as it needs
// the empty one. That is why docs/cluster.md wants nodes replaced while a majority lives.
func TestEmptyNodeHasNoSay(t *testing.T) {
	t.Parallel()
	testenv.Named(t)
	c := newCluster(t, 6, "a", "b", "c")
	conn := c.dial("a")
	if err := conn.Setup(within(t, 60*time.Second), storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	c.nodes["b"].Stop()
	c.start("d", t.TempDir()) // a fourth member, as nobody removes b
	if err := conn.AddNode(within(t, 60*time.Second), "d", quiet); err == nil || !strings.Contains(err.Error(), "node b does not answer: start it again, or replace it by d") {
		t.Errorf("got %v", err)
	}
	majority := func(ctx context.Context) bool {
		s, err := conn.Status(ctx)
		return err == nil && s.Majority
	}
	c.nodes["c"].Stop()
	ctx := within(t, 120*time.Second)
	for majority(ctx) {
		pause(ctx)
	}
	c.start("c", t.TempDir())
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); pause(ctx) {
		if majority(ctx) {
			t.Fatal("an empty node has elected a leader with two of four")
		}
	}
	c.start("b", c.dirs["b"])
	for !majority(ctx) {
		if pause(ctx); ctx.Err() != nil {
			t.Fatal("no leader with all four")
		}
	}
}
