package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
)

// A false server is in the directory, and notes what it is sent.
type falseServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
	cut  atomic.Bool // close connections instead of answering
}

func newFalseServer(t *testing.T) *falseServer {
	f := &falseServer{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		f.mu.Lock()
		f.seen = append(f.seen, r)
		f.mu.Unlock()
		if f.cut.Load() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "passed on")
	}))
	t.Cleanup(f.Close)
	return f
}

// requests returns what it was sent since the last call.
func (f *falseServer) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	f.seen = nil
	return seen
}

// enlist writes the lease of a server and keeps it, and gives it a match.
func enlist(t *testing.T, conn *storage.Conn, s cluster.Server, match string) {
	t.Helper()
	servers, matches := buckets(t, conn)
	value, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var keeping sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		keeping.Wait()
	})
	if _, err := servers.Put(ctx, s.Name, value); err != nil {
		t.Fatal(err)
	}
	keeping.Go(func() {
		for ctx.Err() == nil {
			_, _ = servers.Put(ctx, s.Name, value)
			time.Sleep(storage.LeaseTime / 5)
		}
	})
	entry := fmt.Sprintf(`{"name":%q,"id":"0102030405060708090a0b0c0d0e0f10","game":"minimal","build":"1","server":%q,"state":"playing","term":1}`, match, s.Name)
	if _, err := matches.Create(ctx, strings.ReplaceAll(match, ".", "="), []byte(entry)); err != nil {
		t.Fatal(err)
	}
}

func buckets(t *testing.T, conn *storage.Conn) (servers, matches jetstream.KeyValue) {
	t.Helper()
	servers, err := conn.JS.KeyValue(t.Context(), storage.ServersBucket)
	if err == nil {
		matches, err = conn.JS.KeyValue(t.Context(), storage.MatchesBucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	return servers, matches
}

// do sends a request and returns the answer. A path is sent as it is.
func do(t *testing.T, method, base, path string, header http.Header, body string) (status int, text string, answer http.Header) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	host := strings.TrimPrefix(base, "http://")
	if h := header.Get("Host"); h != "" {
		host = h
	}
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n", method, path, host, len(body))
	for name, values := range header {
		for _, v := range values {
			if name != "Host" {
				fmt.Fprintf(c, "%s: %s\r\n", name, v)
			}
		}
	}
	fmt.Fprintf(c, "\r\n%s", body)
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b), r.Header
}
