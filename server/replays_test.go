//go:build !js

package server_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

// Only replays of finished matches are listed and sent.
func TestReplaysOverHTTP(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true, KeepOpen: true}})
	a := s.join(t, ada, wander)
	<-a.Ready()
	name := filepath.Base(s.match.ReplayPath())
	for file, content := range map[string]string{"notes.txt": "private", "old.ssr": "an old replay", ".hidden.ssr": "hidden"} {
		if err := os.WriteFile(filepath.Join(s.dir, file), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.ssr")
	if err := os.WriteFile(outside, []byte("outside"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.dir, "link.ssr")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "folder.ssr"), 0o777); err != nil {
		t.Fatal(err)
	}

	if _, body := s.ask(t, "GET", "/replays", "", ""); !strings.Contains(body, `"old.ssr"`) || strings.Contains(body, name) {
		t.Errorf("while the match runs: got the list %s, want old.ssr alone", body)
	}
	for _, path := range []string{
		name, "notes.txt", ".hidden.ssr", "link.ssr", "folder.ssr", "none.ssr", "..%2Fold.ssr", "%2Fetc%2Fpasswd", "a%00.ssr", strings.Repeat("a", 200) + ".ssr",
	} {
		if status, body := s.ask(t, "GET", "/replays/"+path, "", ""); status != 404 {
			t.Errorf("%s: got %d %q, want 404", path, status, body)
		}
	}
	if err := s.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	a.Wait()
	<-s.match.Done()

	var list []struct {
		Name      string    `json:"name"`
		SizeBytes int       `json:"size_bytes,string"`
		Ended     time.Time `json:"ended"`
	}
	_, body := s.ask(t, "GET", "/replays", "", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Name != name && list[1].Name != name || list[0].Ended.IsZero() {
		t.Errorf("after the match: got the list %s, want %s and old.ssr", body, name)
	}
	if status, body := s.ask(t, "GET", "/replays/"+name, "", ""); status != 200 || body != string(whole) {
		t.Errorf("the replay: got %d and %d bytes, want %d", status, len(body), len(whole))
	}
	resp := s.part(t, name, "bytes=10-19")
	part, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusPartialContent || string(part) != string(whole[10:20]) {
		t.Errorf("ten bytes: got %d and %q", resp.StatusCode, part)
	}
	for header, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Disposition": `attachment; filename="` + name + `"`,
	} {
		if got := resp.Header.Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
}

// The lock of a replay's file says that its match runs, also to another server on the same folder. A file that a
// crash left is finished.
func TestReplaysOfTwoServers(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, options: server.Options{Replays: true}})
		a := s.join(t, ada, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 })
		live := filepath.Base(s.match.ReplayPath())
		if err := os.Rename(s.crash(t), filepath.Join(s.dir, "crashed.ssr")); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(s.match.ReplayPath(), filepath.Join(s.dir, "same.ssr")); err != nil {
			t.Fatal(err)
		}
		second, err := server.New(server.Options{Dir: s.dir, Replays: true, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		servers := map[string]http.Handler{"its own server": s.server, "another server": second}
		for name, h := range servers {
			if _, body := get(h, "/replays"); strings.Contains(body, live) || strings.Contains(body, "same.ssr") || !strings.Contains(body, "crashed.ssr") {
				t.Errorf("%s, while the match runs: got the list %s, want crashed.ssr alone", name, body)
			}
			for file, want := range map[string]int{live: 404, "same.ssr": 404, "crashed.ssr": 200} {
				if status, _ := get(h, "/replays/"+file); status != want {
					t.Errorf("%s, while the match runs: %s: got %d, want %d", name, file, status, want)
				}
			}
		}
		if err := s.match.End(t.Context(), "over"); err != nil {
			t.Fatal(err)
		}
		a.Wait()
		<-s.match.Done()
		for name, h := range servers {
			if status, _ := get(h, "/replays/"+live); status != 200 {
				t.Errorf("%s, after the match: got %d, want 200", name, status)
			}
		}
	})
}

