package cluster_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A ban of a match holds at the server that takes it over, and a revocation at every server, also one that joins later. Both can be
// given at any server.
func TestDenials(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	a.create(t, "duel")
	ada, bob := join(t, "ada-ada-ada-ada-ada", "duel", a, b), join(t, "bob-bob-bob-bob-bob", "duel", a, b)
	await(t, "tick 20", func() bool { return ada.now() >= 20 && bob.now() >= 20 })
	know(t, b, 2)
	if status, text := b.admin(t, "POST", "/matches/duel/ban", `{"name":"bob","reason":"rude"}`); status != http.StatusOK || !strings.Contains(text, `"seats":1,"connections":1`) {
		t.Fatalf("ban: got %d %s", status, text)
	}
	if status, text := b.admin(t, "POST", "/revocations", `{"subject":"somebody","reason":"stolen"}`); status != http.StatusOK {
		t.Fatalf("revoke: got %d %s", status, text)
	}
	for name, x := range map[string]*site{"a": a, "a later one": newSite(t, "c", node.URL(), 1)} {
		await(t, name+" knows the revocation", func() bool {
			all := x.server.Revocations()
			return len(all) == 1 && all[0].Subject == "somebody"
		})
	}
	a.vanish()
	await(t, "the ban holds there", func() bool {
		status, text := b.admin(t, "GET", "/matches/duel/bans", "")
		return status == http.StatusOK && strings.Contains(text, `"name":"bob"`) && strings.Contains(text, "rude")
	})
	if status, text := b.admin(t, "DELETE", "/revocations", `{"subject":"somebody"}`); status != http.StatusOK {
		t.Fatalf("unrevoke: got %d %s", status, text)
	}
}

// A sweep deletes what is stale, unless another server has changed it meanwhile. It knows the matches of all servers, and the time of the
// storage.
func TestDenialsSweep(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	a.create(t, "duel")
	var match lockstep.MatchID
	if err := a.server.Matches()[0].Do(t.Context(), func(h *host.Host) { match = h.Header().Match }); err != nil {
		t.Fatal(err)
	}
	denials := b.member.Denials()
	for _, key := range []string{"gone", "changed", "stays"} {
		if err := denials.Put(key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	err := denials.Sweep(func(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool {
		if seen++; key != string(value) || !live(match) || live(lockstep.MatchID{1}) || time.Since(now).Abs() > time.Minute {
			t.Errorf("%s: got %q at %v, and live %t and %t", key, value, now, live(match), live(lockstep.MatchID{1}))
		}
		if key == "changed" {
			if err := a.member.Denials().Put(key, []byte("again")); err != nil {
				t.Error(err)
			}
		}
		return key != "stays"
	})
	if err != nil || seen != 3 {
		t.Fatalf("got %v after %d values, want 3", err, seen)
	}
	for key, want := range map[string]string{"gone": "", "changed": "again", "stays": "stays"} {
		if value, err := denials.Get(key); err != nil || string(value) != want {
			t.Errorf("%s: got %q, %v, want %q", key, value, err, want)
		}
	}
}
