//go:build !js

package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Replays are listed and sent once their match is over, and nothing else is.
func TestReplaysOverHTTP(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
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
		t.Errorf("while the match goes on: got the list %s, want old.ssr alone", body)
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

// part asks for some bytes of a replay.
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

// An address that reads nothing of what it asked for cannot take all downloads.
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

// A server that is not told to show replays does not.
func TestNoReplaysOverHTTP(t *testing.T) {
	s := newStage(t, setup{})
	for _, path := range []string{"/replays", "/replays/old.ssr"} {
		if status, _ := s.ask(t, "GET", path, "", ""); status != 404 {
			t.Errorf("%s: got %d, want 404", path, status)
		}
	}
}
