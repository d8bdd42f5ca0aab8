//go:build !js

package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A frozenDisk answers nothing between freeze and thaw: no file of a replay, no measure of its room, no archive in it, and
// no bans.
type frozenDisk struct {
	mu     sync.Mutex
	frozen chan struct{}
	files  map[string]*frozenFile // by the match
	bans   memory
}

func newFrozenDisk() *frozenDisk {
	return &frozenDisk{files: make(map[string]*frozenFile), bans: memory{values: make(map[string][]byte)}}
}

func (d *frozenDisk) freeze() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frozen = make(chan struct{})
}

func (d *frozenDisk) thaw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.frozen != nil {
		close(d.frozen)
	}
	d.frozen = nil
}

// answer waits while the disk is frozen.
func (d *frozenDisk) answer() {
	d.mu.Lock()
	frozen := d.frozen
	d.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// A frozenFile is the file of a replay on a disk; nil for one that never freezes.
type frozenFile struct {
	badFile
	disk *frozenDisk
}

// new returns the file of a replay. Those of the match "well" are elsewhere.
func (d *frozenDisk) new(path string) (server.File, error) {
	name := server.MatchOfLog(filepath.Base(path))
	d.answer()
	f := &frozenFile{disk: d}
	if name == "well" {
		f.disk = newFrozenDisk()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[name] = f
	return f, nil
}

func (f *frozenFile) Write(p []byte) (int, error) {
	f.disk.answer()
	return f.badFile.Write(p)
}

func (f *frozenFile) Sync() error {
	f.disk.answer()
	return f.badFile.Sync()
}

func (d *frozenDisk) Put(key string, value []byte) error {
	d.answer()
	return d.bans.Put(key, value)
}

func (d *frozenDisk) Delete(key string) error {
	d.answer()
	return d.bans.Delete(key)
}

func (d *frozenDisk) Get(key string) ([]byte, error) {
	d.answer()
	return d.bans.Get(key)
}

func (d *frozenDisk) Sweep(func(string, []byte, time.Time, func(lockstep.MatchID) bool) bool) error {
	d.answer()
	return nil
}

func (d *frozenDisk) Watch(saw func(string, []byte), gone func(string)) error {
	return d.bans.Watch(saw, gone)
}

// A frozenArchive is on the disk, and ignores its contexts as a folder does.
type frozenArchive struct{ disk *frozenDisk }

func (a frozenArchive) Played(string, map[lockstep.Player]string) error {
	a.disk.answer()
	return nil
}

func (a frozenArchive) Add(string) {}

func (a frozenArchive) Find(context.Context, server.ArchiveQuery) ([]server.Archived, string, error) {
	a.disk.answer()
	return nil, "", nil
}

func (a frozenArchive) Get(context.Context, string) (server.Archived, error) {
	a.disk.answer()
	return server.Archived{}, server.ErrArchived
}

func (a frozenArchive) Open(context.Context, string) (io.ReadSeekCloser, error) {
	a.disk.answer()
	return nil, server.ErrArchived
}

func (a frozenArchive) Delete(context.Context, string) error {
	a.disk.answer()
	return server.ErrArchived
}

// create creates another match.
func (s *stage) another(t *testing.T, name string) *server.Match {
	t.Helper()
	spec, err := newMatch(strings.NewReader(fmt.Sprintf(`{"Name":%q}`, name)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.server.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// onFrozenDisk runs a test with a match on a disk that can freeze.
func onFrozenDisk(t *testing.T, o server.Options, f func(t *testing.T, s *stage, d *frozenDisk)) {
	t.Helper()
	d := newFrozenDisk()
	o.NewMatch, o.Denials, o.Archive = newMatch, d, frozenArchive{d}
	inBubble(t, setup{newFile: d.new, options: o}, func(t *testing.T, s *stage) {
		s.server.SetFreeBytes(func(string) (int64, bool) { d.answer(); return 1 << 40, true })
		defer d.thaw()
		f(t, s, d)
	})
}

// soon fails if f takes longer than a moment.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > 200*time.Millisecond {
		t.Errorf("%s took %v", what, took)
	}
}

// Scenario 45, of a disk that does not answer at all: the match is held within two seconds, everybody is told, and it goes
// on with the disk. The process answers meanwhile, and no client has seen what a power cut would take back, as the
// durability promises it.
func TestFrozenDisk(t *testing.T) {
	t.Parallel()
	for _, durability := range []replay.Durability{replay.SyncNone, replay.SyncInterval, replay.SyncFrame} {
		t.Run(durability.String(), func(t *testing.T) {
			onFrozenDisk(t, server.Options{Durability: durability}, func(t *testing.T, s *stage, d *frozenDisk) {
				f := d.files["duel"]
				clients := []*testClient{s.join(t, ada, wander), s.join(t, bob, wander)}
				time.Sleep(3 * time.Second)
				if age := s.metric(t, "samestep_disk_write_age_seconds"); age != 0 {
					t.Errorf("the disk is idle, and its oldest write has waited for %v s", age)
				}
				d.freeze()
				time.Sleep(3 * time.Second)
				stood := s.stats(t).Tick
				time.Sleep(40 * time.Second)
				if now := s.stats(t).Tick; now != stood {
					t.Errorf("%d ticks were sealed on a frozen disk", now-stood)
				}
				const reason = "the server's disk is slow"
				if v := s.match.Status(); v.Held != reason || v.State != "held" {
					t.Errorf("the status says %s, %q", v.State, v.Held)
				}
				for i, g := range clients {
					if all := reasons(g); len(all) != 1 || all[0] != reason {
						t.Errorf("client %d was told %q", i, all)
					}
				}
				if len(s.lines("level=WARN", "event=held", reason)) != 1 {
					t.Errorf("no line in the log:\n%s", s.log)
				}
				soon(t, "the metrics", func() {
					if age := s.metric(t, "samestep_disk_write_age_seconds"); age < 41 || age > 44 {
						t.Errorf("the oldest write has waited for %v s, want about 43", age)
					}
				})
				if n := s.metric(t, fmt.Sprintf("samestep_held_matches{reason=%q}", reason)); n != 1 {
					t.Errorf("%v matches are held", n)
				}
				if durability == replay.SyncFrame {
					f.safe(t, s.game, clients...)
				}
				d.thaw()
				time.Sleep(5 * time.Second)
				s.agree(t, clients...)
				if now := s.stats(t).Tick; now < stood+80 {
					t.Errorf("it was held at tick %d, and is at %d", stood, now)
				}
				if age := s.metric(t, "samestep_disk_write_age_seconds"); age != 0 {
					t.Errorf("the disk is back, and its oldest write has waited for %v s", age)
				}
				if all := reasons(clients[0]); len(all) != 2 || all[1] != "" {
					t.Errorf("told %q", all)
				}
				if s.match.End(t.Context(), "enough") != nil {
					t.Error("it did not end")
				}
				<-s.match.Done()
				gone(clients...)
				if v := f.verify(t, s.game, true); !v.Ended || v.Reason != "enough" {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// A failed write still ends the match, although nobody has waited for it.
func TestWriteFailsBehind(t *testing.T) {
	t.Parallel()
	f := &failingFile{}
	inBubble(t, setup{newFile: func(string) (server.File, error) { return f, nil }}, func(t *testing.T, s *stage) {
		g := s.join(t, ada, wander)
		time.Sleep(3 * time.Second)
		f.set(func() { f.failing = true })
		select {
		case <-s.match.Done():
		case <-time.After(5 * time.Second):
			t.Fatal("the match continues")
		}
		gone(g)
		if ends := told[player.Ended](g); len(ends) != 1 || !strings.Contains(ends[0].Reason, "the log failed") || strings.Contains(ends[0].Reason, "secret") {
			t.Errorf("told %+v", ends)
		}
	})
}

type failingFile struct {
	badFile
	failing bool
}

func (f *failingFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	failing := f.failing
	f.mu.Unlock()
	if failing {
		return 0, &fs.PathError{Op: "write", Path: "/secret/duel.ssr", Err: syscall.EIO}
	}
	return f.badFile.Write(p)
}

// slowRoutes read or change what is on the disk, so that they may wait for it.
var slowRoutes = []string{"GET /replays", "GET /replays/{file}", "DELETE /replays/{file}"}

// While the disk is frozen no call makes a match on another disk late, and none makes GET /metrics, /healthz and /readyz
// wait. Only the calls that read or change replays wait. The routes are those of the server's own document.
func TestEachRouteOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	onFrozenDisk(t, server.Options{Limits: server.Limits{MaxReads: 1 << 20}, Replays: true}, func(t *testing.T, s *stage, d *frozenDisk) {
		s.another(t, "well")
		s.another(t, "victim")
		_, document := s.ask(t, "GET", "/openapi.json", "", "")
		doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		var routes []string
		for path, item := range doc.Paths.Map() {
			for method := range item.Operations() {
				routes = append(routes, method+" "+path)
			}
		}
		slices.SortFunc(routes, func(a, b string) int { // those that end a match are last
			return strings.Compare(strings.Replace(a, "DELETE", "X", 1), strings.Replace(b, "DELETE", "X", 1))
		})
		if len(routes) < 25 {
			t.Fatalf("got %d routes", len(routes))
		}
		s.join(t, ada, wander)
		s.ask(t, "GET", "/readyz", "", "")
		time.Sleep(3 * time.Second)
		d.freeze()
		defer d.thaw()
		soon(t, "/readyz at first", func() { s.ask(t, "GET", "/readyz", "", "") })
		time.Sleep(3 * time.Second)
		var waiting sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for _, route := range routes {
			before, began := s.server.Matches(), time.Now()
			tick := tickOf(before, "well")
			answered := make(chan struct{})
			waiting.Go(func() {
				defer close(answered)
				s.onFrozen(ctx, t, route)
			})
			select {
			case <-answered:
			case <-time.After(10 * time.Second):
				if !slices.Contains(slowRoutes, route) {
					t.Errorf("%s is not answered after %v", route, time.Since(began))
				}
			}
			for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
				soon(t, path+" after "+route, func() { s.ask(t, "GET", path, "", "") })
			}
			took := time.Since(began)
			if got := tickOf(s.server.Matches(), "well") - tick; time.Duration(got)*50*time.Millisecond < took-2*time.Second {
				t.Errorf("%s: the match on another disk has sealed %d ticks in %v", route, got, took)
			}
		}
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != http.StatusServiceUnavailable || !strings.Contains(text, "its disk does not answer") {
			t.Errorf("readyz: got %d %s", status, text)
		}
		cancel()
		d.thaw()
		waiting.Wait()
	})
}

func tickOf(all []*server.Match, name string) lockstep.Tick {
	for _, m := range all {
		if m.Name() == name {
			return m.Status().Tick
		}
	}
	return 0
}

// onFrozen calls a route. Those that change a match change the match "victim".
func (s *stage) onFrozen(ctx context.Context, t *testing.T, route string) {
	method, path, _ := strings.Cut(route, " ")
	name, body := "duel", ""
	if method != http.MethodGet {
		name = "victim"
	}
	file := "none"
	if strings.Contains(path, "/replays/") {
		file = name + "-01020304.ssr"
	}
	switch {
	case path == "/matches" && method == http.MethodPost:
		body = `{"Name":"new"}`
	case strings.HasSuffix(path, "ban"), strings.HasSuffix(path, "/kick"):
		body = `{"seat":0}`
	case strings.HasSuffix(path, "/speed"):
		body = `{"percent":50}`
	case path == "/revocations" && method != http.MethodGet:
		body = `{"subject":"eve"}`
	}
	path = strings.NewReplacer("{name}", name, "{file}", file, "{sum}", strings.Repeat("0", 64)).Replace(path)
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+ops)
	resp, err := s.client.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("%s: %v", route, err)
		}
		return
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 500 && !strings.Contains(string(b), "storage") && !strings.Contains(path, "/readyz") && !strings.Contains(string(b), "not_implemented") {
		t.Errorf("%s: got %d %s", route, resp.StatusCode, b)
	}
}

// A server on a frozen disk stops when its time is over, says what is not written, and has told the clients at once.
func TestShutdownOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	onFrozenDisk(t, server.Options{}, func(t *testing.T, s *stage, d *frozenDisk) {
		g := s.join(t, ada, wander)
		time.Sleep(3 * time.Second)
		d.freeze()
		time.Sleep(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- s.server.Shutdown(ctx) }()
		time.Sleep(time.Second)
		if left := told[player.ConnectionLost](g); len(left) == 0 {
			t.Error("the player was not told")
		}
		err := <-stopped
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the disk has not answered for 2") || !strings.Contains(err.Error(), "lacks the end of the logs of duel (") {
			t.Errorf("got %v", err)
		}
		if !strings.Contains(s.log.String(), "waiting for the disk") {
			t.Error("the log does not say it meanwhile")
		}
		d.thaw()
		<-s.match.Done()
		if err := s.server.Shutdown(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		if v := d.files["duel"].verify(t, s.game, true); v.Ended || v.Ticks < 60 {
			t.Errorf("%+v", v)
		}
	})
}

// A match with a replicated log does not wait for the disk of a server that stops: another server can have it at once.
func TestReplicatedOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	onFrozenDisk(t, server.Options{Replicator: r}, func(t *testing.T, s *stage, d *frozenDisk) {
		g := s.join(t, ada, wander)
		time.Sleep(3 * time.Second)
		d.freeze()
		time.Sleep(3 * time.Second)
		if v := s.match.Status(); v.State != "held" {
			t.Errorf("got state %q, want held", v.State)
		}
		seen := g.tick()
		s.match.Suspend()
		time.Sleep(time.Second)
		if got := r.ended(); got != "released" {
			t.Errorf("the log is %q, want released", got)
		}
		if seen == 0 {
			t.Error("the player saw nothing")
		}
		d.thaw()
		<-s.match.Done()
		if got := r.ended(); got != "released" {
			t.Errorf("afterwards the log is %q, want released, once", got)
		}
	})
}
