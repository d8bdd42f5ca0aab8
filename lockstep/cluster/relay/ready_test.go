//go:build !js

package relay_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/cluster/relay"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// A relay is ready while it can follow another match: not without its storage, with as many matches as it may have, or at its end.
func TestReady(t *testing.T) {
	ask := func(address string) (int, string) {
		a, err := http.Get("http://" + address + "/readyz")
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
	node, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "relay", Role: storage.RelayRole, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, address, _ := newRelay(t, relay.Options{Source: relay.Cluster{Conn: conn}})
	if status, text := ask(address); status != http.StatusOK || text != "ready\n" {
		t.Errorf("got %d %q", status, text)
	}
	node.Stop()
	eventually(t, "a relay that is not ready", func() bool {
		status, text := ask(address)
		return status == http.StatusServiceUnavailable && strings.Contains(text, "the storage is away")
	})

	o := newOwner(t, nil)
	r, full, _ := newRelay(t, relay.Options{Source: upstream(o.address), MaxMatches: 1})
	if status, _ := ask(full); status != http.StatusOK {
		t.Errorf("without a match: got %d", status)
	}
	if _, err := r.Follow(t.Context(), "duel"); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(full); status != http.StatusServiceUnavailable || !strings.Contains(text, "got 1 matches, want less than 1") {
		t.Errorf("with a match: got %d %q", status, text)
	}
}
