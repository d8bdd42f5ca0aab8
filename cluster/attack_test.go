package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/server"
)

// Two servers with a server's key, and no other right, continue each other's matches.
func TestTakeoverWithKeys(t *testing.T) {
	t.Parallel()
	user, seed, err := storage.NewUser(storage.ServerRole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server.nk")
	if err := os.WriteFile(path, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	node, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: t.TempDir(), Users: []storage.User{user}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	testTakeover(t, newSiteAs(t, "a", node.URL(), 1, path, nil), newSiteAs(t, "b", node.URL(), 1, path, nil))
}

// What a client forges does not reach the server to which its request is passed on, or changes nothing.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	f := newFalseServer(t)
	enlist(t, a.conn, cluster.Server{Name: "f-000000", Address: f.URL}, "duel")
	await(t, "the match is passed on", func() bool {
		_, text, _ := do(t, "GET", a.url, "/matches/duel", nil, "")
		return text == "passed on"
	})
	f.requests()
	for _, row := range []struct {
		name, path string
		header     http.Header
		passed     bool
	}{
		{"nothing", "/matches/duel", nil, true},
		{"a route", "/matches/duel/statistics?x=1", nil, true},
		{"an escaped name", "/matches/%64uel", nil, true},
		{"the client", "/matches/duel", http.Header{"X-Forwarded-For": {"6.6.6.6"}, "Forwarded": {"for=6.6.6.6"}}, true},
		{"headers of the connection", "/matches/duel", http.Header{"Connection": {"Samestep-Hop, X-Forwarded-For"}}, true},
		{"the mark of a server", "/matches/duel", http.Header{"Samestep-Hop": {"f"}}, false},
		{"another host", "/matches/duel", http.Header{"Host": {"evil.example"}}, false},
		{"a path upwards", "/matches/duel/../../metrics", nil, false},
		{"an escaped path upwards", "/matches/duel/%2e%2e/%2e%2e/metrics", nil, false},
		{"a double slash", "/matches/duel//play", nil, false},
		{"an escaped slash", "/matches/duel%2Fplay", nil, false},
		{"an address", "//" + strings.TrimPrefix(f.URL, "http://") + "/matches/duel", nil, false},
	} {
		status, text, answer := do(t, "GET", a.url, row.path, row.header, "")
		seen := f.requests()
		if !row.passed {
			if len(seen) > 0 || text == "passed on" || strings.Contains(answer.Get("Location"), "//") {
				t.Errorf("%s: passed on: %d %s %v", row.name, status, text, seen)
			}
			continue
		}
		if len(seen) != 1 || text != "passed on" {
			t.Errorf("%s: got %d %s, %d requests", row.name, status, text, len(seen))
			continue
		}
		h := seen[0].Header
		if x, fwd := h.Values("X-Forwarded-For"), h.Values("Forwarded"); len(x) != 1 || x[0] != "127.0.0.1" || len(fwd) != 1 || fwd[0] != "for=127.0.0.1" {
			t.Errorf("%s: the client is %q, %q", row.name, x, fwd)
		}
		if h.Get("Samestep-Hop") != "a" {
			t.Errorf("%s: got the mark %q", row.name, h.Get("Samestep-Hop"))
		}
	}
}

// A list asks all servers of the directory, and shows none of them the token of the client.
func TestListKeepsToken(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	a.create(t, "here")
	f := newFalseServer(t)
	enlist(t, a.conn, cluster.Server{Name: "f-000000", Address: f.URL}, "duel")
	var seen []*http.Request
	await(t, "the false server is asked", func() bool {
		status, text := a.admin(t, "GET", "/matches", "")
		if status != http.StatusOK || !strings.Contains(text, `"state_bytes"`) {
			t.Fatalf("got %d %s, want the figures of the own matches", status, text)
		}
		seen = f.requests()
		return len(seen) > 0
	})
	for _, r := range seen {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "ops-ops") {
				t.Errorf("%s: the false server was sent the header %s: %q", r.URL, name, values)
			}
		}
	}
}

