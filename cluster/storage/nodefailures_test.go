package storage_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// A safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *safeBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// awaitLine waits until a log has a text.
func (b *safeBuffer) awaitLine(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(b.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has no %q:\n%s", text, b)
		}
	}
}

// A node that cannot start says why, long before it gives up waiting.
func TestNodeSaysWhyItFails(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, want string
		change     func(*storage.NodeOptions)
	}{
		{"the port is taken", "address already in use", func(o *storage.NodeOptions) { o.Listen = taken.Addr().String() }},
		{"the port for nodes is taken", "address already in use", func(o *storage.NodeOptions) { o.Cluster, o.Routes = taken.Addr().String(), []string{"127.0.0.1:1"} }},
		{"the folder is a file", "not a directory", func(o *storage.NodeOptions) { o.Dir = filepath.Join(file, "storage") }},
	} {
		o := storage.NodeOptions{Name: "z", Dir: t.TempDir()}
		row.change(&o)
		began := time.Now()
		n, err := storage.StartNode(o)
		if err == nil {
			n.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "node z") {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s: known after %v", row.name, took)
		}
	}
}

// Nodes log which others they find and lose, and that they lack a majority; one that cannot join says the cause.
func TestNodeLog(t *testing.T) {
	t.Parallel()
	ours, other := newAuthority(t), newAuthority(t)
	routes := freeAddresses(t, 5)
	start := func(i int, name string, a *authority) (*storage.Node, *safeBuffer) {
		log := &safeBuffer{}
		clients, nodes := a.node(t)
		o := storage.NodeOptions{Name: name, Dir: t.TempDir(), Cluster: routes[i], Routes: routes[:3], TLS: clients, ClusterTLS: nodes, Log: log.logger()}
		o.Hurry()
		n, err := storage.StartNode(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		return n, log
	}
	a, log := start(0, "a", ours)
	log.awaitLine(t, `msg="nothing can be stored"`)
	if status, text := ask(a, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "connected to 1 of 3") {
		t.Errorf("alone: got %d %q", status, text)
	}
	if status, _ := ask(a, "/healthz"); status != http.StatusOK {
		t.Errorf("alone: /healthz: got %d", status)
	}
	b, _ := start(1, "b", ours)
	start(2, "c", ours)
	log.awaitLine(t, `msg="another node is found" node=a peer=b`)
	log.awaitLine(t, `msg="the storage works again"`)
	if status, text := ask(a, "/readyz"); status != http.StatusOK {
		t.Errorf("with the others: got %d %q", status, text)
	}
	if _, text := ask(a, "/metrics"); !strings.Contains(text, "\nsamestep_storage_connected 3\n") || !strings.Contains(text, "\nsamestep_storage_nodes 3\n") {
		t.Errorf("with the others: got %s", text)
	}
	b.Stop()
	log.awaitLine(t, `msg="another node is lost" node=a peer=b`)

	_, stranger := start(3, "d", other)
	stranger.awaitLine(t, "certificate")
	_, twin := start(4, "a", ours)
	twin.awaitLine(t, "duplicate name")
}

// ask asks the handler of a node.
func ask(n *storage.Node, path string) (status int, text string) {
	w := httptest.NewRecorder()
	n.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, fmt.Sprint(w.Body)
}

// A route that is no address is an error at once. The server would look for it for ever.
func TestBadRoute(t *testing.T) {
	for _, route := range []string{"nats://127.0.0.1:6222", "127.0.0.1", ""} {
		n, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir(), Cluster: "127.0.0.1:0", Routes: []string{route}})
		if err == nil {
			n.Stop()
			t.Errorf("%q: a node has started", route)
		} else if !strings.Contains(err.Error(), "want HOST:PORT") {
			t.Errorf("%q: got %v", route, err)
		}
	}
}
