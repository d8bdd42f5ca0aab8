//go:build !js

package server_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// archived plays a match of ada alone on a server with an archive, and waits until that has the replay and a bundle.
func archived(t *testing.T, o server.Options) (s *stage, name, bundle string) {
	t.Helper()
	s, _, name, bundle = archivedBy(t, o)
	return s, name, bundle
}

// archivedBy is archived, and returns the archive, too.
func archivedBy(t *testing.T, o server.Options) (s *stage, a *archive.Archive, name, bundle string) {
	t.Helper()
	kept := t.TempDir()
	store, err := archive.OpenFolder(kept)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = archive.New(archive.Options{Store: store, Index: filepath.Join(kept, "index.db"), Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	o.Archive = a
	s = newStage(t, setup{options: o})
	c := s.join(t, ada, wander)
	<-c.Ready()
	name = filepath.Base(s.match.ReplayPath())
	bundle = strings.TrimSuffix(name, ".ssr") + "-desync-7-player1.zip"
	if err := os.WriteFile(filepath.Join(s.dir, bundle), []byte("a bundle"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	<-s.match.Done()
	eventually(t, "the files are archived", func() bool {
		replay, err := a.Get(t.Context(), name)
		page, perr := a.Get(t.Context(), bundle)
		return err == nil && perr == nil && replay.Stored && page.Stored
	})
	return s, a, name, bundle
}

// Without Options.Replays a player sees what it has played, and admins see everything.
func TestArchiveAccess(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, name, bundle := archived(t, server.Options{SignKey: key})
	const nothing = "[]\n"
	for _, x := range []struct {
		method, path, token string
		status              int
		has                 string // of the answer
	}{
		{"GET", "/replays", "", 403, "refused"},
		{"GET", "/replays", press, 403, "refused"},
		{"GET", "/replays", bob, 200, nothing},
		{"GET", "/replays", ada, 200, name},
		{"GET", "/replays", ops, 200, name},
		{"GET", "/replays?match=duel&player=ADA&since=2020-01-01", ops, 200, name},
		{"GET", "/replays?player=bob", ops, 200, nothing},
		{"GET", "/replays?subject=nobody", ops, 200, nothing},
		{"GET", "/replays?kind=bundle", ops, 200, bundle},
		{"GET", "/replays?kind=bundle", ada, 403, "refused"},
		{"GET", "/replays?kind=secret", ops, 400, "want replay, bundle or page"},
		{"GET", "/replays?since=yesterday", ops, 400, "since: want a time"},
		{"GET", "/replays?after=none.ssr", ops, 404, "no such replay is listed"},
		{"GET", "/replays/" + name, "", 403, "refused"},
		{"GET", "/replays/" + name, press, 403, "refused"},
		{"GET", "/replays/" + name, bob, 404, "no such replay"},
		{"GET", "/replays/" + name, ada, 200, ""},
		{"GET", "/replays/" + name, ops, 200, ""},
		{"GET", "/replays/" + bundle, ada, 403, "refused"},
		{"GET", "/replays/" + bundle, ops, 200, "a bundle"},
		{"GET", "/replays/index.db", ops, 404, "no such replay"},
		{"DELETE", "/replays/" + name, "", 403, "refused"},
		{"DELETE", "/replays/" + name, ada, 403, "refused"},
		{"DELETE", "/replays/none.ssr", ops, 404, "no such replay"},
	} {
		if status, body := s.ask(t, x.method, x.path, x.token, ""); status != x.status || !strings.Contains(body, x.has) {
			t.Errorf("%s %s: got %d %q, want %d with %q", x.method, x.path, status, body, x.status, x.has)
		}
	}
	var list []server.Archived
	_, body := s.ask(t, "GET", "/replays", ops, "")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if signer := hex.EncodeToString(key.Public().(ed25519.PublicKey)); len(list) != 1 || list[0].Signer != signer || list[0].Players[0].Name != "ada" || strings.Contains(body, "token") {
		t.Errorf("got %s, want a replay of ada that %s has signed", body, signer)
	}
	if status, body := s.ask(t, "DELETE", "/replays/"+name, ops, ""); status != 204 || body != "" {
		t.Errorf("delete: got %d %q, want 204", status, body)
	}
	for _, path := range []string{name, bundle} {
		if status, _ := s.ask(t, "GET", "/replays/"+path, ops, ""); status != 404 {
			t.Errorf("deleted: %s: got %d, want 404", path, status)
		}
	}
	if files := s.files(t, "*.*"); len(files) > 0 {
		t.Errorf("the server's folder still has %v", files)
	}
}

// With Options.Replays everybody may search and read replays, but not bundles.
func TestPublicArchive(t *testing.T) {
	s, name, bundle := archived(t, server.Options{Replays: true, KeepOpen: true})
	for _, x := range []struct {
		path   string
		status int
		has    string
	}{
		{"/replays", 200, name},
		{"/replays?player=ada&match=duel", 200, name},
		{"/replays?result=over", 200, name},
		{"/replays?kind=bundle", 403, "refused"},
		{"/replays?subject=ada", 403, "refused"},
		{"/replays/" + name, 200, ""},
		{"/replays/" + bundle, 403, "refused"},
	} {
		if status, body := s.ask(t, "GET", x.path, "", ""); status != x.status || !strings.Contains(body, x.has) {
			t.Errorf("%s: got %d %q, want %d with %q", x.path, status, body, x.status, x.has)
		}
	}
}

// With Options.Bundles everybody may read the bundles of finished matches too, from the archive and from the folder.
func TestPublicBundles(t *testing.T) {
	s, a, _, bundle := archivedBy(t, server.Options{Replays: true, Bundles: true, KeepOpen: true})
	if status, body := s.ask(t, "GET", "/replays/"+bundle, "", ""); status != 200 || body != "a bundle" {
		t.Errorf("archived: got %d %q, want the bundle", status, body)
	}
	running := strings.Replace(bundle, "-desync-7-", "-desync-8-", 1)
	running = "other" + running[strings.Index(running, "-"):] // its match has no replay yet
	path := filepath.Join(s.dir, running)
	if err := os.WriteFile(path, []byte("a bundle"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Add(path)
	eventually(t, "the bundle is archived", func() bool {
		e, err := a.Get(t.Context(), running)
		return err == nil && e.Stored
	})
	for token, want := range map[string]int{"": 404, ops: 200} {
		if status, _ := s.ask(t, "GET", "/replays/"+running, token, ""); status != want {
			t.Errorf("a bundle without a replay, for %q: got %d, want %d", token, status, want)
		}
	}
	for _, public := range []bool{true, false} {
		s := newStage(t, setup{options: server.Options{Replays: true, Bundles: public}})
		running := strings.TrimSuffix(filepath.Base(s.match.ReplayPath()), ".ssr") + "-desync-7-player1.zip"
		for _, name := range []string{running, "over.ssr", "over-desync-7-player1.zip", "none-desync-7-player1.zip"} {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string]bool{running: false, "none-desync-7-player1.zip": false, "over-desync-7-player1.zip": public, "over-desync-8-player1.zip": false, "over.zip": false} {
			if status, body := s.ask(t, "GET", "/replays/"+name, "", ""); (status == 200) != want || want && body != name || !want && status != 404 {
				t.Errorf("public %t, %s: got %d %q", public, name, status, body)
			}
		}
		if status, _ := s.ask(t, "DELETE", "/replays/"+running, ops, ""); status != 404 {
			t.Errorf("got %d for the deletion of a running match's bundle, want 404", status)
		}
	}
}

// Without an archive an admin deletes replays, and nobody can search.
func TestNoArchive(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	if err := os.WriteFile(filepath.Join(s.dir, "old-01020300.ssr"), []byte("an old replay"), 0o600); err != nil {
		t.Fatal(err)
	}
	live := filepath.Base(s.match.ReplayPath())
	for _, x := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", "/replays?player=ada", "", 501}, {"DELETE", "/replays/old-01020300.ssr", ada, 403}, {"DELETE", "/replays/" + live, ops, 404},
		{"DELETE", "/replays/old-01020300.ssr", ops, 204}, {"DELETE", "/replays/old-01020300.ssr", ops, 404},
	} {
		if status, body := s.ask(t, x.method, x.path, x.token, ""); status != x.status {
			t.Errorf("%s %s: got %d %q, want %d", x.method, x.path, status, body, x.status)
		}
	}
	if _, body := s.ask(t, "GET", "/replays", "", ""); body != "[]\n" {
		t.Errorf("after the deletion: got %s", body)
	}
}

// Without an archive, too, a replay takes its bundles and their pages with it, and nothing of a match whose name begins alike.
func TestDeleteTakesEvidence(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	const other = "old-01020300-desync-final-0a0b0c0d"
	mine := []string{"old-01020300.ssr", "old-01020300-desync-7-player1.zip", "old-01020300-desync-7-player1.html", "old-01020300-desync-9-tie.zip"}
	others := []string{other + "-desync-7-player1.zip", other + ".ssr", "old-01020300-desync-7-player1.txt"}
	for _, name := range slices.Concat(mine, others) {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("a file"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, body := s.ask(t, "DELETE", "/replays/old-01020300.ssr", ops, ""); status != 204 {
		t.Fatalf("got %d %q, want 204", status, body)
	}
	var left []string
	for _, path := range s.files(t, "old-*") {
		left = append(left, filepath.Base(path))
	}
	slices.Sort(left)
	if slices.Sort(others); !slices.Equal(left, others) {
		t.Errorf("left %v, want %v", left, others)
	}
}

// Without an archive a bundle is deleted with its page, and a page alone, also those whose replay is gone.
func TestDeleteEvidence(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true, Bundles: true}})
	for _, stem := range []string{"old-01020300-desync-7-player1", "old-01020300-desync-9-tie", "orphan-01020301-desync-7-tie"} {
		for _, ext := range []string{".zip", ".html"} {
			if err := os.WriteFile(filepath.Join(s.dir, stem+ext), []byte("evidence"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "old-01020300.ssr"), []byte("a replay"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		status int
	}{
		{"old-01020300-desync-7-player1.zip", 204}, {"old-01020300-desync-7-player1.zip", 404}, {"old-01020300-desync-9-tie.html", 204},
		{"orphan-01020301-desync-7-tie.zip", 204}, {"index.html", 404},
	} {
		if status, body := s.ask(t, "DELETE", "/replays/"+x.name, ops, ""); status != x.status {
			t.Errorf("%s: got %d %q, want %d", x.name, status, body, x.status)
		}
	}
	var left []string
	for _, path := range s.files(t, "o*") {
		left = append(left, filepath.Base(path))
	}
	if slices.Sort(left); !slices.Equal(left, []string{"old-01020300-desync-9-tie.zip", "old-01020300.ssr"}) {
		t.Errorf("left %v", left)
	}
}

// A list of replays without an archive links to the next page, also after the last file of this one was deleted.
func TestReplayPages(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	at := time.Now().Add(-time.Hour)
	for i := range server.MaxListed + 5 {
		path := filepath.Join(s.dir, fmt.Sprintf("m%03d-01020300.ssr", i))
		if err := errors.Join(os.WriteFile(path, []byte("a replay"), 0o600), os.Chtimes(path, at, at.Add(time.Duration(i/3)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	page := func(query string) (names []string, next string) {
		resp, err := s.client.Get("http://" + s.host + "/replays" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var list []struct{ Name string }
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			names = append(names, f.Name)
		}
		next, _, _ = strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
		return names, next
	}
	first, next := page("")
	if len(first) != server.MaxListed {
		t.Fatalf("got %d files, want %d", len(first), server.MaxListed)
	}
	byName, _ := page("?after=" + first[len(first)-1])
	if status, body := s.ask(t, "DELETE", "/replays/"+first[len(first)-1], ops, ""); status != 204 {
		t.Fatal(status, body)
	}
	rest, last := page(next)
	if len(rest) != 5 || !slices.Equal(rest, byName) || last != "" {
		t.Errorf("got %v and %q, want %v", rest, last, byName)
	}
}

// A search in pages links to the next one.
func TestArchivePages(t *testing.T) {
	kept := t.TempDir()
	for i := range server.MaxListed + 1 {
		name := "m" + time.Unix(int64(i), 0).UTC().Format("150405") + "-01020300-desync-7-tie.zip"
		if err := os.WriteFile(filepath.Join(kept, name), []byte("a bundle"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := archive.OpenFolder(kept)
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.New(archive.Options{Store: store, Index: filepath.Join(kept, "index.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, setup{options: server.Options{Archive: a}})
	query, seen := "?kind=bundle", 0
	for pages := 0; query != "" && pages < 5; pages++ {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.host+"/replays"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+ops)
		resp, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var list []server.Archived
		err = json.NewDecoder(resp.Body).Decode(&list)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		seen += len(list)
		link := resp.Header.Get("Link")
		link = strings.TrimPrefix(link, "<")
		query, _, _ = strings.Cut(link, ">")
	}
	if seen != server.MaxListed+1 || query != "" {
		t.Errorf("got %d files, and then %q, want %d", seen, query, server.MaxListed+1)
	}
}

// Without Options.Replays only an admin lists and downloads replays.
func TestReplaysOfAdmins(t *testing.T) {
	s := newStage(t, setup{})
	if err := s.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	var name string
	eventually(t, "the replay is listed", func() bool {
		_, list := s.ask(t, "GET", "/replays", ops, "")
		var all []struct{ Name string }
		if err := json.Unmarshal([]byte(list), &all); err != nil {
			t.Fatal(list)
		}
		for _, f := range all {
			name = f.Name
		}
		return name != ""
	})
	for token, want := range map[string]int{ops: 200, ada: 403, "": 403} {
		if status, _ := s.ask(t, "GET", "/replays", token, ""); status != want {
			t.Errorf("list for %q: got %d, want %d", token, status, want)
		}
	}
	for token, want := range map[string]int{ops: 200, ada: 404, "": 403} {
		if status, _ := s.ask(t, "GET", "/replays/"+name, token, ""); status != want {
			t.Errorf("download for %q: got %d, want %d", token, status, want)
		}
	}
}
