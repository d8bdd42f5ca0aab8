package cluster_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// While the storage is away a server says so: to balancers, to those who create matches, and to those who end them.
func TestAnswersWithoutStorage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	node := startNode(t, dir, "")
	url := node.URL()
	a := newHurriedSite(t, "a", url)
	a.create(t, "duel")
	a.create(t, "other")
	node.Stop()
	await(t, "a is not ready", func() bool {
		return slices.Contains(a.server.NotReady(), "the cluster's storage does not respond")
	})
	if status, text := a.admin(t, http.MethodPost, "/matches", `{"name":"third"}`); status != http.StatusInsufficientStorage || !strings.Contains(text, `"storage"`) {
		t.Errorf("creating a match: got %d %s", status, text)
	}
	if status, text := a.admin(t, http.MethodDelete, "/matches/duel", ""); status != http.StatusInsufficientStorage || !strings.Contains(text, `"storage"`) {
		t.Errorf("ending a match: got %d %s", status, text)
	}
	await(t, "the ended match has no server", func() bool { return a.has("duel") == nil })
	if status, text := a.request(t, http.MethodGet, "/matches/duel", "", ""); status != http.StatusServiceUnavailable || !strings.Contains(text, `"recovering"`) {
		t.Errorf("asking for a match that has no server: got %d %s", status, text)
	}
	startNode(t, dir, strings.TrimPrefix(url, "nats://"))
	await(t, "it goes on, or is over", func() bool {
		_, matches, err := cluster.Read(t.Context(), a.conn)
		return err == nil && (len(matches) == 1 || a.has("duel") != nil)
	})
	await(t, "the server is ready", func() bool { return len(a.server.NotReady()) == 0 })
	if status, text := a.admin(t, http.MethodDelete, "/matches/other", ""); status != http.StatusOK {
		t.Errorf("ending a match with the storage: got %d %s", status, text)
	}
}

// A server that cannot continue a match leaves it to the others.
func TestOthersTry(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	b.refuse.Store(true)
	for i := range 8 {
		a.create(t, fmt.Sprint("match-", i)) // some are b's turn first
	}
	c := newSite(t, "c", node.URL(), 1)
	await(t, "the servers know each other", func() bool {
		servers, _, err := cluster.Read(t.Context(), c.conn)
		return err == nil && len(servers) == 3
	})
	a.vanish()
	await(t, "c has all matches", func() bool { return len(c.server.Matches()) == 8 })
}

