package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/loglines"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

func TestMain(m *testing.M) {
	testenv.Overlap(16)
	m.Run()
	used.stop()
}

const tokenList = `
player    0    ada   -     ada-ada-ada-ada-ada
player    1    bob   -     bob-bob-bob-bob-bob
admin     -    ops   -     ops-ops-ops-ops-ops-ops
`

// streams is over how many streams the logs are spread.
const streams = 2

// patience is how long a test waits for something.
const patience = 30 * time.Second

// A safeBuffer is a log of a server.
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

// A site is one server of a cluster.
type site struct {
	name   string
	conn   *storage.Conn
	member *cluster.Member
	server *server.Server
	web    *http.Server
	url    string
	dir    string
	log    safeBuffer

	sockets sync.Map    // net.Conn of each WebSocket
	refuse  atomic.Bool // to take a match over
}

// newNode returns a storage node that is alone and has nothing. It may have had streams before, whose sequences go on.
func newNode(t *testing.T) *storage.Node {
	t.Helper()
	n := used.take()
	if n == nil {
		dir, err := os.MkdirTemp("", "node")
		if err == nil {
			n, err = storage.StartNode(storage.NodeOptions{Name: "node", Dir: dir})
		}
		if err != nil {
			t.Fatal(err)
		}
		used.made(n, dir)
	}
	t.Cleanup(func() {
		if !t.Failed() && empty(n) == nil {
			used.give(n)
		}
	})
	return n
}

// used has the nodes of tests that are over, for the next ones: to begin with streams that are there saves their making.
var used nodePool

// A nodePool has nodes that no test uses.
type nodePool struct {
	mu   sync.Mutex
	free []*storage.Node
	all  []*storage.Node
	dirs []string
}

func (p *nodePool) take() (n *storage.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		n, p.free = p.free[last], p.free[:last]
	}
	return n
}

func (p *nodePool) give(n *storage.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, n)
}

func (p *nodePool) made(n *storage.Node, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all, p.dirs = append(p.all, n), append(p.dirs, dir)
}

func (p *nodePool) stop() {
	for i, n := range p.all {
		n.Stop()
		os.RemoveAll(p.dirs[i])
	}
}

// empty removes all that the streams of a node have.
func empty(n *storage.Node) error {
	conn, err := storage.Dial(n.URL(), storage.DialOptions{Name: "empty"})
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	streams := conn.JS.ListStreams(ctx)
	for s := range streams.Info() {
		if s.State.Msgs == 0 {
			continue
		}
		stream, err := conn.JS.Stream(ctx, s.Config.Name)
		if err == nil {
			err = stream.Purge(ctx)
		}
		if err != nil {
			return err
		}
	}
	return streams.Err()
}

// startNode starts a storage node with the files in a folder.
func startNode(t *testing.T, dir, listen string) *storage.Node {
	t.Helper()
	n, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: dir, Listen: listen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n
}

// newSite starts a server. Its matches are of the minimal game.
func newSite(t testing.TB, name, storageURL string, replicas int) *site {
	t.Helper()
	return newSiteAs(t, name, storageURL, replicas, "", nil)
}

// newHurriedSite starts a server that waits less than usual, for a test that waits for it.
func newHurriedSite(t testing.TB, name, storageURL string) *site {
	t.Helper()
	return newSiteAs(t, name, storageURL, 1, "", (*cluster.Options).Hurry)
}

// rulesSum is that of the module that the servers have for their matches.
var rulesSum = strings.Repeat("0f", 32)

