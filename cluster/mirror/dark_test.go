//go:build !js

package mirror_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// misled returns a connection to the storage of right that looks for logs as if they were in another number of streams.
func misled(t *testing.T, right *storage.Conn) *storage.Conn {
	t.Helper()
	node, err := storage.StartNode(storage.NodeOptions{Name: "other", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{Streams: 3}); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	conn.NATS, conn.JS = right.NATS, right.JS
	return conn
}

// tellHeads says how far the log is, as its server does, until the test is over.
func (w *writer) tellHeads() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			w.mu.Lock()
			h := storage.Head{Sequence: w.stored, Tick: w.told}
			w.mu.Unlock()
			if err := w.conn.TellHead(w.h.Header().Match, h); err != nil {
				w.t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return stop
}

// request returns the status and the text at an address. It takes its time, because an address may ask for little.
func request(t *testing.T, address string) (int, string) {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	a, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// A mirror that gets nothing of a match, although its owner stores more, says so: it is not ready, takes no spectators of the match, and
// sends those that it has to another mirror. None is closed for abuse. It is ready again when the match is over.
func TestDarkMatch(t *testing.T) {
	t.Parallel()
	dial := newStorage(t)
	w := newWriter(t, dial("server"), testgame.LampRules, host.Options{})
	w.list("duel")
	var log syncBuffer
	conn := dial("mirror")
	wrong := misled(t, conn)
	if _, subject := wrong.LogOf(lockstep.MatchID{9}); subject == w.subject {
		t.Fatal("the log is where one that is misled looks for it")
	}
	dark, at := newMirrorWith(t, &log, mirror.Options{Source: mirror.Cluster{Conn: wrong}})
	_, well := newMirrorWith(t, &log, mirror.Options{Source: mirror.Cluster{Conn: conn}})
	w.run()
	stop := w.tellHeads()
	x := watch(t, w.game, at, nil, "ws://"+well+"/matches/duel/play")
	if _, err := dark.Follow(t.Context(), "duel"); err != nil {
		t.Fatal(err)
	}
	early, _, err := websocket.Dial(t.Context(), "ws://"+at+"/matches/duel/play", &websocket.DialOptions{Subprotocols: []string{server.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer early.CloseNow()
	_, b, err := early.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var said protocol.Message
	if _, err := new(protocol.Reader).Read(&said, b); err != nil || said.Kind != protocol.KindClosing || said.Code != uint8(protocol.CloseBusy) || !strings.Contains(said.Text, "another mirror") || said.RetryMS == 0 {
		t.Fatalf("a spectator who was there before got %+v, %v", said, err)
	}
	eventually(t, "a mirror that is not ready", func() bool {
		status, text := request(t, at+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, `such as duel`)
	})
	for _, path := range []string{"/matches/duel/play", "/matches/duel"} {
		if status, text := request(t, at+path); status != http.StatusServiceUnavailable || !strings.Contains(text, "another mirror") {
			t.Errorf("%s: got %d %q", path, status, text)
		}
	}
	if _, text := request(t, at+"/metrics"); !strings.Contains(text, "\nsamestep_mirror_dark_matches 1\n") || strings.Contains(text, "\nsamestep_mirror_behind_seconds 0\n") || strings.Contains(text, "samestep_mirror_source_lag_ticks{match=\"duel\"} 0\n") {
		t.Errorf("the metrics do not say it: %s", text)
	}
	if !strings.Contains(log.String(), "no data for a match") {
		t.Errorf("the log does not say it: %s", &log)
	}
	eventually(t, "a spectator who watches elsewhere", func() bool { return x.tick() >= 60 })
	x.mu.Lock()
	for _, code := range x.closings {
		if code != protocol.CloseBusy {
			t.Errorf("the spectator was closed for %v", code)
		}
	}
	x.mu.Unlock()
	w.halt()
	if status, text := request(t, well+"/readyz"); status != http.StatusOK {
		t.Errorf("a mirror that has everything: got %d %q", status, text)
	}
	stop()
	if err := w.conn.Remove(t.Context(), lockstep.MatchID{9}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a mirror that is ready again", func() bool {
		status, _ := request(t, at+"/readyz")
		return status == http.StatusOK
	})
	x.s.Close()
}

// A match that stands still is not dark, however long.
func TestPauseIsNotDark(t *testing.T) {
	t.Parallel()
	dial := newStorage(t)
	w := newWriter(t, dial("server"), testgame.LampRules, host.Options{})
	w.list("duel")
	var log syncBuffer
	_, at := newMirrorWith(t, &log, mirror.Options{Source: mirror.Cluster{Conn: dial("mirror")}})
	w.run()
	w.tellHeads()
	x := watch(t, w.game, at, nil)
	eventually(t, "a spectator", func() bool { return x.tick() >= 20 })
	w.halt()
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		if status, text := request(t, at+"/readyz"); status != http.StatusOK {
			t.Fatalf("got %d %q", status, text)
		}
	}
	if _, text := request(t, at+"/metrics"); !strings.Contains(text, "\nsamestep_mirror_dark_matches 0\n") || !strings.Contains(text, "\nsamestep_mirror_behind_seconds 0\n") {
		t.Error("the metrics say that something is missing")
	}
	x.s.Close()
}

// newMirrorWith starts a mirror that is quick to find a match dark, and logs into b.
func newMirrorWith(t *testing.T, b *syncBuffer, o mirror.Options) (r *mirror.Server, address string) {
	o.Hurry(time.Second)
	o.Log = slog.New(slog.NewTextHandler(b, nil))
	r, address, _ = newMirror(t, o)
	return r, address
}

// A syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
