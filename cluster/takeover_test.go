package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// A match whose server is lost goes on at another server, and loses no tick that anybody saw.
func TestTakeover(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	testTakeover(t, newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1))
}

func testTakeover(t *testing.T, a, b *site) {
	a.create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	a.vanish()
	seen, began := ada.now(), time.Now()
	await(t, "b has the match", func() bool { return b.has("duel") != nil })
	t.Logf("after %v", time.Since(began))
	next := b.has("duel")
	if next.Status().Tick < seen {
		t.Errorf("b continues after tick %d, and tick %d was seen", next.Status().Tick, seen)
	}
	await(t, "it goes on", func() bool { return next.Status().Tick > seen+20 })
}

// While the storage is away, matches are held and nobody takes anything. Then they go on where they are.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	node := startNode(t, dir, "")
	url := node.URL()
	a, b := newSite(t, "a", url, 1), newSite(t, "b", url, 1)
	m := a.create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a, b)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	node.Stop()
	await(t, "the match is held", func() bool { return m.Status().Held == "the replicated log does not answer" })
	seen := ada.now()
	time.Sleep(2 * storage.LeaseTime)
	if b.has("duel") != nil {
		t.Error("b has the match, and could not know that a is lost")
	}
	startNode(t, dir, strings.TrimPrefix(url, "nats://"))
	await(t, "the match goes on", func() bool { return ada.now() > seen+40 })
	if a.has("duel") != m || b.has("duel") != nil {
		t.Error("the match has moved")
	}
}

// The only storage node is restarted, and keeps nothing that it had in memory. No match moves because of that, and a server
// that is lost afterwards still loses its matches to another one.
func TestStorageRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	node := startNode(t, dir, "")
	url := node.URL()
	a, b := newSite(t, "a", url, 1), newSite(t, "b", url, 1)
	m := a.create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a, b)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	node.Stop()
	startNode(t, dir, strings.TrimPrefix(url, "nats://"))
	await(t, "both have leases", func() bool {
		servers, _, err := cluster.Read(t.Context(), b.conn)
		return err == nil && len(servers) == 2
	})
	time.Sleep(3 * storage.LeaseTime)
	if a.has("duel") != m || b.has("duel") != nil {
		t.Error("the match has moved")
	}
	a.vanish()
	await(t, "b has the match", func() bool { return b.has("duel") != nil })
}