// newSiteAs starts a server that uses the storage with a key. change may change its options.
func newSiteAs(t testing.TB, name, storageURL string, replicas int, seed string, change func(*cluster.Options)) *site {
	t.Helper()
	x := &site{name: name, dir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(&x.log, nil))
	var err error
	if x.conn, err = storage.Dial(storageURL, storage.DialOptions{Name: name, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := x.conn.Setup(ctx, storage.Layout{Replicas: replicas, Streams: streams}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x.url = "http://" + l.Addr().String()
	game := lockstep.MustGame(minimal.Rules())
	o := cluster.Options{
		Conn: x.conn, Name: name, Address: x.url, Dir: x.dir, Log: log, Builds: []cluster.Build{{Game: game.Name(), Build: game.Build()}},
		Spec: func(name string, _ *lockstep.Header, rules *replay.Rules) (server.MatchSpec, error) {
			if x.refuse.Load() {
				return server.MatchSpec{}, errors.New("refused by the test")
			}
			if written := name == "long"; !written && (rules == nil || rules.Sum.String() != rulesSum) { // each log of a server names them
				return server.MatchSpec{}, fmt.Errorf("got the rules %v, want %s", rules, rulesSum)
			}
			return server.MatchSpec{Game: game}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	if x.member, err = cluster.Join(ctx, o); err != nil {
		t.Fatal(err)
	}
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	x.server, err = server.New(server.Options{
		NewMatch: func(body io.Reader) (server.MatchSpec, error) {
			var wanted struct{ Name string }
			err := json.NewDecoder(body).Decode(&wanted)
			return duel(wanted.Name), err
		},
		RulesOf:    func(*lockstep.Game) string { return rulesSum },
		Authorizer: tokens, Dir: x.dir, Log: log, Replicator: x.member, Limits: server.Limits{IdleMatch: -1, MaxUnauthenticated: 1000, MaxPerAddress: 1000, MaxReads: 10000},
	})
	if err != nil {
		t.Fatal(err)
	}
	x.member.Serve(x.server)
	x.web = server.HTTPServer("", x.member.Handler(x.server))
	x.web.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateHijacked {
			x.sockets.Store(c, nil)
		}
	}
	go x.web.Serve(x.server.Listener(l))
	t.Cleanup(func() {
		x.stop(t)
		for _, problem := range loglines.Problems(x.log.String()) {
			t.Errorf("a line of the log of %s %s", name, problem)
		}
		if t.Failed() {
			t.Logf("the log of %s:\n%s", name, &x.log)
		}
	})
	return x
}

// create begins a match of two players.
func (x *site) create(t *testing.T, name string) *server.Match {
	t.Helper()
	m, err := x.server.Create(duel(name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// post asks a server to create a match somewhere.
func (x *site) post(t *testing.T, name string) {
	t.Helper()
	if status, text := x.admin(t, http.MethodPost, "/matches", fmt.Sprintf(`{"name":%q}`, name)); status != http.StatusCreated {
		t.Fatalf("creating %s: got %d %s", name, status, text)
	}
}

// admin sends a request of the admin to a server.
func (x *site) admin(t *testing.T, method, path, body string) (status int, text string) {
	t.Helper()
	return x.request(t, method, path, body, "ops-ops-ops-ops-ops-ops")
}

// request sends a request to a server, with a token unless it is "".
func (x *site) request(t *testing.T, method, path, body, token string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(method, x.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// duel returns the spec of a match of two players.
func duel(name string) server.MatchSpec {
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.CheckEvery, settings.KeyframeEvery = 1, 10, 100
	return server.MatchSpec{Name: name, Game: lockstep.MustGame(minimal.Rules()), Settings: settings, Config: &minimal.Config{Size: 50, Coins: 500}}
}

// vanish cuts a server off, as if its machine had lost its power: it says nothing to anybody any more.
func (x *site) vanish() {
	x.cutOff()
	x.web.Close()
	x.sockets.Range(func(c, _ any) bool {
		c.(net.Conn).Close()
		return true
	})
}

// cutOff cuts a server off from the storage, but not from its clients.
func (x *site) cutOff() { x.conn.Close() }

func (x *site) stop(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := x.server.Shutdown(ctx); err != nil {
		t.Errorf("%s: %v", x.name, err)
	}
	x.web.Close()
	x.member.Close(ctx)
	x.conn.Close()
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// has returns the match of a name if the server runs it.
func (x *site) has(name string) *server.Match {
	for _, m := range x.server.Matches() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

func (x *site) playURL(match string) string {
	return fmt.Sprintf("%s/matches/%s/play", x.url, match)
}