// A match that no server could continue waits for an admin, who lets the servers try again, or removes it.
func TestFailedMatch(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newHurriedSite(t, "b", node.URL())
	b.refuse.Store(true)
	again, never := a.create(t, "again"), a.create(t, "never")
	await(t, "both have some ticks", func() bool { return again.Status().Tick > 20 && never.Status().Tick > 20 })
	a.vanish()
	failed := func() (n int) {
		_, matches, err := cluster.Read(t.Context(), b.conn)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			if m.State == ownership.Failed {
				n++
			}
		}
		return n
	}
	await(t, "both have failed", func() bool { return failed() == 2 })
	if status, text := b.request(t, http.MethodGet, "/matches/again", "", ""); status != http.StatusServiceUnavailable || !strings.Contains(text, "an admin can") {
		t.Errorf("a failed match: got %d %s", status, text)
	}
	for _, of := range []struct{ method, path string }{{http.MethodPost, "/matches/again/retry"}, {http.MethodDelete, "/matches/never"}} {
		for _, token := range []string{"", "ada-ada-ada-ada-ada"} {
			if status, text := b.request(t, of.method, of.path, "", token); status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%s %s with the token %q: got %d %s", of.method, of.path, token, status, text)
			}
		}
	}
	b.refuse.Store(false)
	if status, text := b.admin(t, http.MethodPost, "/matches/again/retry", ""); status != http.StatusOK {
		t.Fatalf("got %d %s", status, text)
	}
	await(t, "b has the match", func() bool { return b.has("again") != nil })
	if status, text := b.admin(t, http.MethodPost, "/matches/again/retry", ""); status < 400 {
		t.Errorf("retry of a running match: got %d %s", status, text)
	}
	status, text := b.admin(t, http.MethodDelete, "/matches/never", "")
	if status != http.StatusOK || failed() != 0 {
		t.Fatalf("got %d %s", status, text)
	}
	logs, err := filepath.Glob(filepath.Join(b.dir, "live", "never-*"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("got the logs %q, %v", logs, err)
	}
	f, err := replay.Open(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.post(t, "never") // the name is free
}

// A storage that has lost the end of a log, in a power cut of its only node, costs that end. The match does not stand for ever.
func TestLogLosesItsEnd(t *testing.T) {
	t.Parallel()
	node := startNode(t, t.TempDir(), "") // whose sequences begin with 1
	const away = 2 * time.Second
	early := func(o *cluster.Options) { o.GiveUpEarly(away) }
	a, b := newSiteAs(t, "a", node.URL(), 1, "", early), newSiteAs(t, "b", node.URL(), 1, "", early)
	m := a.create(t, "duel")
	await(t, "tick 60", func() bool { return m.Status().Tick >= 60 })
	var id lockstep.MatchID
	if _, err := hex.Decode(id[:], []byte(m.Status().Match)); err != nil {
		t.Fatal(err)
	}
	last, _, err := a.conn.Last(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	loseEnd(t, a.conn, id, last/2) // about a message for each tick
	before := a.conn.NATS.Stats().OutMsgs
	await(t, "the match is somewhere else, or anew", func() bool {
		for _, x := range []*site{a, b} {
			if n := x.has("duel"); n != nil && n != m && n.Status().Tick > 60 {
				return true
			}
		}
		return false
	})
	if sent := a.conn.NATS.Stats().OutMsgs - before; sent > 700 {
		t.Errorf("the owner has asked %d times", sent)
	}
}

// A server that drains takes no matches, and others are not kept from them.
func TestDrain(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b, c := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1), newSite(t, "c", node.URL(), 1)
	know(t, a, 3)
	b.create(t, "keeps")
	for i := range 10 {
		a.create(t, fmt.Sprint("match-", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go b.server.Drain(ctx)
	await(t, "b drains", b.server.Draining)
	a.vanish()
	await(t, "c has all matches", func() bool { return len(c.server.Matches()) == 10 })
	if _, matches, err := cluster.Read(t.Context(), c.conn); err != nil || slices.ContainsFunc(matches, func(m cluster.Match) bool { return m.Term > 2 }) {
		t.Errorf("got %+v, %v", matches, err)
	}
}

// know waits until a server knows so many servers.
func know(t *testing.T, x *site, servers int) {
	t.Helper()
	await(t, "the servers know each other", func() bool {
		all, _, err := cluster.Read(t.Context(), x.conn)
		return err == nil && len(all) == servers
	})
}

// A server takes no more matches than it has room for. The others wait, and do not fail.
func TestRoom(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	b := newSiteAs(t, "b", node.URL(), 1, "", func(o *cluster.Options) { o.Capacity = 2 })
	know(t, a, 2)
	for i := range 6 {
		a.create(t, fmt.Sprint("match-", i))
	}
	a.vanish()
	await(t, "b is full", func() bool { return len(b.server.Matches()) == 2 })
	c := newSite(t, "c", node.URL(), 1)
	await(t, "c has the rest", func() bool { return len(c.server.Matches()) == 4 })
	if n := len(b.server.Matches()); n != 2 {
		t.Errorf("b has %d matches, and room for 2", n)
	}
}

// A server that leaves does not wait for matches that nobody can take.
func TestLeaveOtherBuild(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	newSiteAs(t, "b", node.URL(), 1, "", func(o *cluster.Options) { o.Builds = []cluster.Build{{Game: "minimal", Build: "another"}} })
	know(t, a, 2)
	for i := range 3 {
		a.create(t, fmt.Sprint("match-", i))
	}
	a.member.Leave(t.Context())
	if n := len(a.server.Matches()); n != 3 {
		t.Errorf("%d matches are left, 3 could go nowhere", n)
	}
}

// A panic of a takeover costs one match, and is counted.
func TestTakeoverPanics(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	b := newSiteAs(t, "b", node.URL(), 1, "", func(o *cluster.Options) {
		o.Hurry()
		spec := o.Spec
		o.Spec = func(name string, h *lockstep.Header, rules *replay.Rules) (server.MatchSpec, error) {
			if name == "bad" {
				panic("of the test")
			}
			return spec(name, h, rules)
		}
	})
	know(t, a, 2)
	a.create(t, "bad")
	a.create(t, "good")
	a.vanish()
	await(t, "b has the good match, and the bad one has failed", func() bool {
		_, matches, err := cluster.Read(t.Context(), b.conn)
		bad := slices.ContainsFunc(matches, func(m cluster.Match) bool { return m.Name == "bad" && m.State == ownership.Failed })
		return err == nil && bad && b.has("good") != nil
	})
	if _, text := b.request(t, http.MethodGet, "/metrics", "", ""); !strings.Contains(text, "\nsamestep_panics_total 3\n") {
		t.Errorf("the panics are not counted: %s", text)
	}
}

// A match that is over, and whose replay could not be archived, is archived later.
func TestArchiveFails(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	m := a.create(t, "duel")
	taken := filepath.Join(a.dir, filepath.Base(m.ReplayPath())) // the replay's place
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-m.Done()
	if err := os.RemoveAll(taken); err != nil {
		t.Fatal(err)
	}
	await(t, "the match is over", func() bool {
		_, matches, err := cluster.Read(t.Context(), a.conn)
		return err == nil && len(matches) == 0
	})
	if _, err := os.Stat(taken); err != nil {
		t.Error(err)
	}
}

// The answers of the storage to a creation, and to the removal of a match that is over, get lost. Both names become free.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newHurriedSite(t, "a", node.URL()), newHurriedSite(t, "b", node.URL())
	know(t, a, 2)
	m := a.create(t, "duel")
	a.member.Lose("purge")
	if err := m.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	a.member.Lose("create")
	if _, err := a.server.Create(duel("other")); !errors.Is(err, server.ErrStorage) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"duel", "other"} {
		await(t, name+" is free", func() bool {
			_, err := b.server.Create(duel(name))
			return err == nil
		})
	}
}