// A server whose storage node refuses its lease connects to the next one. These two nodes know nothing of each other, and so
// the lease is either here or there.
func TestOtherNode(t *testing.T) {
	t.Parallel()
	one, two := startNode(t, t.TempDir(), ""), startNode(t, t.TempDir(), "")
	a := newHurriedSite(t, "a", one.URL()+","+two.URL())
	conn, err := storage.Dial(two.URL(), storage.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Setup(t.Context(), storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	bucket, err := a.conn.JS.Stream(t.Context(), "KV_"+storage.ServersBucket)
	if err != nil {
		t.Fatal(err)
	}
	config := bucket.CachedInfo().Config
	config.MaxMsgSize = 1
	if _, err := a.conn.JS.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	await(t, "the lease is at the other node", func() bool {
		servers, _, err := cluster.Read(t.Context(), conn)
		return err == nil && len(servers) == 1
	})
}

// A match that is over leaves the storage, and its name is free. A name that is taken anywhere is taken.
func TestMatchIsOver(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	m := a.create(t, "duel")
	if _, err := b.server.Create(duel("duel")); !errors.Is(err, server.ErrExists) {
		t.Errorf("the name is taken, and b got %v", err)
	}
	if err := m.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-m.Done()
	_, matches, err := cluster.Read(t.Context(), b.conn)
	if err != nil || len(matches) > 0 {
		t.Errorf("in the directory: %+v, %v", matches, err)
	}
	for i := range streams {
		s, err := b.conn.JS.Stream(t.Context(), fmt.Sprint("samestep-log-", i))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.CachedInfo().State.Msgs; n > 0 {
			t.Errorf("stream %d has %d messages of a match that is over", i, n)
		}
	}
	if _, err := os.Stat(m.ReplayPath()); err != nil {
		t.Error(err)
	}
	b.create(t, "duel")
}

// A match that no server can continue is left alone after a few tries, with the reason.
func TestMatchFails(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	b := newHurriedSite(t, "b", node.URL())
	b.refuse.Store(true)
	a.create(t, "duel")
	a.vanish()
	var e cluster.Match
	await(t, "the match has failed", func() bool {
		_, matches, err := cluster.Read(t.Context(), b.conn)
		if err != nil || len(matches) != 1 {
			return false
		}
		e = matches[0]
		return e.State == ownership.Failed
	})
	if len(e.Tried) != 3 || !strings.Contains(e.Failure, "refused by the test") {
		t.Errorf("got %+v", e)
	}
}

// Each server lists the matches of all, in pages.
func TestListOfAll(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	for i := range 3 {
		a.create(t, fmt.Sprint("a", i))
		b.create(t, fmt.Sprint("b", i))
	}
	await(t, "the servers know each other", func() bool { return len(a.list(t, "")) == 6 && len(b.list(t, "")) == 6 })
	for query, want := range map[string]string{
		"":                  "a0 a1 a2 b0 b1 b2",
		"?limit=4":          "a0 a1 a2 b0 next",
		"?limit=4&after=b0": "b1 b2",
		"?prefix=b":         "b0 b1 b2",
		"?limit=x":          "400",
	} {
		if got := strings.Join(b.list(t, query), " "); got != want {
			t.Errorf("GET /matches%s: got %s, want %s", query, got, want)
		}
	}
}

// list returns the names of the matches that a server lists, and "next" if there are more; or the status of an error.
func (x *site) list(t *testing.T, query string) (names []string) {
	t.Helper()
	answer, err := http.Get(x.url + "/matches" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return []string{fmt.Sprint(answer.StatusCode)}
	}
	var statuses []server.Status
	if err := json.NewDecoder(answer.Body).Decode(&statuses); err != nil {
		t.Fatal(err)
	}
	for _, v := range statuses {
		names = append(names, v.Name)
	}
	if answer.Header.Get("Link") != "" {
		names = append(names, "next")
	}
	return names
}

// A request to create a match goes to the server with the most room.
func TestPlacement(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	await(t, "the servers know each other", func() bool {
		servers, _, err := cluster.Read(t.Context(), a.conn)
		return err == nil && len(servers) == 2
	})
	a.create(t, "first")
	await(t, "the load is known", func() bool {
		servers, _, err := cluster.Read(t.Context(), a.conn)
		return err == nil && len(servers) == 2 && servers[0].Matches == 1
	})
	a.post(t, "second")
	if b.has("second") == nil {
		t.Error("b does not have the second match")
	}
	await(t, "a answers for it", func() bool {
		answer, err := http.Get(a.url + "/matches/second")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// Many matches that are created at once are spread, too: their servers' leases do not say yet how many they have.
func TestPlacementOfMany(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	await(t, "the servers know each other", func() bool {
		servers, _, err := cluster.Read(t.Context(), a.conn)
		return err == nil && len(servers) == 2
	})
	for i := range 20 {
		a.post(t, fmt.Sprint("many-", i))
	}
	if first, second := len(a.server.Matches()), len(b.server.Matches()); first < 8 || second < 8 {
		t.Errorf("got %d and %d matches, want 10 of 20 at each server", first, second)
	}
}

// A server that leaves gives its matches away, and sends nobody on: such a connection would soon be lost.
func TestLeave(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	a.create(t, "duel")
	await(t, "the servers know each other", func() bool { return len(b.list(t, "")) == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a.member.Leave(ctx)
	m := b.has("duel")
	if m == nil {
		t.Fatal("b does not have the match")
	}
	id := m.Status().Match
	for at, want := range map[*site]string{a: `msg="match released" match=duel id=` + id + ` term=1`, b: `msg="match taken over" match=duel id=` + id + ` term=2 from=a-`} {
		await(t, at.name+" logs: "+want, func() bool { return strings.Contains(at.log.String(), want) })
	}
	answer, err := http.Get(a.url + "/matches/duel")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %s", answer.Status)
	}
}

// A match that stands appends nothing. It stops all the same when the directory says that another server plays it.
func TestIdleZombie(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	m := a.create(t, "duel")
	if err := m.Do(t.Context(), func(h *host.Host) { h.Admin().Hold(0, host.Wait{Reason: "the test"}) }); err != nil {
		t.Fatal(err)
	}
	kv, err := a.conn.JS.KeyValue(t.Context(), storage.MatchesBucket)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := kv.Get(t.Context(), "duel")
	if err != nil {
		t.Fatal(err)
	}
	taken := strings.NewReplacer(`"term":1`, `"term":2`, `"server":"a-`, `"server":"b-`).Replace(string(entry.Value()))
	if _, err := kv.Put(t.Context(), "duel", []byte(taken)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Done():
	case <-time.After(patience):
		t.Error("the match goes on")
	}
}