// A request that changes something is not sent twice when the server of the match goes away in the middle.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	f := newFalseServer(t)
	enlist(t, a.conn, cluster.Server{Name: "f-000000", Address: f.URL}, "duel")
	await(t, "the match is passed on", func() bool {
		_, text, _ := do(t, "GET", a.url, "/matches/duel", nil, "")
		return text == "passed on"
	})
	f.cut.Store(true)
	f.requests()
	if status, text, _ := do(t, "POST", a.url, "/matches/duel/kick", nil, `{"seat":1}`); status != http.StatusBadGateway || !strings.Contains(text, "unknown") || len(f.requests()) != 1 {
		t.Errorf("POST: got %d %s", status, text)
	}
	time.AfterFunc(300*time.Millisecond, func() { f.cut.Store(false) })
	if status, text, _ := do(t, "GET", a.url, "/matches/duel", nil, ""); status != http.StatusOK || text != "passed on" || len(f.requests()) < 2 {
		t.Errorf("GET: got %d %s", status, text)
	}
}

// A mark of a server from outside makes a server answer for itself, as one without a cluster does.
func TestForgedHop(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	a.create(t, "duel")
	await(t, "b knows the match", func() bool {
		status, _, _ := do(t, "GET", b.url, "/matches/duel", nil, "")
		return status == http.StatusOK
	})
	mark := http.Header{"Samestep-Hop": {"a"}}
	status, text, _ := do(t, "GET", b.url, "/matches/duel", mark, "")
	if none, want, _ := do(t, "GET", b.url, "/matches/none", nil, ""); status != none || strings.ReplaceAll(text, "duel", "none") != want {
		t.Errorf("got %d %s, want as for no match: %d %s", status, text, none, want)
	}
	if status, text, _ := do(t, "POST", b.url, "/matches", mark, `{"name":"mine"}`); status != http.StatusUnauthorized && status != http.StatusForbidden {
		t.Errorf("POST: got %d %s", status, text)
	}
}

// Requests for a match that has no server wait up to a limit of their address, and the others are told to come back.
func TestCrowd(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newHurriedSite(t, "a", node.URL())
	_, matches := buckets(t, a.conn)
	// Of a build that no server has, so it stays without one.
	if _, err := matches.Create(t.Context(), "lost", []byte(`{"name":"lost","id":"0102030405060708090a0b0c0d0e0f10","game":"other","build":"1","server":"gone-000000","state":"released","term":1}`)); err != nil {
		t.Fatal(err)
	}
	await(t, "a knows the match", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", a.url+"/matches/lost", nil)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			answer.Body.Close()
		}
		return err != nil // it waits
	})
	time.Sleep(200 * time.Millisecond) // for the last of them to be gone
	const most, all = 256, 300
	var mu sync.Mutex
	codes := make(map[string]int)
	var waiting sync.WaitGroup
	for range all {
		waiting.Go(func() {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "http://127.0.0.1/matches/lost", nil)
			r.RemoteAddr = "10.1.2.3:1"
			r.Header.Set("Upgrade", "websocket") // others have a rate, too
			a.member.Handler(a.server).ServeHTTP(w, r)
			var answer struct{ Error struct{ Code string } }
			_ = json.Unmarshal(w.Body.Bytes(), &answer)
			mu.Lock()
			defer mu.Unlock()
			codes[answer.Error.Code]++
		})
	}
	count := func(code string) int {
		mu.Lock()
		defer mu.Unlock()
		return codes[code]
	}
	await(t, "those above the limit are refused at once", func() bool { return count("busy") == all-most })
	if n := count("recovering"); n > 0 {
		t.Errorf("%d have not waited", n)
	}
	waiting.Wait()
	if n := count("recovering"); n != most {
		t.Errorf("%d have waited, want %d; got %v", n, most, codes)
	}
}

