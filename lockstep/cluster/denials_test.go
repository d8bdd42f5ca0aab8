package cluster_test

import (
	"net/http"
	"strings"
	"testing"
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