// get sends a request to a handler.
func get(h http.Handler, path string) (status int, body string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost"+path, nil)
	r.RemoteAddr = "127.0.0.1:1"
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Only regular files are listed and sent. The server follows no link and waits for no pipe.
func TestReplaysThatAreNoFiles(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	in := func(name string) string { return filepath.Join(s.dir, name) }
	for _, name := range []string{"old.ssr", "notes.txt"} {
		if err := os.WriteFile(in(name), []byte("content"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(in("folder.ssr"), 0o777); err != nil {
		t.Fatal(err)
	}
	var errs []error
	for name, to := range map[string]string{
		"to-a-replay.ssr": "old.ssr", "to-a-text.ssr": "notes.txt", "to-a-live-match.ssr": filepath.Base(s.match.ReplayPath()),
		"to-a-folder.ssr": "folder.ssr", "to-itself.ssr": "to-itself.ssr", "to-nothing.ssr": "nothing", "absolute.ssr": in("old.ssr"), "to-a-device.ssr": os.DevNull,
	} {
		errs = append(errs, os.Symlink(to, in(name)))
	}
	errs = append(errs, pipe(in("pipe.ssr")))
	socket, err := net.Listen("unix", in("socket.ssr"))
	if errs = append(errs, err); err == nil {
		defer socket.Close()
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	status, body := s.ask(t, "GET", "/replays", "", "")
	var list []struct{ Name string }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || len(list) != 1 || list[0].Name != "old.ssr" {
		t.Errorf("got the list %d %s, want old.ssr alone", status, body)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil || len(entries) != 14 {
		t.Fatalf("got %d files, %v, want 14", len(entries), err)
	}
	for _, e := range entries {
		want := 404
		if e.Name() == "old.ssr" {
			want = 200
		}
		if status, body := s.ask(t, "GET", "/replays/"+e.Name(), "", ""); status != want {
			t.Errorf("%s: got %d %q, want %d", e.Name(), status, body, want)
		}
		if e.Type().IsRegular() {
			continue
		}
		if _, err := s.server.Resume(in(e.Name()), server.MatchSpec{Game: s.game}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("resume %s: got %v, want %v", e.Name(), err, fs.ErrNotExist)
		}
	}
}

// part requests some bytes of a replay.
func (s *stage) part(t *testing.T, name, bytes string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.host+"/replays/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", bytes)
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// An address that does not read its downloads cannot use up all downloads.
func TestManyDownloads(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	large := make([]byte, 32<<20) // more than sockets hold
	if err := os.WriteFile(filepath.Join(s.dir, "large.ssr"), large, 0o666); err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		resp := s.part(t, "large.ssr", "bytes=0-")
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusPartialContent {
			t.Fatalf("download %d: got %d, want 206", n, resp.StatusCode)
		}
	}
	resp := s.part(t, "large.ssr", "bytes=0-")
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("download 9: got %d, want 503", resp.StatusCode)
	}
}

// A replay contains names and chat: only the user of the server can read it, also when it is sealed.
func TestReplayIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := server.New(server.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, setup{})
	mode := func(when, path string, want fs.FileMode) {
		t.Helper()
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: got %v, %v, want %v", when, info, err, want)
		}
	}
	mode("a new folder", dir, fs.ModeDir|0o700)
	mode("while the match runs", s.match.ReplayPath(), 0o600)
	if err := s.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	if err := s.server.Shutdown(t.Context()); err != nil { // which waits for the sealing
		t.Fatal(err)
	}
	mode("sealed", s.match.ReplayPath(), 0o600)
}

// A server without Options.Replays sends none to the public.
func TestNoReplaysOverHTTP(t *testing.T) {
	s := newStage(t, setup{})
	for _, path := range []string{"/replays", "/replays/old.ssr"} {
		if status, _ := s.ask(t, "GET", path, "", ""); status != 403 {
			t.Errorf("%s: got %d, want 403", path, status)
		}
	}
}