// What a false server writes into the directory makes no member send requests or write files elsewhere.
func TestPoisonedDirectory(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	f := newFalseServer(t)
	const lure = "/lure" // a request without it is for a server of another test that had this port
	host := strings.TrimPrefix(f.URL, "http://")
	for i, address := range []string{"", host + lure, "file:///etc/passwd", "gopher://" + host + lure, "http://", "http://user:secret@" + host + lure, f.URL + lure + "?x=", f.URL + lure + "#x", "http://[::1", "/relative"} {
		name := fmt.Sprintf("f%d-000000", i)
		enlist(t, a.conn, cluster.Server{Name: name, Address: address, Capacity: 1 << 30, Builds: a.builds()}, fmt.Sprint("m", i))
	}
	_, matches := buckets(t, a.conn)
	for key, name := range map[string]string{"==/==/==/escape": "../../../escape", "/absolute": "/absolute", "x/y": "x/y"} {
		value, err := json.Marshal(cluster.Match{Name: name, ID: "0102030405060708090a0b0c0d0e0f10", Game: a.builds()[0].Game, Build: a.builds()[0].Build, Entry: ownership.Entry{Server: "gone-000000", State: ownership.Released, Term: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := matches.Create(t.Context(), key, value); err != nil {
			t.Logf("the storage refuses the key %s: %v", key, err)
		}
	}
	time.Sleep(storage.LeaseTime)
	if status, text, _ := do(t, "POST", a.url, "/matches", http.Header{"Authorization": {"Bearer ops-ops-ops-ops-ops-ops"}}, `{"name":"mine"}`); status != http.StatusCreated {
		t.Errorf("a match is not begun here: %d %s", status, text)
	}
	if status, text, _ := do(t, "GET", a.url, "/matches", nil, ""); status != http.StatusOK {
		t.Errorf("no list of the matches of all servers: %d %s", status, text)
	}
	for _, r := range f.requests() {
		if strings.HasPrefix(r.URL.Path, lure) {
			t.Errorf("got a request: %s %s", r.Method, r.URL)
		} else {
			t.Logf("a request of another test: %s %s", r.Method, r.URL)
		}
	}
	_ = filepath.WalkDir(filepath.Dir(a.dir), func(path string, _ os.DirEntry, _ error) error {
		if strings.Contains(path, "escape") || strings.Contains(path, "absolute") {
			t.Errorf("there is %s", path)
		}
		return nil
	})
	for _, address := range []string{"", "127.0.0.1:80", "http://user@127.0.0.1", "ftp://127.0.0.1"} {
		if _, err := cluster.Join(t.Context(), cluster.Options{Conn: a.conn, Name: "x", Address: address}); err == nil {
			t.Errorf("joined with the address %q", address)
		}
	}
}

// builds returns the builds of a site.
func (x *site) builds() []cluster.Build {
	game := duel("").Game
	return []cluster.Build{{Game: game.Name(), Build: game.Build()}}
}

// The port for clients answers nothing that a server without a cluster does not answer.
func TestNothingOnThePublicPort(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	newSite(t, "b", node.URL(), 1)
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := server.New(server.Options{Authorizer: tokens, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Shutdown(context.Background())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := server.HTTPServer("", alone)
	go web.Serve(alone.Listener(l))
	defer web.Close()
	url := "http://" + l.Addr().String()
	for _, path := range []string{
		"/", "/healthz", "/readyz", "/matches", "/matches/", "/matches/none", "/matches/none/play", "/matches/../cluster", "/cluster", "/cluster/", "/servers", "/members", "/leases", "/directory",
		"/storage", "/nodes", "/raft", "/varz", "/connz", "/routez", "/subsz", "/jsz", "/healthz?js-enabled-only=true", "/accountz", "/streaming/serverz", "/debug/vars", "/debug/pprof/", "/$JS.API.INFO", "/v1/kv/",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS"} {
			got, text, header := do(t, method, a.url, path, nil, "")
			want, wantText, wantHeader := do(t, method, url, path, nil, "")
			if got != want || text != wantText && path != "/healthz" && path != "/readyz" {
				t.Errorf("%s %s: got %d %s, want %d %s", method, path, got, text, want, wantText)
			}
			for name := range header {
				if wantHeader.Values(name) == nil {
					t.Errorf("%s %s: the header %s: %s", method, path, name, header.Get(name))
				}
			}
		}
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "CONNECT {\"verbose\":true}\r\nPING\r\n\r\n")
	c.SetDeadline(time.Now().Add(patience))
	b, _ := io.ReadAll(c)
	if strings.Contains(string(b), "PONG") || strings.Contains(string(b), "INFO") || !strings.HasPrefix(string(b), "HTTP/1.1 400") {
		t.Errorf("the protocol of NATS: got %q", b)
	}
}
