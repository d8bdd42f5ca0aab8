package cluster_test

import (
	"net/http"
	"testing"

	"github.com/seed-49bee653/samestep/cluster"
)

// Servers accept requests for the host of a server that has joined later, because the one that passes them on keeps it; and for no other host.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	ask := func(host string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/matches", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := ask("fourth.example"); got != http.StatusForbidden {
		t.Errorf("before it joins: got %d, want 403", got)
	}
	newSiteAs(t, "fourth", node.URL(), 1, "", func(o *cluster.Options) { o.Address = "http://Fourth.example:8766" })
	await(t, "a knows the host", func() bool { return ask("fourth.example:8766") == http.StatusOK })
	if got := ask("evil.example"); got != http.StatusForbidden {
		t.Errorf("another host: got %d, want 403", got)
	}
}
